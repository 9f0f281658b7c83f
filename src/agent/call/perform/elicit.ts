import { ask, type Asking } from "../../../input/ask.ts";
import { Stopped, type Durable } from "../../../journal/session/durable.ts";
import type { InputRequest, NewRequest, Resolution } from "../../../protocol/facts/request.ts";
import { callKeys } from "../../../protocol/key.ts";
import { reason, type Reason } from "../../../protocol/reasons/reason.ts";
import type { ToolScope } from "../../../tools/definition/tool.ts";
import type { ExecutionContext } from "../../state/context.ts";
import { endTurnIfSaid, waitForPerson } from "../judge/request.ts";

/** Requests of a server that runs a call, from inside of it. */
export type Elicitations = {
  elicit: NonNullable<ToolScope["elicit"]>;
} & /** The call is over: what it still asked is moot. */ Disposable;

/** Asks inside a running effect, and lives no longer than it. `idle`: waits for a person, which is nobody's work. `heard`: inquiries. */
export function createElicitations(
  durable: Durable,
  context: ExecutionContext,
  run: number,
  { idle, heard }: { idle: () => Disposable; heard: (talk: string | undefined) => void },
): Elicitations {
  let asked = 0;
  const open = new Map<string, { request: InputRequest; server: string }>();
  const supersede = (id: string) => {
    const { request, server } = open.get(id) ?? {};
    open.delete(id);
    // Nothing can be recorded any more: the next process finds it.
    const { stopped } = durable;
    if (stopped !== undefined && !(stopped instanceof Stopped && stopped.why !== "leaving")) return;
    if (request && server !== undefined) durable.resolve(moot(request, reason("elicitation-moot", { server })));
  };
  return {
    async elicit({ body, server, why, signal }) {
      if (context.agent.length > 0 && !context.asksRoot) return nobody();
      const frame = { source: "mcp", agent: context.agent, why, digest: "" } as const;
      const opened = ask(durable, callKeys.elicit(run, asked++), { ...frame, ...body }, whereCallsLast(context.asking));
      const { id } = opened.request;
      open.set(id, { request: opened.request, server });
      const withdrawn = () => supersede(id);
      signal.addEventListener("abort", withdrawn, { once: true });
      if (signal.aborted) withdrawn();
      using _idle = idle();
      try {
        const resolution = await waitForPerson(context, opened);
        open.delete(id);
        heard(context.inquiries.end(context, id));
        endTurnIfSaid(durable, resolution, opened.request);
        return resolution;
      } finally {
        signal.removeEventListener("abort", withdrawn);
      }
    },
    [Symbol.dispose]() {
      for (const id of open.keys()) supersede(id);
    },
  };
}

/** The process that ran the call was killed: whatever the call asked died with it. */
export function endLostElicitations(durable: Durable, run: number): void {
  for (let n = 0; durable.known(callKeys.elicit(run, n)); n++)
    durable.open(callKeys.elicit(run, n), lost, (request) => moot(request, reason("elicitation-died", {})));
}

/** Never written: the request is there. */
const lost: NewRequest = {
  kind: "text",
  prompt: "",
  source: "mcp",
  agent: [],
  why: reason("elicitation-died", {}),
  digest: "",
};

function moot({ id }: InputRequest, why: Reason): Resolution {
  return { requestId: id, by: "sage", surface: "mcp", at: Date.now(), outcome: "superseded", reason: why };
}

/** A batch leaves its requests to a later run, in which the call would be gone: here nobody is asked. */
function whereCallsLast(asking: Asking): Asking {
  return asking.mode.type === "batch"
    ? { ...asking, mode: { type: "nonInteractive", autoResponse: "default" } }
    : asking;
}

function nobody(): Resolution {
  return {
    requestId: "",
    by: "sage",
    surface: "mcp",
    at: Date.now(),
    outcome: "no_surface",
    reason: reason("nobody-to-ask", {}),
  };
}
