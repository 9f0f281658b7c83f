// Names that can be imported from `sage-agent`, by their section. Each is a promise to everybody who embeds Sage: change this list on purpose.
export const exported: Record<string, string> = {
  "Running an agent": `AgentOutcome ChannelOptions ConfineMode Cost Effort ExecutionMode ExecutionOptions ExecutionStats GivenSkill LlmOptions OutcomeStatus Quiet
    QuietHours Reason ReasonArgs ReasonCode RunOptions SageAgentSDK SageError SageErrorCode Sandbox SdkOptions SilentEnd TimeoutPolicy
    ToolUse TurnEnd TurnError TurnLimits TurnsOptions executionOptions isSuccess messageOf reason said`,
  "Asking and answering": `TimeMoved Answer Answers Approval Approved AskerPolicy AutoResponder AutoResponse Confined Consent Deadline DeadlinePolicy DefaultAnswer
    Draft InputChannel InputChannelHandle InputRequest InputResponse InquiryMade InquiryReplied LooseAnswers LooseResponse NewRequest
    Outcome PermissionRequest PlanEnd Preview PreviewLine Question QuestionOption RequestBody RequestConsent RequestOrigin RequestSource
    RequestTimeout Resolution ResponderAnswer RuleGrant RuleRemoval Signature WholeAnswer`,
  "Turns that return": `AnswerToAll Confirmation InterruptOptions RespondedEach Run RunEvent SharedAnswer TurnAgent TurnAnswer TurnEvent TurnOptions
    TurnResult`,
  "Hosts and surfaces": `AgentParts Command CommandReplies CommandReply GivenImage Host InboxEvent LocalHost Parts PendingRequest Place Refused Responded
    RunSettings Sender SessionState SessionSummary SurfaceStore WatchEvent WatchOptions assemble`,
  "Replies of a host": `Asked CallRun FoundReceipts HostAbout Inquired Integrity Named OutsideAsk OutsideBody OutsideEnd PastCall PlannedFile Receipt
    RestoreDoubt RewindPlan RewindPoint RewindWhat RuleInForce RuleTrial SessionAbout Standing Stats Tally WorkFolder`,
  "What is seen": `AskedItem AttachedKind Block CallItem ChangedLine Compaction Danger Delta DescribedPart Description Fact FactData FactType
    FollowOptions FollowedSession Heard Hunk ImagePart InjectedSkill InquiryItem Item Lang Offer OpenRequest Progress ReplyHead
    RestoreProblem Restoring RunState SaidItem Session SessionChange SessionOptions Summary TaskEnd TextItem ThoughtItem
    createProgress describeRequest followSession neededOf offersOf oneLine prose sentence visible`,
  "The executor, strategies, subagents": `AgentConfig AgentState BatchStrategy Discovered Execution ExecutionPhase ExecutionStrategy Executor HookEvent HookMoment
    HookOutcome Hooks InterruptAction LifecycleManager OwnCommand Skill SkillMatching StandardStrategy StateTransition
    StreamingStrategy SubagentDefinition SubagentRegistry SubagentType TaskMetadata ToolAccess UnifiedExecutor WorkingDirectory
    builtinSubagents createSubagentRegistry discover drain noHooks`,
  "Tools and permissions": `AskRule BackgroundTask Blocked CallEnd CallPart Check Checked Effect Ending InputChange Kept Launch LaunchEnd ModuleParts
    OfferedTool Output PermissionBehavior PermissionContext PermissionMode PermissionOpinion PermissionResult PermissionSuggestion
    Replaced Rule RuleBehavior RuleDestination RuleFiles RuleLists SageModule SessionMode ShellCommand Spawn Spawned Tool ToolInput ToolPlace
    ToolProblem ToolRegistry ToolResult ToolScope Verdict WriteTarget builtinTools createToolRegistry`,
  "Models, stores, recordings": `Beat AiSdkLanguageModel Appended Awaitable Call Consented DatabaseOptions Finish Housekeeping Hub InboundFact InboundType IndexState
    InquiryFact Listener LoadImage LocalHousekeeping LocalStore Message Model ModelRequest ModelScope NewFact Page Part Persona Price
    Prices ProviderMetadata ReadOptions RecordedAnswer RecordedRequest RecordedResponse Redaction Reply Script ScriptedCall
    ScriptedTurn ScriptedTurns SessionLog SessionRow StepOptions StepResult Store ToolOffer Usage addUsage aiSdkModel answersOf
    callsOf memoryStore noUsage openSession persona replayAnswers scriptOf scripted sqliteStore stepsOf textOf`,
};
