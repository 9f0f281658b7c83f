import type { Durable, StepScope } from "../../../journal/session/durable.ts";
import { Stopped } from "../../../journal/session/session.ts";
import type { Confined } from "../../../protocol/confine.ts";
import type { ToolInput } from "../../../protocol/facts/call.ts";
import type { FactData } from "../../../protocol/facts/fact.ts";
import type { ToolResult } from "../../../protocol/facts/message.ts";
import type { Spawn } from "../../../tools/process/spawn.ts";
import type { Tool, ToolScope } from "../../../tools/definition/tool.ts";
import type { Workspace } from "../../state/context.ts";

/** Parts of a tool's scope with which its command is started or found again. */
export type KeptParts = { spawn?: Spawn; attaches?: boolean };

type Started = FactData["call.started"];

export type KeptCommand = {
  mayOutlive: boolean;
  /** Rides with `call.started`: from then on the command runs with its entry or not at all. */
  started(scope: StepScope): Pick<Started, "runner">;
  parts(scope: StepScope): KeptParts;
  /** Goes on with a command that another process began, as if this one had. "again": it did not begin. */
  reconcile(
    was: Started,
    scope: StepScope,
    run: (scope: StepScope, parts: KeptParts) => Promise<ToolResult>,
  ): Promise<ToolResult | "again" | undefined>;
  /** Removes the entry once the result is on disk. */
  forget(durable: Durable, key: string): void;
};

/** A confined command is tied to this process, in which its way to the network is. */
export function keepsCommand(
  { config: { runner } }: Pick<Workspace, "config">,
  tool: Tool,
  input: ToolInput,
  confined: Confined | undefined,
): KeptCommand {
  const mayOutlive = tool.mayOutlive?.(input) === true && confined === undefined;
  let id: string | undefined;
  let place: StepScope["place"] | undefined;
  return {
    mayOutlive,
    started(scope) {
      id = mayOutlive ? runner?.take(scope.place.session, scope.place.epoch) : undefined;
      return id === undefined ? {} : { runner: id };
    },
    parts(scope) {
      place = scope.place;
      return runner && id !== undefined ? { spawn: runner.start(scope.place, id) } : {};
    },
    async reconcile(was, scope, run) {
      if (was.runner === undefined || !runner) return undefined;
      const found = runner.find(scope.place, was.runner);
      if (found === undefined) return undefined;
      id = was.runner;
      place = scope.place;
      return found === "never" ? "again" : run(scope, { spawn: found, attaches: true });
    },
    forget(durable, key) {
      const done = place;
      if (!runner || id === undefined || !done) return;
      void durable.recorded(key).then((isRecorded) => isRecorded && runner.forget(done));
    },
  };
}

/** Set when work is aborted because this process leaves or has lost the session: nobody wants the work to end. */
export function leavingOf({ aborted, reason }: AbortSignal): ReturnType<NonNullable<ToolScope["leaves"]>> {
  if (!aborted) return undefined;
  if (!(reason instanceof Stopped)) return "lost";
  return reason.why === "leaving" ? "leaving" : undefined;
}
