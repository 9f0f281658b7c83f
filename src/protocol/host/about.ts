import type { RuleSource } from "../decision.ts";

/** A thing that people call by its name, and what it is for. */
export type Named = { name: string; description: string };

/** A folder of the host in which sessions may be opened, by the name that its settings give it. */
export type WorkFolder = { name: string; cwd: string };

/** A rule in force for a session, and its source. */
export type RuleInForce = {
  rule: string;
  behavior: "allow" | "deny" | "ask";
  source: RuleSource;
  /** Its settings file. */ file?: string;
};

/** The surroundings of a session, which its facts do not tell. */
export type SessionAbout = {
  cwd: string;
  /** The model of its next turn, as people call it. */
  model: string;
  /** The same as it was named for this session, by whoever opened it or chose it last. */
  chosen?: string;
  /** Tokens that fit into a prompt. */
  contextWindow: number;
  /** How commands are confined; absent where they are not. */
  sandbox?: "contain" | "autoAllow";
  /** `invocable`: can also be typed by name, like a command. */
  skills: (Named & { invocable: boolean })[];
  subagents: Named[];
  /** Own commands. */
  commands: Named[];
  rules: RuleInForce[];
  /** Prompts of MCP servers, where they were asked for. */
  prompts?: Named[];
};

/** A host's account of itself. */
export type HostAbout = {
  folders: WorkFolder[];
  /** About the session that was named. */
  session?: SessionAbout;
};
