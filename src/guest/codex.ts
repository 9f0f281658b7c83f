import { addUsage, type Call, type Usage } from "../protocol/index.ts";
import {
  answersOf,
  callOf,
  changesOf,
  isOver,
  judgedPatch,
  questionsOf,
  resultOf,
  usageOf,
  type CodexQuestion,
} from "./codex-map.ts";
import { reachCodex, type CodexInstall } from "./codex-server.ts";
import type { Guest, GuestAnswer, GuestAsk, GuestDriver, GuestEvent, GuestStart } from "./driver.ts";
import { fields, list, text, type Fields } from "./json.ts";
import { createQueue } from "./queue.ts";
import { createRpc, type Incoming } from "./rpc.ts";

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

type RpcId = string | number;
type Asked = { id: RpcId; ask: GuestAsk } & (
  | { kind: "approval" }
  | { kind: "permissions"; wanted: Fields }
  | { kind: "questions"; questions: readonly CodexQuestion[] }
  | { kind: "form"; answered(answer: GuestAnswer): void }
);

async function start(agent: CodexAgent, { cwd, env, resume, signal }: GuestStart): Promise<Guest> {
  const line = await reachCodex(agent, env, signal);
  const rpc = createRpc(line);
  await rpc.request("initialize", {
    clientInfo: { name: "sage", title: "Sage", version: "1" },
    capabilities: { experimentalApi: true, requestAttestation: false },
  });
  rpc.notify("initialized", {});
  // No thread keeps its policy: whoever resumes it says it again. A model does not review what a person is to be asked.
  const policy = { cwd, approvalPolicy: "untrusted", approvalsReviewer: "user", sandbox: "workspace-write" };
  const opened =
    (resume !== undefined &&
      (await rpc.request("thread/resume", { threadId: resume, ...policy }).catch(() => undefined))) ||
    (await rpc.request("thread/start", policy));
  const thread = fields(opened["thread"]);
  const session = text(thread["id"]) ?? "";
  const model = text(opened["model"]) ?? text(thread["model"]) ?? agent.name;
  const goesOn = fields(thread["status"])["type"] === "active";

  const events = createQueue<GuestEvent>();
  const asked = new Map<string, Asked>();
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

  /** Of its subagents, which have threads of their own: patches as they are announced, and how calls that were asked about ended. */
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
    const thisThread = params["threadId"] === session;
    // Calls of its subagents are in threads of their own, and may have the same ids.
    const callId = thisThread ? name : `${text(params["threadId"])}/${name}`;
    const frame = { id: JSON.stringify(id), agent: thisThread ? [] : ["subagent"], ...whyOf(params) };
    if (!thisThread) below.add(callId);
    const open = (call: Omit<Call, "type" | "id">, more: Partial<GuestAsk>): GuestAsk => ({
      ...frame,
      call: { type: "call", id: callId, ...call },
      judged: [],
      ...more,
    });
    switch (method) {
      case "item/commandExecution/requestApproval": {
        const { kind, networkApprovalContext: host, additionalPermissions: wanted } = params;
        const { input = {} } = callOf({ type: "commandExecution", id: callId, ...params }, { cwd }) ?? {};
        // Words for a program that runs already, a host to connect to, and more than the usual permissions: a person looks at these.
        const more = { ...(host ? { host } : {}), ...(wanted ? { permissions: wanted } : {}) };
        const isPlain = (kind ?? "command") === "command" && Object.keys(more).length === 0 && input["command"] !== "";
        const tool = isPlain ? "Bash" : kind === "writeStdin" ? "write_stdin" : "exec_command";
        const ask = open({ tool, input: { ...input, ...more } }, isPlain ? { judged: [{ tool, input }] } : {});
        return put({ id, ask, kind: "approval" });
      }
      case "item/fileChange/requestApproval": {
        const item = items.get(callId);
        if (item === undefined) return put({ id, ask: open(untoldPatch(params), { untold: true }), kind: "approval" });
        const changes = changesOf(item);
        const root = text(params["grantRoot"]);
        // A change of a kind that nobody here knows is for a person, whatever the others are.
        const isWhole = changes.length === list(item["changes"]).length;
        const judged = root === undefined && isWhole ? judgedPatch(changes, { cwd }) : [];
        const ask = open(
          {
            tool: "Patch",
            input: {
              changes: isWhole ? changes : list(item["changes"]),
              ...(root !== undefined && { writesUnder: root }),
            },
          },
          { judged },
        );
        return put({ id, ask, kind: "approval" });
      }
      case "item/permissions/requestApproval": {
        const wanted = fields(params["permissions"]);
        return put({ id, ask: open({ tool: "permissions", input: { ...wanted } }, {}), kind: "permissions", wanted });
      }
      case "item/tool/requestUserInput": {
        const questions = questionsOf(params);
        if (!questions || questions.length === 0) return rpc.reply(id, { answers: {} });
        const shown = questions.map(({ id: _id, ...question }) => question);
        const ask = open({ tool: "AskUserQuestion", input: { questions: shown } }, { questions: shown });
        return put({ id, ask, kind: "questions", questions });
      }
      case "mcpServer/elicitation/request": {
        const { askForm } = await import("./form.ts");
        const server = text(params["serverName"]) ?? agent.name;
        const result = await askForm(params, {
          name: server,
          signal,
          ask: (questions) =>
            new Promise((answered) => {
              const ask = open({ tool: "AskUserQuestion", input: { questions } }, { questions });
              put({ id, ask, kind: "form", answered });
            }),
        });
        return rpc.reply(id, { content: null, _meta: null, ...result });
      }
      default:
        return rpc.refuse(id, NOT_OFFERED, "not offered");
    }
  }

  function put(open: Asked): void {
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

/** A patch that was not announced here. It has its own names, so that a yes to one is none to another. */
function untoldPatch(params: Fields): Omit<Call, "type" | "id"> {
  const { threadId: thread, itemId: item, grantRoot: writesUnder } = params;
  return { tool: "Patch", input: { thread, item, ...(typeof writesUnder === "string" && { writesUnder }) } };
}

/** Only this once: Sage's rules live in Sage's files, and not in Codex's. */
function replyTo(open: Exclude<Asked, { kind: "form" }>, given: GuestAnswer): object {
  switch (open.kind) {
    case "approval":
      return { decision: given.type === "refused" ? "decline" : "accept" };
    case "permissions":
      return { permissions: given.type === "allowed" ? open.wanted : {}, scope: "turn" };
    case "questions":
      return { answers: given.type === "answers" ? answersOf(open.questions, given.answers) : {} };
    default:
      return open satisfies never;
  }
}

function inputOf(words: string): object[] {
  return [{ type: "text", text: words, text_elements: [] }];
}

function whyOf(params: Fields): { why?: string } {
  const why = text(params["reason"]);
  return why === undefined || why === "" ? {} : { why };
}
