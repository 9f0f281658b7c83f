import type { Command, Refused } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";

type Test<C> = boolean | ((command: C) => boolean);
type Sending<C> = {
  /** May it go out once more when its reply was lost? The host then does it once, or does the same again. */
  repeat: Test<C>;
  /** Does it act on what the person sees right now? Such a command is never sent late. */
  forNow: Test<C>;
};

const read = { repeat: true, forNow: false } as const;
const never = { repeat: false, forNow: true } as const;

const sending: { [T in Command["type"]]: Sending<Extract<Command, { type: T }>> } = {
  open: { repeat: ({ session }) => session !== undefined, forNow: false },
  say: { repeat: ({ id }) => id !== undefined, forNow: false },
  withdraw: { repeat: false, forNow: false },
  // The same answer by the same person is taken as the first one. Only a no may come late.
  respond: { repeat: true, forNow: ({ response: { type } }) => type !== "denied" && type !== "cancelled" },
  respondAll: { repeat: false, forNow: ({ answer }) => answer.type === "granted" },
  ask: never,
  unask: never,
  inquire: { repeat: ({ id }) => id !== undefined, forNow: false },
  // A second pause would cancel.
  interrupt: { repeat: ({ id, to }) => id !== undefined && to !== undefined, forNow: true },
  resume: never,
  chooseMode: { repeat: true, forNow: ({ mode }) => mode !== "plan" },
  compact: never,
  saveDraft: { repeat: true, forNow: false },
  sessions: read,
  request: read,
  past: read,
  pending: read,
  choose: { repeat: true, forNow: true },
  rename: { repeat: true, forNow: false },
  fork: never,
  // A rule that is there already is added once more, which changes nothing.
  addRule: { repeat: true, forNow: true },
  removeRule: { repeat: true, forNow: true },
  undo: never,
  rewindPoints: read,
  planRewind: read,
  rewind: never,
  about: read,
  models: read,
  files: read,
  output: read,
  facts: read,
  receipts: read,
  stats: read,
};

export function mayRepeat(command: Command): boolean {
  return holds(sending[command.type].repeat as Test<Command>, command);
}

export function isForNow(command: Command): boolean {
  return holds(sending[command.type].forNow as Test<Command>, command);
}

function holds(test: Test<Command>, command: Command): boolean {
  return typeof test === "function" ? test(command) : test;
}

/** Refuses a command that would let something run, while the link to the host is lost: such a yes is for now or never. */
export function refusedWhileLost(command: Command): Refused | undefined {
  return isForNow(command) ? refusalOf(new SageError("host-gone", reason("link-lost", {}))) : undefined;
}
