import {
  callsOf,
  textOf,
  type Delta,
  type Fact,
  type FactData,
  type InputRequest,
  type PendingRequest,
  type Resolution,
  type ToolInput,
} from "../../protocol/index.ts";
import type { ProgressView, Step } from "./cards/progress.ts";
import { stateOf, type ChatState } from "./state.ts";

const LIVE_ROWS = 5;
const KEPT_REQUESTS = 200;

/** A session as a chat needs to know it: the fold of its facts, and what streams right now. */
export type SessionView = {
  state(): ChatState;
  /** Open requests, the oldest first. */
  open(): InputRequest[];
  /** Also those that ended not long ago. */
  request(id: string): { request: InputRequest; resolution?: Resolution } | undefined;
  progress(): ProgressView;
  /** Is a turn under way or about to begin, and from which surface was it begun? */
  working(): boolean;
  begunBy(): string | undefined;
  begunWith(): FactData["user.said"] | undefined;
  /** Of the present turn: nobody answered it in time. */
  expired(): InputRequest | undefined;
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  ready(requests: readonly PendingRequest[]): void;
  /** The turn cannot begin. */
  failed(): void;
};

export function createView(): SessionView {
  const requests = new Map<string, { request: InputRequest; resolution?: Resolution }>();
  const open = new Map<string, InputRequest>();
  let steps: (Step & { key: string })[] = [];
  let texts: { key: string; attempt: number; text: string; done: boolean }[] = [];
  let live: { key: string; text: string } | undefined;
  /** Messages that no turn has begun with and no reply has seen. */
  let unseen: Fact<"user.said">[] = [];
  let [turn, paused] = [false, false];
  let begunWith: Fact<"user.said"> | undefined;
  let expired: InputRequest | undefined;

  const finished = ({ key, data }: Fact<"call.finished">) => {
    const at = key.replace(/\/[^/]*$/, "");
    const step = steps.find((one) => one.key === at);
    if (step && step.state === "run") step.state = data.ok ? "ok" : "failed";
    if (live?.key.startsWith(`${at}/`)) live = undefined;
  };

  const replied = ({ key, data }: Fact<"model.replied">) => {
    if (key.includes("/sub/")) return;
    see(data.sawUpTo);
    live = undefined;
    texts = texts.filter((one) => one.key !== key);
    const text = textOf(data);
    if (text.trim() !== "") texts.push({ key, attempt: Infinity, text, done: true });
    const base = key.slice(0, -"model".length);
    for (const [n, call] of callsOf(data).entries())
      if (!Array.isArray(call.input["questions"]))
        // the question itself is shown
        steps.push({
          key: `${base}${n}`,
          tool: call.tool,
          about: call.malformed ?? summaryOf(call.input),
          state: "run",
        });
  };

  const resolved = ({ key, data }: Fact<"input.resolved">) => {
    const known = requests.get(data.requestId);
    if (known) known.resolution = data;
    open.delete(data.requestId);
    if (data.outcome === "timed_out" && !data.response) expired = known?.request;
    const refused = data.outcome === "answered" && data.response.type === "denied";
    const at = key.replace(/\/[^/]*$/, "");
    const step = refused ? steps.find((one) => one.key === at) : undefined;
    if (step) step.state = "refused";
    for (const [id, one] of requests)
      if (requests.size > KEPT_REQUESTS && one.resolution) requests.delete(id);
      else break;
  };

  const see = (upTo: number) => {
    unseen = unseen.filter(({ seq }) => seq > upTo);
  };

  const begin = () => {
    [steps, texts, live, expired] = [[], [], undefined, undefined];
    [turn, paused] = [true, false];
  };

  return {
    state: () => stateOf({ working: isWorking(), open: [...open.values()] }),
    open: () => [...open.values()],
    request: (id) => requests.get(id),
    progress: () => ({
      text: texts.map(({ text }) => text.trim()).join("\n\n"),
      steps: steps.map(({ tool, about, state }) => ({ tool, about, state })),
      live: live ? live.text.trimEnd().split("\n").slice(-LIVE_ROWS) : [],
    }),
    working: isWorking,
    begunBy: () => (turn ? begunWith : unseen[0])?.data.surface,
    begunWith: () => begunWith?.data,
    expired: () => expired,
    fact(fact) {
      switch (fact.type) {
        case "user.said":
          unseen.push(fact);
          paused = false;
          return;
        case "turn.begun":
          begunWith = unseen[0] ?? (fact.data.carries && begunWith);
          see(fact.data.sawUpTo);
          return begin();
        case "model.replied":
          return replied(fact);
        case "call.finished":
          return finished(fact);
        case "input.requested":
          requests.set(fact.data.id, { request: fact.data });
          open.set(fact.data.id, fact.data);
          // The question itself is shown; that a tool asked it is no step of its own.
          if (fact.data.kind !== "permission" && fact.data.source === "tool")
            steps = steps.filter(({ key }) => key !== fact.key.replace(/\/[^/]*$/, ""));
          return;
        case "input.resolved":
          return resolved(fact);
        case "turn.interrupted":
          paused = fact.data.to === "pause";
          return;
        case "turn.ended":
          [turn, paused] = [false, false];
          return;
        default:
      }
    },
    delta({ key, kind, attempt, text }) {
      if (key.includes("/sub/")) return;
      // A word about what is going on, such as a retry, stands where the output would.
      if (kind === "output" || kind === "notice")
        live = live?.key === key ? { key, text: (live.text + text).slice(-4_000) } : { key, text };
      if (kind !== "text") return;
      const block = texts.find((one) => one.key === key);
      if (!block) texts.push({ key, attempt, text, done: false });
      else if (!block.done && attempt > block.attempt) Object.assign(block, { attempt, text });
      else if (!block.done && attempt === block.attempt) block.text += text;
    },
    ready(pending) {
      const ids = new Set(pending.map(({ request }) => request.id));
      for (const id of open.keys()) if (!ids.has(id)) open.delete(id);
      for (const { request } of pending) {
        open.set(request.id, request);
        if (!requests.has(request.id)) requests.set(request.id, { request });
      }
    },
    failed: () => void (unseen = []),
  };

  function isWorking(): boolean {
    return !paused && (turn || unseen.length > 0);
  }
}

/** What a call is about, in the words a rule would use. */
function summaryOf(input: ToolInput): string {
  for (const field of ["command", "file_path", "path", "pattern", "url", "query", "prompt"]) {
    const value = input[field];
    if (typeof value === "string") return value;
  }
  return Object.keys(input).length === 0 ? "" : JSON.stringify(input);
}
