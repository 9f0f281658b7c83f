import type { Fact, FactData } from "../../../protocol/facts/fact.ts";
import type { InputRequest, Resolution } from "../../../protocol/facts/request.ts";
import { saidKey } from "../../../protocol/key.ts";
import { noticeText } from "../../../texts/shared/error.ts";
import type { Texts } from "../../../texts/shared/texts.ts";
import type { SessionChange, OpenRequest, Session } from "../../../view/session.ts";
import type { CallItem, Item } from "../../../view/transcript/item.ts";
import { queueLines } from "../../../view/queue.ts";
import { isOpen } from "../../../view/transcript/standing.ts";
import { briefOf, isAsking } from "../../../view/items/summary.ts";
import type { ProgressView } from "../cards/progress.ts";
import { stateOf, type ChatState } from "./state.ts";

const LIVE_ROWS = 5;
const KEPT_REQUESTS = 200;

type Known = OpenRequest & { resolution?: Resolution };

/** A session as a chat needs to know it: its present turn, what is open, and what streams right now. */
export type SessionView = {
  state(): ChatState;
  open(): InputRequest[];
  /** Also those that ended not long ago. */
  request(id: string): Known | undefined;
  progress(): ProgressView;
  /** A turn is under way, or about to begin. */
  working(): boolean;
  /** It would be, and no process runs it. */
  stopped(): boolean;
  /** The surface from which it was begun. */
  begunBy(): string | undefined;
  begunWith(): FactData["user.said"] | undefined;
  /** The turn under way was begun with the message of this id. */
  isBegunWith(messageId: string): boolean;
  /** The request of the present turn that was not answered in time. */
  expired(): InputRequest | undefined;
  changed(change: SessionChange): void;
};

/** `words`: what streams has one text for all readers, in the first language of its chat. */
export function createView(session: Session, words: () => Texts): SessionView {
  const requests = new Map<string, Known>();
  let notice: (Item & { type: "notice" }) | undefined;
  /** Messages that no turn has begun with, and the one that the present turn has. */
  const said = new Map<string, FactData["user.said"]>();
  let begunWith: FactData["user.said"] | undefined;
  let begunKey: string | undefined;
  let expired: InputRequest | undefined;

  const note = (changed: readonly Item[]): void => {
    for (const item of changed) {
      if (item.type === "call" && item.within.length === 0) notice = undefined;
      if (item.type === "notice") notice = item;
      if (item.type === "said" && (item.read || item.withdrawn)) said.delete(item.key);
    }
  };
  const resolved = (resolution: Resolution): void => {
    const known = requests.get(resolution.requestId);
    if (known) known.resolution = resolution;
    if (resolution.outcome === "timed_out" && !resolution.response) expired = known?.request;
    for (const [id, request] of requests)
      if (requests.size > KEPT_REQUESTS && request.resolution) requests.delete(id);
      else break;
  };
  const remember = () => session.requests.forEach((open) => requests.set(open.request.id, open));
  const fact = (fact: Fact): void => {
    if (fact.type === "user.said") said.set(fact.key, fact.data);
    if (fact.type === "turn.begun") {
      const [first] = said;
      if (first) [begunKey, begunWith] = first;
      else if (!fact.data.carries) begunKey = begunWith = undefined;
      expired = notice = undefined;
    }
    if (fact.type === "input.requested") remember();
    if (fact.type === "input.resolved") resolved(fact.data);
  };

  const isWorking = () => session.run === "running" || session.run === "stopped";
  const open = () => session.requests.map(({ request }) => request);
  const root = () => [...session.items].filter((item) => !("within" in item) || item.within.length === 0);
  const texts = () => root().filter((item) => item.type === "text");
  const calls = () => root().filter((item): item is CallItem => item.type === "call" && !isAsking(item));

  return {
    state: () => stateOf({ working: isWorking(), open: open() }),
    open,
    request: (id) => requests.get(id),
    progress: () => ({
      said: texts().every(({ done }) => done),
      text: texts()
        .flatMap(({ text }) => (text.trim() === "" ? [] : [text.trim()]))
        .join("\n\n"),
      // A question is shown as it is; the tool call behind it is no step of its own.
      steps: calls()
        .filter(({ asked }) => asked.every(({ request }) => request.kind === "permission" || request.source !== "tool"))
        .map((item) => ({
          tool: item.call.tool,
          about: briefOf(item),
          standing: item.standing,
          ...(item.changed && { changed: item.changed }),
        })),
      live: [
        ...lastRows(
          notice ? noticeText(notice, words()) : (calls().findLast(({ standing }) => isOpen(standing))?.output ?? ""),
        ),
        ...(session.progress.open ? queueLines(session.queue, words()) : []),
      ],
    }),
    working: isWorking,
    stopped: () => session.run === "stopped",
    begunBy: () => (session.progress.open ? begunWith : said.values().next().value)?.surface,
    begunWith: () => begunWith,
    isBegunWith: (messageId) => isWorking() && begunKey === saidKey(messageId),
    expired: () => expired,
    changed(change) {
      if (change.type === "fact") fact(change.fact);
      if (change.type === "fact" || change.type === "delta") note(change.items);
      if (change.type === "delta" && change.refused) said.clear();
      if (change.type === "joined") remember();
    },
  };
}

function lastRows(text: string): string[] {
  return text.trim() === "" ? [] : text.trimEnd().split("\n").slice(-LIVE_ROWS);
}
