import { createCodexAsked } from "./asked.ts";
import { createCodexNews } from "./news.ts";
import { deliveriesInRollout } from "./rollout.ts";
import { reachCodex, type CodexInstall } from "./server.ts";
import type { Guest, GuestDriver, GuestEvent, GuestStart } from "../driver.ts";
import { fields, list, text, type Fields } from "../json.ts";
import { createQueue, createRpc, type Incoming, type Rpc } from "../rpc.ts";

type CodexAgent = CodexInstall & {
  name: string;
  /** "plan": it plans, and asks questions. */
  mode?: string;
};

/** Codex, on an app-server that outlives Sage: a request that it holds is asked again when somebody comes back to its thread. */
export function codexDriver(agent: CodexAgent): GuestDriver {
  return { name: agent.name, parks: "on leaving", start: (options) => start(agent, options) };
}

async function start(agent: CodexAgent, { cwd, env, resume, signal }: GuestStart): Promise<Guest> {
  const line = await reachCodex(agent, env, signal);
  const rpc = createRpc(line);
  const opened = await openThread(rpc, cwd, resume);
  const thread = fields(opened["thread"]);
  const session = text(thread["id"]) ?? "";
  const model = text(opened["model"]) ?? text(thread["model"]) ?? agent.name;
  const goesOn = fields(thread["status"])["type"] === "active";

  const events = createQueue<GuestEvent>();
  let turn = "";
  let left = false;
  const { push } = events;
  const news = createCodexNews({ cwd, model, push, resumed: goesOn });
  const asks = createCodexAsked({ agent: agent.name, cwd, session, line, rpc, signal, news, push, steer });

  if (goesOn) turn = replayTurn(thread, news.worked);
  void listen();

  async function listen(): Promise<void> {
    for await (const message of rpc.incoming) hear(message);
    end(left ? "parked" : { how: "died", words: "its app-server is gone" });
  }

  function end(how: "done" | "interrupted" | "parked" | { how: "failed" | "died"; words: string }): void {
    news.flush();
    push({ type: "ended", ...(typeof how === "string" ? { how } : how) });
    events.end();
  }

  function hear({ id, method, params }: Incoming): void {
    if (id !== undefined) return void asks.open(id, method, params);
    if (params["threadId"] !== session) return news.hearBelow(method, params);
    if (typeof params["turnId"] === "string") turn = params["turnId"];
    switch (method) {
      case "turn/started":
        turn = text(fields(params["turn"])["id"]) ?? turn;
        return;
      case "serverRequest/resolved":
        return asks.resolved(params["requestId"]);
      case "turn/completed":
        return completed(fields(params["turn"]));
      default:
        return news.hear(method, params);
    }
  }

  function completed({ id, status, error }: Fields): void {
    if (turn !== "" && id !== turn) return;
    line.release(session);
    if (status === "completed") return end("done");
    if (status === "interrupted") return end("interrupted");
    end({ how: "failed", words: text(fields(error)["message"]) ?? "its turn failed" });
  }

  async function steer(words: string): Promise<void> {
    await rpc.request("turn/steer", { threadId: session, expectedTurnId: turn, input: textInput(words) });
  }

  function joinTurn(words: string): Promise<boolean> {
    return steer(words).then(
      () => true,
      () => false, // the turn is over
    );
  }

  return {
    session,
    version: text(thread["cliVersion"]) ?? "",
    model,
    goesOn,
    events,
    async say(words) {
      if (turn !== "" && (await joinTurn(words))) return;
      const begun = await rpc.request("turn/start", {
        threadId: session,
        input: textInput(words),
        ...(agent.mode === "plan" && { collaborationMode: planMode(model) }),
      });
      turn = text(fields(begun["turn"])["id"]) ?? turn;
    },
    read: (told) => deliveriesInRollout(text(thread["path"]) ?? "", told),
    answer: asks.answer,
    async park() {
      left = true;
      line.close();
      return Promise.resolve(true);
    },
    interrupt() {
      if (turn === "") return end("interrupted");
      void rpc.request("turn/interrupt", { threadId: session, turnId: turn }).catch(() => end("interrupted"));
    },
    async close() {
      line.close();
      return Promise.resolve();
    },
  };
}

async function openThread(rpc: Rpc, cwd: string, resume: string | undefined): Promise<Fields> {
  await rpc.request("initialize", {
    clientInfo: { name: "sage", title: "Sage", version: "1" },
    capabilities: { experimentalApi: true, requestAttestation: false },
  });
  rpc.notify("initialized", {});
  // Threads do not persist their policy, so it is sent on every resume. Requests meant for a person are not reviewed by a model.
  const policy = { cwd, approvalPolicy: "untrusted", approvalsReviewer: "user", sandbox: "workspace-write" };
  const resumed =
    resume === undefined
      ? undefined
      : await rpc.request("thread/resume", { threadId: resume, ...policy }).catch(() => undefined);
  return resumed ?? rpc.request("thread/start", policy);
}

/** Reports the work of the thread's current turn and returns its id. */
function replayTurn(thread: Fields, worked: (item: Fields) => void): string {
  const current = list(thread["turns"]).map(fields).at(-1);
  for (const item of list(current?.["items"]).map(fields)) worked(item);
  return text(current?.["id"]) ?? "";
}

function planMode(model: string): object {
  return { mode: "plan", settings: { model, reasoning_effort: null, developer_instructions: null } };
}

function textInput(words: string): object[] {
  return [{ type: "text", text: words, text_elements: [] }];
}
