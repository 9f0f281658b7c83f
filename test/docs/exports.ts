// Names that can be imported from `sage-agent`, by their section. Each is a promise to everybody who embeds Sage: change this list on purpose.
export const exported: Record<string, string> = {
  "Running an agent": `AgentOutcome ChannelOptions Cost ExecutionMode ExecutionOptions ExecutionStats LlmOptions OutcomeStatus Reason
    ReasonArgs ReasonCode RunOptions SageAgentSDK SageError SageErrorCode SdkOptions ToolUse TurnEnd TurnLimits TurnsOptions
    executionOptions isSuccess messageOf reason said`,
  "Asking and answering": `Answer Answers AskerPolicy AutoResponder AutoResponse Deadline DeadlinePolicy DefaultAnswer Draft InputChannel
    InputChannelHandle InputRequest InputResponse InquiryMade InquiryReplied LooseAnswers LooseResponse NewRequest Outcome PermissionRequest Preview PreviewLine
    Question QuestionOption RequestBody RequestSource RequestTimeout Resolution RuleGrant RuleRemoval WholeAnswer`,
  "Turns that return": `Confirmation InterruptOptions Run RunEvent TurnAgent TurnAnswer TurnEvent TurnOptions TurnResult`,
  "Hosts and surfaces": `Command CommandReply Host LocalHost Parts PendingRequest Place Sender SessionState SessionSummary SurfaceStore
    WatchEvent assemble`,
  "What is seen": `Block Compaction Delta DescribedPart Description Fact FactData FactType Offer Progress Summary createProgress
    describeRequest neededOf offersOf oneLine prose visible`,
  "The executor, strategies, subagents": `AgentConfig AgentState BatchStrategy Discovered Execution ExecutionPhase ExecutionStrategy Executor HookEvent
    HookMoment HookOutcome Hooks InterruptAction LifecycleManager OwnCommand Skill SkillMatching StandardStrategy StateTransition StreamingStrategy
    SubagentDefinition SubagentRegistry SubagentType TaskMetadata ToolAccess UnifiedExecutor WorkingDirectory builtinSubagents
    createSubagentRegistry discover drain noHooks`,
  "Tools and permissions": `CallEnd CallPart Effect ModuleParts PermissionBehavior PermissionContext PermissionMode PermissionOpinion PermissionResult
    PermissionSuggestion Rule RuleDestination RuleFiles RuleLists SageModule SessionMode Ending ShellCommand Spawn Spawned Tool ToolInput ToolPlace ToolRegistry ToolResult
    ToolScope Verdict WriteTarget builtinTools createToolRegistry`,
  "Models, stores, recordings": `AiSdkLanguageModel Call Finish Message Model ModelRequest ModelScope Part Price Prices ProviderMetadata
    RecordedAnswer Reply Script ScriptedTurn SessionLog StepOptions StepResult Store Usage addUsage aiSdkModel answersOf callsOf
    memoryStore noUsage openSession Persona persona replayAnswers scriptOf scripted sqliteStore stepsOf textOf`,
};
