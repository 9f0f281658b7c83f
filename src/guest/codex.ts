import { addUsage, type Call, type Usage } from "../protocol/index.ts";
import {
  askOf,
  commandAsk,
  patchAsk,
  permissionsAsk,
  questionsAsk,
  replyTo,
  type AskFrame,
  type CodexAsk,
  type RpcId,
} from "./codex-asks.ts";
import { callOf, isOver, resultOf, usageOf } from "./codex-map.ts";
import { reachCodex, type CodexInstall } from "./codex-server.ts";
import type { Guest, GuestAnswer, GuestAsk, GuestDriver, GuestEvent, GuestStart } from "./driver.ts";
import { fields, list, text, type Fields } from "./json.ts";
import { createQueue } from "./queue.ts";
import { createRpc, type Incoming, type Rpc } from "./rpc.ts";

export type CodexAgent = CodexInstall & {
  name: string;
  /** "plan": it plans, and asks questions. */
  mode?: string;
};

/** Codex, on an app-server that outlives Sage: a request that it holds is asked again when somebody comes back to its thread. */
export function codexDriver(agent: CodexAgent): GuestDriver {
  return { name: agent.name, parks: "on leaving", start: (options) => start(agent, options) };
}

const NOT_OFFERED = -32_601;

async function start(agent: CodexAgent, { cwd, env, resume, signal }: GuestStart): Promise<Guest> {
  const line = await reachCodex(agent, env, signal);
  const rpc = createRpc(line);
  const opened = await openThread(rpc, cwd, resume);
  const thread = fields(opened["thread"]);
  const session = text(thread["id"]) ?? "";
  const model = text(opened["model"]) ?? text(thread["model"]) ?? agent.name;
  const goesOn = fields(thread["status"])["type"] === "active";

  const events = createQueue<GuestEvent>();
  const asked = new Map<string, CodexAsk>();
  /** Patches as they were announced: a request for one does not show it. */
  const items = new Map<string, Fields>();
  /** Calls of subagents that were asked about. */
  const below = new Set<string>();
  let turn = "";
  let usage: Usage | undefined;
  let held: string | undefined;
  let left = false;
  /** A thread that is met again first repeats what its last request to the model used. */
  let isNews = !goesOn;

  const before = list(thread["turns"]).map(fields).at(-1);
  if (goesOn && before) {
    turn = text(before["id"]) ?? "";
    for (const item of list(before["items"]).map(fields)) worked(item);
  }
  void listen();

  async function listen(): Promise<void> {
    for await (const message of rpc.incoming) hear(message);
    end(left ? "parked" : { how: "died", words: "its app-server is gone" });
  }

  function end(how: "done" | "interrupted" | "parked" | { how: "failed" | "died"; words: string }): void {
    flush();
    events.push({ type: "ended", ...(typeof how === "string" ? { how } : how) });
    events.end();
  }

  function hear({ id, method, params }: Incoming): void {
    if (id !== undefined) return void asks(id, method, params);
    if (params["threadId"] !== session) return hearBelow(method, params);
    if (typeof params["turnId"] === "string") turn = params["turnId"];
    if (method.startsWith("item/")) isNews = true;
    const item = fields(params["item"]);
    switch (method) {
      case "turn/started":
        turn = text(fields(params["turn"])["id"]) ?? turn;
        return;
      case "item/started":
        return worked(item);
      case "item/completed":
        if (item["type"] !== "agentMessage") return worked(item);
        flush();
        held = text(item["text"]);
        return;
      case "item/agentMessage/delta":
        return events.push({ type: "delta", kind: "text", text: text(params["delta"]) ?? "" });
      case "item/reasoning/summaryTextDelta":
      case "item/reasoning/textDelta":
        return events.push({ type: "delta", kind: "reasoning", text: text(params["delta"]) ?? "" });
      case "item/commandExecution/outputDelta":
        return events.push({
          type: "delta",
          kind: "output",
          text: text(params["delta"]) ?? "",
          call: text(params["itemId"]) ?? "",
        });
      case "thread/tokenUsage/updated": {
        const used = isNews ? usageOf(params) : undefined;
        if (used) usage = usage ? addUsage(usage, used) : used;
        return;
      }
      case "serverRequest/resolved":
        return withdrawn(params["requestId"]);
      case "turn/completed":
        return completed(fields(params["turn"]));
      default:
        return;
    }
  }

  /** Subagents have threads of their own. Noted are patches as they are announced, and how calls that were asked about ended. */
  function hearBelow(method: string, params: Fields): void {
    const item = fields(params["item"]);
    const id = `${text(params["threadId"])}/${text(item["id"])}`;
    if (method === "item/started" && item["type"] === "fileChange") items.set(id, item);
    if (method !== "item/completed") return;
    if (below.delete(id) && isOver(item)) events.push({ type: "result", call: id, ...resultOf(item) });
    items.delete(id);
  }

  function worked(item: Fields): void {
    const call = callOf(item, { cwd });
    if (call === undefined) return;
    if (!items.has(call.id)) said([call]);
    items.set(call.id, item);
    if (isOver(item)) events.push({ type: "result", call: call.id, ...resultOf(item) });
  }

  function said(calls: Call[]): void {
    const parts = [...(held ? [{ type: "text" as const, text: held }] : []), ...calls];
    if (parts.length > 0) events.push({ type: "said", parts, ...(usage && { usage }), model, agent: [] });
    held = undefined;
    usage = undefined;
  }

  function flush(): void {
    if (held) said([]);
  }

  async function asks(id: RpcId, method: string, params: Fields): Promise<void> {
    const name = [text(params["itemId"]) ?? `request-${id}`, text(params["approvalId"])].filter(Boolean).join(":");
    const isOwn = params["threadId"] === session;
    // Calls of its subagents are in threads of their own, and may have the same ids.
    const callId = isOwn ? name : `${text(params["threadId"])}/${name}`;
    if (!isOwn) below.add(callId);
    const frame: AskFrame = { id, callId, agent: isOwn ? [] : ["subagent"], params };
    switch (method) {
      case "item/commandExecution/requestApproval":
        return put(commandAsk(frame, cwd));
      case "item/fileChange/requestApproval":
        return put(patchAsk(frame, items.get(callId), cwd));
      case "item/permissions/requestApproval":
        return put(permissionsAsk(frame));
      case "item/tool/requestUserInput": {
        const open = questionsAsk(frame);
        return open ? put(open) : rpc.reply(id, { answers: {} });
      }
      case "mcpServer/elicitation/request":
        return rpc.reply(id, { content: null, _meta: null, ...(await askServerForm(frame)) });
      default:
        return rpc.refuse(id, NOT_OFFERED, "not offered");
    }
  }

  async function askServerForm(frame: AskFrame): Promise<object> {
    const { askForm } = await import("./form.ts");
    return askForm(frame.params, {
      name: text(frame.params["serverName"]) ?? agent.name,
      signal,
      ask: (questions) =>
        new Promise((answered) => {
          const ask = askOf(frame, { tool: "AskUserQuestion", input: { questions } }, { questions });
          put({ id: frame.id, ask, kind: "form", answered });
        }),
    });
  }

  function put(open: CodexAsk): void {
    flush();
    asked.set(open.ask.id, open);
    line.keep(session);
    events.push({ type: "asks", ask: open.ask });
  }

  function withdrawn(id: unknown): void {
    const name = JSON.stringify(id);
    if (asked.delete(name)) events.push({ type: "withdrawn", id: name });
    if (asked.size === 0) line.release(session);
  }

  function completed({ id, status, error }: Fields): void {
    if (turn !== "" && id !== turn) return;
    line.release(session);
    if (status === "completed") return end("done");
    if (status === "interrupted") return end("interrupted");
    end({ how: "failed", words: text(fields(error)["message"]) ?? "its turn failed" });
  }

  async function steer(words: string): Promise<void> {
    await rpc.request("turn/steer", { threadId: session, expectedTurnId: turn, input: inputOf(words) });
  }

  function answer(ask: GuestAsk, given: GuestAnswer): void {
    const open = asked.get(ask.id);
    if (open === undefined) return;
    asked.delete(ask.id);
    if (asked.size === 0) line.release(session);
    if (open.kind === "form") return open.answered(given);
    const reply = () => rpc.reply(open.id, replyTo(open, given));
    if (given.type !== "refused") return reply();
    // The refusal has no place for a reason. Words that come before it are read in the same request to the model.
    void steer(given.words).then(reply, reply);
  }

  return {
    session,
    version: text(thread["cliVersion"]) ?? "",
    model,
    goesOn,
    events,
    async say(words) {
      if (turn !== "") {
        const joined = await steer(words).then(
          () => true,
          () => false, // the turn is over
        );
        if (joined) return;
      }
      const plan = agent.mode === "plan" && {
        collaborationMode: { mode: "plan", settings: { model, reasoning_effort: null, developer_instructions: null } },
      };
      const begun = await rpc.request("turn/start", { threadId: session, input: inputOf(words), ...plan });
      turn = text(fields(begun["turn"])["id"]) ?? turn;
    },
    answer,
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
  // No thread keeps its policy: whoever resumes it says it again. A model does not review what a person is to be asked.
  const policy = { cwd, approvalPolicy: "untrusted", approvalsReviewer: "user", sandbox: "workspace-write" };
  const resumed =
    resume === undefined
      ? undefined
      : await rpc.request("thread/resume", { threadId: resume, ...policy }).catch(() => undefined);
  return resumed ?? rpc.request("thread/start", policy);
}

function inputOf(words: string): object[] {
  return [{ type: "text", text: words, text_elements: [] }];
}
