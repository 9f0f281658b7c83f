// Names that can be imported from each entry of `sage-agent`. Each is a promise to everybody who embeds Sage: change this list on purpose.
export const exported: Record<string, string> = {
  ".": `AgentOutcome AutoResponder AutoResponse BatchStrategy ChannelOptions CodeHook Delta ExecutionMode
    ExecutionOptions ExecutionStrategy ExecutorConfig Fact GivenSkill GuestProgram HookAnswer HookEvents HookLists
    HookMoment Host InputChannel InputChannelHandle InputRequest InputResponse Item LifecycleManager LooseResponse
    McpServer Model OutcomeStatus PermissionBehavior PermissionMode PermissionRequest PermissionResult
    PermissionSuggestion Question QuestionOption Resolution ResponderAnswer Rule RuleDestination RuleLists Run
    RunEvent RunOptions SageAgentSDK SageError SageErrorCode Sandbox SdkOptions SearchEngine Session SessionMode
    Skill StandardStrategy Store StreamingStrategy SubagentDefinition TaskMetadata TimeoutPolicy Tool ToolResult
    ToolScope TurnAgent TurnResult TurnsOptions UnifiedExecutor Usage WebSearch aiSdkModel describeRequest
    followSession isSuccess memoryStore messageOf noUsage said scripted sentence sqliteStore`,
  requests: `TimeMoved Signing Assertion PasskeyProof Answer AnswerToAll Answers Approval Approved AskerPolicy ConfineMode Confined Confirmation Consent Cost
    Deadline DeadlinePolicy DefaultAnswer Draft Effort ExecutionStats InquiryMade InquiryReplied InterruptOptions
    LlmOptions LooseAnswers NewRequest PlanEnd Preview PreviewLine Quiet QuietHours Reason ReasonArgs ReasonCode
    RequestBody RequestOrigin RequestConsent RequestSource RequestTimeout RespondedEach RuleGrant RuleRemoval SayOptions Sender
    SharedAnswer Signature SilentEnd ToolUse TurnAnswer TurnEnd TurnError TurnEvent TurnLimits TurnOptions
    WholeAnswer executionOptions reason`,
  hosts: `AgentParts Asked CallRun Command CommandReplies CommandReply Delivery FoundReceipts HostAbout HostParts InboxEvent
    Inquired Integrity LocalHost Named OutsideAsk OutsideBody OutsideEnd Parts PastCall PendingRequest Place
    PlannedFile Receipt Refused Responded RestoreDoubt RewindPlan RewindPoint RewindWhat RuleInForce RulePreview RuleTrial
    RunSettings SessionAbout SessionState SessionSummary Standing Stats Tally WatchEvent WatchOptions WorkFolder
    assemble`,
  surfaces: `AskedItem AttachedKind Block CallItem ChangedLine Compaction Danger DescribedPart Description FactData
    FactType FollowOptions FollowedSession GivenImage Heard Hunk ImagePart InjectedSkill InquiryItem Lang Offer
    OpenRequest Progress ReplyHead RestoreProblem Restoring RunState SaidItem SessionChange SessionOptions Summary
    TaskEnd TextItem ThoughtItem createProgress neededOf offersOf oneLine prose visible`,
  executor: `AgentConfig AgentState CallEvent Discovered Execution ExecutionPhase Executor Hook HookEvent HookOutcome Hooks
    InterruptAction MadeParts OwnCommand SkillMatching StateTransition SubagentRegistry SubagentType ToolAccess
    WorkingDirectory builtinSubagents createSubagentRegistry discover drain noHooks`,
  tools: `AskRule BackgroundTask Blocked CallEnd CallPart Check Checked Effect Ending InputChange Kept Launch LaunchEnd
    ModuleParts OfferedTool Output PermissionContext PermissionOpinion Replaced RuleBehavior RuleFiles RuleSource SageModule
    SearchHit ShellCommand Spawn Spawned ToolInput ToolPlace ToolProblem ToolRegistry Verdict WriteTarget
    builtinTools createToolRegistry`,
  models: `AiSdkLanguageModel Call Finish LoadImage Message ModelRequest ModelScope Part Price Prices ProviderMetadata
    Reply Script ScriptedCall ScriptedTurn ScriptedTurns ToolOffer addUsage callsOf textOf`,
  stores: `Beat Appended Awaitable Consented DatabaseOptions Housekeeping Hub InboundFact InboundType IndexState Listener
    LocalHousekeeping LocalStore NewFact Page ReadOptions SessionLog SessionRow openSession`,
  recordings: `InquiryFact Persona RecordedAnswer RecordedRequest RecordedResponse Redaction StepOptions StepResult answersOf
    persona replayAnswers scriptOf stepsOf`,
};
