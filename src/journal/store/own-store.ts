import { kindOf } from "../../base/issue.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { andThen, isPromised, type Store } from "./store.ts";

type Methods = { [Name in keyof Store as Store[Name] extends (...args: never[]) => unknown ? Name : never]: Kind };
/** Kind of the value that a method returns; "anything" where it may return nothing. */
type Kind = { returns: "number" | "string" | "boolean" | "object" | "array" | "anything"; mayPromise?: true };

const anything: Kind = { returns: "anything" };
const list: Kind = { returns: "array" };
const methods: Methods = {
  member: anything,
  create: { returns: "boolean", mayPromise: true },
  opened: anything,
  claim: { returns: "number" },
  release: { ...anything, mayPromise: true },
  owner: anything,
  load: list,
  commit: { ...anything, mayPromise: true },
  append: { returns: "object", mayPromise: true },
  appendAll: { ...list, mayPromise: true },
  approve: { returns: "object", mayPromise: true },
  approvals: list,
  pending: list,
  resolution: anything,
  find: anything,
  draft: anything,
  inquiries: list,
  read: { ...list, mayPromise: true },
  session: anything,
  sessions: list,
  since: list,
  fact: anything,
  journalId: { returns: "string" },
  noteChild: anything,
  children: list,
  callOf: anything,
  leftCalls: { returns: "boolean" },
  lookAtIndexes: { returns: "object" },
  rebuildIndexes: anything,
  head: { ...anything, mayPromise: true },
  verify: { ...anything, mayPromise: true },
  close: { ...anything, mayPromise: true },
};
const values = ["hub", "place", "shared", "test", "now", "housekeeping"] as const satisfies (keyof Store)[];

type Method = keyof typeof methods;
type Code = (...args: unknown[]) => unknown;

/** A store is wrapped once, however many sessions of it are opened. */
const wrapped = new WeakMap<object, Store>();

/** Checks results of an embedder's store: a promise taken for an epoch or a list would fail much later, far from its cause. */
export function wrapStore(store: Store): Store {
  const known = wrapped.get(store);
  if (known) return known;
  const checked: Record<string, unknown> = {};
  for (const name of ["hub", "housekeeping"] as const)
    if (typeof store[name] !== "object") throw new SageError("config-invalid", reason("store-lacks", { method: name }));
  for (const name of values) Object.defineProperty(checked, name, { get: () => store[name], enumerable: true });
  for (const [name, kind] of Object.entries(methods)) {
    if (typeof store[name as Method] !== "function")
      throw new SageError("config-invalid", reason("store-lacks", { method: name }));
    checked[name] = (...args: unknown[]) => returned(name, kind, (store[name as Method] as Code)(...args));
  }
  let closed: { done: unknown } | undefined;
  checked["close"] = () => (closed ??= { done: store.close() }).done;
  wrapped.set(store, checked as unknown as Store);
  wrapped.set(checked, checked as unknown as Store);
  return checked as unknown as Store;
}

function returned(method: string, { returns, mayPromise }: Kind, value: unknown): unknown {
  if (isPromised(value)) {
    if (mayPromise) return andThen(value, (result) => fit(method, returns, result));
    Promise.resolve(value).catch(() => {}); // refused here: that it fails as well is no news
    throw unfit(method, returns, "promise");
  }
  return fit(method, returns, value);
}

function fit(method: string, returns: Kind["returns"], value: unknown): unknown {
  if (returns === "anything" || kindOf(value) === returns) return value;
  throw unfit(method, returns, kindOf(value));
}

function unfit(method: string, expected: Kind["returns"], came: string) {
  return new SageError("config-invalid", reason("store-returned", { method, expected, came }));
}
