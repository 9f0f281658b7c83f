import { personName } from "../base/name.ts";

/**
 * The grammar of fact keys. Nobody else builds or takes apart one.
 *
 *   t0                           turn.begun            t0.ended                turn.ended
 *   t0/joined0                   guest.joined          t0/parked0              guest.parked, of a turn that a guest runs
 *   t0/3/model                   model.replied         t0/3/judged             calls.judged, of the whole step
 *   t0/3/interrupted             reply.interrupted, in the place of a reply
 *   t0/3/1/permit0               input.requested       t0/3/1/permit0.resolved input.resolved
 *   t0/3/1/permit0.delivered     answer.delivered, to the guest that asked      t0/3/1/permit0.undelivered
 *   t0/3/1/permit0/inquiry/…     inquiry.made          ….replied               inquiry.replied
 *   t0/3/1/judged1               calls.judged, of this call alone, after round 0
 *   t0/3/1/run0.started          call.started          t0/3/1/run0.finished    call.finished or call.unknown
 *   t0/3/1/elicit0_1             input.requested by the server that runs the call, in the midst of run 0
 *   t0/3/1/done                  call.finished of a call that ran nothing
 *   t0/3/1/mode                  mode.chosen: a person approved the plan that this call put before them
 *   t0/3/1/sub/0/model           the same again, of the subagent that call 1 runs
 *   state/5.0                    state.changed, the first of the owner with epoch 5
 *   rewind/0                     session.rewound       rewind/0.ended          rewind.ended
 *   workspace                    workspace.made
 *   moved-to/0                   session.moved
 *   said/…  interrupt/…  draft/… what people and other processes write
 *   approved/t0/3/1/permit0/lin  input.approved, of that request, by that person
 *   reminded/t0/3/1/permit0/0    input.reminded        escalated/…             input.escalated
 *   moved/1764000000000          time.moved, up to that moment
 *   withdrawn/said/…             message.withdrawn, of the message with that key
 *   asked/…                      input.requested by a program outside of Sage, in a session of its own
 */
type KeyPlace = {
  /** `t0` */
  turn: string;
  /** `t0/3`, or `t0/3/1/sub/0`: the reply this belongs to. */
  step?: string;
  /** `t0/3/1`: the call this belongs to. */
  call?: string;
  /** Last part of the key: `model`, `judged`, `permit0`, `run0`, `done`, … without what follows the dot. */
  what: string;
  /** After the dot: `started`, `finished`, `resolved`, `replied`, `ended`. */
  end?: string;
  /** The calls that run the subagents around it, outermost first; empty for the root agent. */
  within: readonly string[];
};

const turnPattern = /^t\d+$/;
const numberPattern = /^\d+$/;

/** Undefined for keys outside of any turn, such as `said/…`. */
export function placeOfKey(key: string): KeyPlace | undefined {
  const segments = key.split("/");
  const [what, end] = splitEnd(segments.pop() ?? "");
  if (segments.length === 0)
    return turnPattern.test(what) ? { turn: what, what: "turn", ...ending(end), within: [] } : undefined;
  const turn = segments[0] ?? "";
  if (!turnPattern.test(turn)) return undefined;
  const within: string[] = [];
  let at = 1;
  let path = turn;
  let step: string | undefined;
  let call: string | undefined;
  while (at < segments.length) {
    const segment = segments[at] ?? "";
    path += `/${segment}`;
    at++;
    if (segment === callKeys.sub && call !== undefined) {
      within.push(call);
      step = call = undefined;
    } else if (!numberPattern.test(segment)) break;
    else if (step === undefined) step = path;
    else if (call === undefined) call = path;
    else break;
  }
  return {
    turn,
    ...(step !== undefined && { step }),
    ...(call !== undefined && { call }),
    what,
    ...ending(end),
    within,
  };
}

/** The call that a fact is about: `t0/3/1` of `t0/3/1/run0.finished`. */
export function callOfKey(key: string): string | undefined {
  return placeOfKey(key)?.call;
}

/** The step that a reply or its verdicts belong to. */
export function stepOfKey(key: string): string | undefined {
  return placeOfKey(key)?.step;
}

/** Place in the root's conversation: a reply, a compaction, or right below a call, with its number. Undefined: elsewhere. */
export function placeInConversation(key: string): { call?: number } | undefined {
  const { step, call, what, end, within } = placeOfKey(key) ?? {};
  if (step === undefined || within?.length !== 0) return undefined;
  const above = key.slice(0, key.lastIndexOf("/"));
  if (call !== undefined) return above === call ? { call: Number(call.slice(step.length + 1)) } : undefined;
  const isSpoken = what !== undefined && spoken.has(what);
  return above === step && isSpoken && end === undefined ? {} : undefined;
}

/** The call of a step by its place in the reply. */
export function callKey(step: string, index: number): string {
  return `${step}/${index}`;
}

/** The call did its work here, as opposed to `done`, which ends a call that ran nothing. */
export function isRunKey(key: string): boolean {
  return /^run\d+$/.test(placeOfKey(key)?.what ?? "");
}

/** A subagent wrote it, or somebody on behalf of one. */
export function isInSubagent(key: string): boolean {
  return key.includes("/sub/");
}

/** The innermost call that runs the subagent this key belongs to. */
export function parentCallOfKey(key: string): string | undefined {
  const at = key.lastIndexOf("/sub/");
  return at < 0 ? undefined : key.slice(0, at);
}

/** The root agent's call that contains this key. */
export function rootCallOfKey(key: string): string | undefined {
  const place = placeOfKey(key);
  return place?.within[0] ?? place?.call;
}

/** Is the key that of a turn or a step, or of something below it? */
export function isWithinKey(key: string, place: string): boolean {
  return key === place || key.startsWith(`${place}/`) || key.startsWith(`${place}.`);
}

/** `t2` or `t2/5`, as people write it. */
export function isTurnOrStep(text: string): boolean {
  const [turn = "", step, ...more] = text.split("/");
  return turnPattern.test(turn) && (step === undefined || numberPattern.test(step)) && more.length === 0;
}

/** The number of the turn that a key belongs to. */
export function turnNumber(key: string): number | undefined {
  const turn = placeOfKey(key)?.turn;
  return turn === undefined ? undefined : Number(turn.slice(1));
}

export const turnKey = (turn: number): string => `t${turn}`;
export const turnEndedKey = (turn: string): string => `${turn}.ended`;
export const startedKey = (key: string): string => `${key}.started`;
export const finishedKey = (key: string): string => `${key}.finished`;
export const resolvedKey = (key: string): string => `${key}.resolved`;
export const deliveredKey = (key: string): string => `${key}.delivered`;
export const undeliveredKey = (key: string): string => `${key}.undelivered`;

/** Keys below the turn of a guest, for the branch that stands there: each time it joined, and each time it was left with a call. */
export const guestKeys = {
  joined: (number: number) => `joined${number}`,
  parked: (number: number) => `parked${number}`,
} as const;

/** Key under which processes of a session's guest are noted, whichever turn it runs. */
export const guestProcessKey = "guest";

/** Keys below a step, for the branch that stands there. */
export const stepKeys = {
  model: "model",
  judged: "judged",
  /** The prompt was too long by our count. */
  compact: "compact",
  /** The provider refused it. */
  compactAll: "compact1",
  /** The reply was interrupted: the next one has a step of its own. */
  interrupted: "interrupted",
  /** Too many refusals in a row. */
  paused: "paused",
  spinning: "spinning",
  /** A limit of spending was reached before this step. */
  limit: "limit",
} as const;

const spoken: ReadonlySet<string> = new Set([
  ...([stepKeys.model, stepKeys.interrupted, stepKeys.compact, stepKeys.compactAll] as const),
]);

/** Keys below a call. `number` counts its judgements, `run` its runs: a person may want it to run again. */
export const callKeys = {
  permit: (number: number) => `permit${number}`,
  ask: (number: number) => `ask${number}`,
  judged: (number: number) => `judged${number}`,
  rule: (number: number, nth: number) => `rule${number}.${nth}`,
  ruleRemoved: (number: number, nth: number) => `unrule${number}.${nth}`,
  run: (run: number) => `run${run}`,
  elicit: (run: number, nth: number) => `elicit${run}_${nth}`,
  /** Recovery of a run whose end is unknown: asked while it still ran, seen to its end, asked once it was over. */
  lost: (run: number) => ({ running: `lost${run}.running`, ended: `lost${run}.ended`, over: `lost${run}` }),
  /** Ends a call that ran nothing. */
  done: "done",
  /** The mode that the person chose with an approved plan. */
  mode: "mode",
  sub: "sub",
} as const;

/** The branch of a step in its turn, or of a call in its step, by its number. */
export const branchKey = (number: number): string => `${number}`;
/** The reply of a step, from the branch of its turn or subagent. */
export const replyKey = (step: number): string => `${branchKey(step)}/${stepKeys.model}`;
/** The first reply of the subagent that a call runs, from the branch of the call. */
export const firstSubReplyKey = `${callKeys.sub}/${replyKey(0)}`;
export const doneKey = (call: string): string => `${call}/${callKeys.done}`;
/** Key of requests that a turn carries on for an older one. */
export const carriedKey = "carried";

/** A range of adjacent keys: from the first up to, and without, `end`. */
export type KeyRange = { from: string; end: string };
export const saidKeys: KeyRange = { from: "said/", end: "said0" };
/** Everything of turns; titles lie there too. */
export const turnKeys: KeyRange = { from: "t", end: "u" };
export const saidKey = (id: string): string => `${saidKeys.from}${id}`;
export const withdrawnKeys: KeyRange = { from: "withdrawn/", end: "withdrawn0" };
/** Key of taking back the message with this key, which happens once. */
export const withdrawnKey = (message: string): string => `${withdrawnKeys.from}${message}`;
/** A change of state: of the attempt with this epoch, the nth. */
export const stateKey = (epoch: number, n: number): string => `state/${epoch}.${n}`;
/** Drafts of one request lie side by side, so that the latest is found without reading the session. */
export const draftKeys = (requestKey: string): { prefix: string; end: string } => ({
  prefix: `draft/${requestKey}/`,
  end: `draft/${requestKey}0`,
});
/** Approvals of one request lie side by side, one for each person. */
export const approvalKeys = (requestKey: string): { prefix: string; end: string } => ({
  prefix: `approved/${requestKey}/`,
  end: `approved/${requestKey}0`,
});
export const approvalKey = (requestKey: string, person: string): string =>
  approvalKeys(requestKey).prefix + encodeURIComponent(personName(person));
/** Gaps in a session's time, each by the moment up to which it lasted. */
export const movedKeys: KeyRange = { from: "moved/", end: "moved0" };
export const movedKey = (to: number): string => `${movedKeys.from}${to}`;
/** The `n`th reminder of a request, and the `n`th further person who was called. */
export const remindedKey = (requestKey: string, n: number): string => `reminded/${requestKey}/${n}`;
export const escalatedKey = (requestKey: string, n: number): string => `escalated/${requestKey}/${n}`;
/** A request from outside of Sage. Nothing of a turn lies here, and no outsider writes anywhere else. */
export const askedKey = (id: string): string => `asked/${id}`;
export const interruptKey = (id: string): string => `interrupt/${id}`;
/** A message is read now once, by its key. */
export const readNowKey = (message: string): string => interruptKey(`now/${message}`);
export const titleKey = (id: string): string => `title/${id}`;
export const removedKey = (id: string): string => `removed/${id}`;
/** A rule that a person gave outside of any request. */
export const ruleAddedKey = (id: string): string => `rule-added/${id}`;
export const ruleRemovedKey = (id: string): string => `rule-removed/${id}`;
export const modelChosenKey = (id: string): string => `model/${id}`;
export const rewindKey = (n: number): string => `rewind/${n}`;
export const endedKey = (key: string): string => `${key}.ended`;
/** The key is the same for all of a session, which works in one folder. */
export const workspaceKey = "workspace";
export const folderMovedKey = (n: number): string => `moved-to/${n}`;
export const modeChosenKey = (id: string): string => `mode/${id}`;

/** Keys of facts that a run writes by itself, as a pattern that PostgreSQL reads as well. */
export const runKeyPattern = "^(t[0-9]+([/.]|$)|state/|rewind/[0-9]+[.]ended$)";
/** Key of the message by which a turn tells what became of requests that it carries on. */
export const carriedSaidPattern = `^${saidKeys.from}t[0-9]+[.]${carriedKey}$`;

/** The end of the key of a mode that came with a plan, and the rest of a request's end below the same call. */
export const callModeEnd = `/${callKeys.mode}`;
export const permitResolvedPattern = "^permit[0-9]+[.]resolved$";

/** Inquiries about one request have adjacent keys, each followed by its reply. */
export const inquiryKeys = (requestKey: string): KeyRange => ({
  from: `${requestKey}/inquiry/`,
  end: `${requestKey}/inquiry0`,
});
export const inquiryKey = (requestKey: string, id: string): string => `${inquiryKeys(requestKey).from}${id}`;
export const repliedKey = (key: string): string => `${key}.replied`;

/** A request's id names its session and its key: `session/t0/3/1/permit0`. */
export const requestId = (session: string, key: string): string => `${session}/${key}`;

export function splitRequestId(id: string): { session: string; key: string } {
  const slash = id.indexOf("/");
  return slash < 0 ? { session: id, key: "" } : { session: id.slice(0, slash), key: id.slice(slash + 1) };
}

const letters = "abcdefghjkmnpqrstuvwxyz23456789";

/** A request's id as typed: session and five letters of a hash, so that nobody answers the session's next request by mistake. */
export function shortRequestId(id: string): string {
  return requestId(splitRequestId(id).session, codeOf(id));
}

/** Five letters derived from a text. */
export function codeOf(text: string): string {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193) >>> 0;
  let code = "";
  for (let n = 0; n < 5; n++, hash = Math.floor(hash / letters.length)) code += letters[hash % letters.length];
  return code;
}

const ends = new Set(["started", "finished", "resolved", "replied", "delivered", "undelivered", "ended"]);

/** The key without its end: of the request that was resolved, of the run that has finished. `lost0.running` has none. */
export function withoutEnd(key: string): string {
  const dot = key.lastIndexOf(".");
  return dot >= 0 && ends.has(key.slice(dot + 1)) ? key.slice(0, dot) : key;
}

function splitEnd(segment: string): [string, string | undefined] {
  const dot = segment.indexOf(".");
  return dot < 0 ? [segment, undefined] : [segment.slice(0, dot), segment.slice(dot + 1)];
}

function ending(end: string | undefined): { end?: string } {
  return end === undefined ? {} : { end };
}
