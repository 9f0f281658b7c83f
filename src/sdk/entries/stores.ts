// ## Stores
export { openSession } from "../host.ts";
export type { SessionLog } from "../../journal/session/session.ts";
export type { DatabaseOptions } from "../../journal/database/database.ts";
export type { Housekeeping, LocalHousekeeping } from "../../journal/store/housekeeping.ts";
export type { Hub, Listener } from "../../journal/store/hub.ts";
export type { IndexState } from "../../journal/database/indexes.ts";
export type {
  Appended,
  Beat,
  Awaitable,
  Consented,
  InboundFact,
  InboundType,
  LocalStore,
  NewFact,
  Page,
  ReadOptions,
  SessionRow,
} from "../../journal/store/store.ts";
