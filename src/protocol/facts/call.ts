import type { Sender } from "../sender.ts";

/** A command that runs in the background. The result of its call holds this: that it was started is a fact. */
export type BackgroundTask = {
  /** Short, for people and models to name it by. */
  id: string;
  command: string;
  /** Process group, and when its leader was started: another process with the same number is not it. */
  pid: number;
  started: string;
  /** The machine, where it tells its name. */
  machine?: string;
  /** File of its output. */
  file: string;
  at: number;
};

/** How a background command ended. Stored in the reply to the first prompt that mentions it. */
export type TaskEnd = Pick<BackgroundTask, "id" | "command" | "file"> & {
  /** Exit code; missing when nobody was left to write it: it was stopped, killed, or went down with the machine. */
  code?: number;
};

/** A call's input as the model gave it: a JSON object. */
export type ToolInput = Record<string, unknown>;

/** The subagent that a Task is for; models also write the name that other agents have for the field. */
export function agentOf({ agent, subagent_type: type }: ToolInput): unknown {
  return agent ?? type;
}

/**
 * How a call ended. It ran and is `done`, has `failed` or was `stopped` on its way, or its end is `unknown`. Or it did not run: a rule
 * or a hook refused it, a person did, or it did not come to it (`not-run`: nobody answered, the turn was stopped before, it was no
 * possible call).
 */
export type CallEnd = "done" | "failed" | "stopped" | "unknown" | "refused-by-rule" | "refused-by-person" | "not-run";

/** The whole of what a command printed: how long it is, and the file that keeps it. */
export type Output = { lines: number; file?: string };

/** `reads` may run again after a crash, `writes` may not; `waits` is loop code that asks or delegates, entered again on replay. */
export type Effect = "reads" | "writes" | "waits";

/** Author of a change to the input of a call. */
export type InputChange = { by: "hook" } | { by: "person"; who: Sender };

/** A change to a file, whole; or to the definition of a tool, under its name. */
export type Preview = {
  of?: "tool";
  /** The file after every link. */
  path: string;
  /** Not in any folder that the session works in. */
  outside?: true;
  lines: PreviewLine[];
  /** The number of the first line shown, in the file as it is. */
  firstLine: number;
  /** Why there are no lines. */
  omitted?: "binary" | "huge" | "same";
};

/** A line of a change. */
export type PreviewLine = {
  mark: " " | "+" | "-";
  text: string;
  /** Set where lines were passed over: the number of this one in the file as it is. */
  line?: number;
  /** The file ends after this line, without a line break. */
  open?: true;
};
