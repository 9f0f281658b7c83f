import type { Delta, Fact, FactData } from "../../../protocol/facts/fact.ts";
import type { Approval, InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import type { PendingRequest } from "../../../protocol/host/host.ts";
import { saidKey } from "../../../protocol/key.ts";
import type { SessionMode } from "../../../protocol/mode.ts";
import { noticeText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { CallItem, Item, TextItem } from "../../../view/transcript/item.ts";
import { createProgress } from "../../../view/transcript/progress.ts";
import { isOpen } from "../../../view/transcript/standing.ts";
import { briefOf, isAsking } from "../../../view/items/summary.ts";
import { createTranscript } from "../../../view/transcript/transcript.ts";
import type { ProgressView } from "../cards/progress.ts";
import { stateOf, type ChatState } from "./state.ts";

const LIVE_ROWS = 5;
const KEPT_REQUESTS = 200;

type Known = { request: InputRequest; approvals?: readonly Approval[]; carried?: true; resolution?: Resolution };

/** A session as a chat needs to know it: its present turn, what is open, and what streams right now. */
export type SessionView = {
  state(): ChatState;
  mode(): SessionMode;
  /** Open requests, the oldest first. */
  open(): InputRequest[];
  /** Also those that ended not long ago. */
  request(id: string): Known | undefined;
  /** Everybody who approved an open request so far. */
  approvals(id: string): readonly Approval[];
  progress(): ProgressView;
  /** A turn is under way, or about to begin. */
  working(): boolean;
  /** The surface from which it was begun. */
  begunBy(): string | undefined;
  begunWith(): FactData["user.said"] | undefined;
  /** The turn under way was begun with the message of this id. */
  isBegunWith(messageId: string): boolean;
  /** The request of the present turn that was not answered in time. */
  expired(): InputRequest | undefined;
  fact(fact: Fact): void;
  delta(delta: Delta): void;
  ready(requests: readonly PendingRequest[]): void;
  /** The turn cannot begin. */
  failed(): void;
};

/** `words`: what streams has one text for all readers, in the first language of its chat. */
export function createView(words: () => Texts): SessionView {
  const transcript = createTranscript();
  const far = createProgress();
  const requests = new Map<string, Known>();
  const open = new Map<string, InputRequest>();
  /** Texts and calls of the present turn, in their order. */
  const items = new Set<TextItem | CallItem>();
  let notice: (Item & { type: "notice" }) | undefined;
  /** Messages that no turn has begun with, and the one that the present turn has. */
  const said = new Map<string, FactData["user.said"]>();
  let begunWith: FactData["user.said"] | undefined;
  let begunKey: string | undefined;
  let expired: InputRequest | undefined;
  let refused = false;

  const note = (changed: readonly Item[]): void => {
    for (const item of changed) {
      if ((item.type === "text" || item.type === "call") && item.within.length === 0) items.add(item);
      if (item.type === "call" && item.within.length === 0) notice = undefined;
      if (item.type === "notice") notice = item;
      if (item.type === "said" && (item.read || item.withdrawn)) said.delete(item.key);
    }
  };

  const resolved = (resolution: Resolution): void => {
    const known = requests.get(resolution.requestId);
    if (known) known.resolution = resolution;
    open.delete(resolution.requestId);
    if (resolution.outcome === "timed_out" && !resolution.response) expired = known?.request;
    for (const [id, one] of requests)
      if (requests.size > KEPT_REQUESTS && one.resolution) requests.delete(id);
      else break;
  };

  const isWorking = () => far.working && !refused;
  const texts = () => [...items].filter((item) => item.type === "text");
  const calls = () => [...items].filter((item): item is CallItem => item.type === "call" && !isAsking(item));

  return {
    mode: () => far.mode,
    state: () => stateOf({ working: isWorking(), open: [...open.values()] }),
    open: () => [...open.values()],
    request: (id) => requests.get(id),
    approvals: (id) => requests.get(id)?.approvals ?? [],
    progress: () => ({
      said: texts().every(({ done }) => done),
      text: texts()
        .flatMap(({ text }) => (text.trim() === "" ? [] : [text.trim()]))
        .join("\n\n"),
      // A question is shown as it is; the tool call behind it is no step of its own.
      steps: calls()
        .filter(({ asked }) => asked.every(({ request }) => request.kind === "permission" || request.source !== "tool"))
        .map((item) => ({
          ...{ tool: item.call.tool, about: briefOf(item), standing: item.standing },
          ...(item.changed && { changed: item.changed }),
        })),
      live: lastRows(
        notice ? noticeText(notice, words()) : (calls().findLast(({ standing }) => isOpen(standing))?.output ?? ""),
      ),
    }),
    working: isWorking,
    begunBy: () => (far.open ? begunWith : said.values().next().value)?.surface,
    begunWith: () => begunWith,
    isBegunWith: (messageId) => isWorking() && begunKey === saidKey(messageId),
    expired: () => expired,
    fact(fact) {
      far.note(fact);
      if (fact.type === "user.said") {
        said.set(fact.key, fact.data);
        refused = false;
      }
      if (fact.type === "turn.begun") {
        const [first] = said;
        if (first) [begunKey, begunWith] = first;
        else if (!fact.data.carries) begunKey = begunWith = undefined;
        expired = notice = undefined;
        items.clear();
      }
      if (fact.type === "input.requested") {
        requests.set(fact.data.id, { request: fact.data });
        open.set(fact.data.id, fact.data);
      }
      const asked = fact.type === "input.approved" ? requests.get(fact.data.requestId) : undefined;
      if (fact.type === "input.approved" && asked) asked.approvals = [...(asked.approvals ?? []), fact.data];
      if (fact.type === "input.resolved") resolved(fact.data);
      note(transcript.fact(fact));
    },
    delta: (delta) => note(transcript.delta(delta)),
    ready(pending) {
      const ids = new Set(pending.map(({ request }) => request.id));
      for (const id of open.keys()) if (!ids.has(id)) open.delete(id);
      for (const { request, approvals, carried } of pending) {
        open.set(request.id, request);
        const known = requests.get(request.id) ?? { request, ...(approvals && { approvals }) };
        requests.set(request.id, carried ? { ...known, carried } : known);
      }
    },
    failed() {
      refused = true;
      said.clear();
    },
  };
}

function lastRows(text: string): string[] {
  return text.trim() === "" ? [] : text.trimEnd().split("\n").slice(-LIVE_ROWS);
}
