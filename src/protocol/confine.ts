/** Sandbox modes: commands run as ever; those that are allowed run confined; those that fit in also run without asking. */
export type ConfineMode = "off" | "contain" | "autoAllow";

/** The confines of one call: what it was given beyond its workspace. */
export type Confined = {
  /** Git's own folder: `write` only for commands that are git and nothing else. */
  repository: "read" | "write";
  /** Hosts that this call alone may reach, in addition to those that rules allow. */
  hosts: readonly string[];
  /** Paths outside of the workspace that this very call may write. */
  writable: readonly string[];
};

/** Something that a confined command was kept from. */
export type Blocked =
  | {
      kind: "host";
      host: string;
      port: number;
      /** Not to be had by asking: a rule denies it, or it is this machine. */ final?: true;
    }
  /** Read off its output: a hint for words, and never by itself a reason to allow anything. */
  | { kind: "write"; path: string }
  /** A file that other programs would obey, made by the command and moved away when it had ended. */
  | { kind: "aside"; path: string; to: string };

/** Reasons why commands cannot be confined on a machine. */
export type ConfineProblem =
  | "platform"
  | "bwrap-missing"
  | "bwrap-old"
  | "nsenter-missing"
  | "user-namespaces"
  | "container"
  | "nested"
  | "workspace"
  | "leaks"
  | "other";

/** Reasons of confinement. */
export type ConfineReasonArgs = {
  "runs-confined": {};
  /** Things that the last run of the same command was kept from. */
  "confined-blocked": { blocked: readonly Blocked[] };
  /** `detail`: in the words of the system, or the path in question. */
  "confine-impossible": { problem: ConfineProblem; detail: string };
  "was-blocked": { blocked: readonly Blocked[] };
  "moved-aside": { moved: readonly (Blocked & { kind: "aside" })[] };
  "not-confined": { problem: string };
  /** A rule allows the command, and does not name the program that can only work outside. */
  "outside-unnamed": { program: string };
  "confine-root": {};
  /** How a command that is asked about will run. */
  "will-run-confined": Confined;
  "will-run-outside": {};
  "could-run-confined": {};
  "not-offered-outside": {};
  "offer-network": { host: string };
  "sandbox-path": { path: string; problem: "home" | "above" | "state" | "protected" | "relative" };
};
