import { assemble as assembleParts, type Parts } from "../host/assembly/assemble.ts";
import type { LocalHost } from "../host/host.ts";
import { wrapStore } from "../journal/store/own-store.ts";
import { openSession as openLog, type SessionLog } from "../journal/session/session.ts";
import type { Store } from "../journal/store/store.ts";
import type { Host } from "../protocol/host/host.ts";
import { refusalOf } from "../protocol/host/refusal.ts";
import { reason, SageError } from "../protocol/reasons/reason.ts";
import { memoryStore } from "../journal/store/memory.ts";
import { checkOptions } from "./check-options.ts";
import { processOutputFolder } from "./output-folder.ts";

/** Parts of a host of one's own: the model alone has to be given. */
export type HostParts = Pick<Parts, "model"> & Partial<Omit<Parts, "model">>;

/** Wires a store, a model, tools, rules and options into a host. Throws `config-invalid` for parts that it does not know, or that do not fit. */
export function assemble(parts: HostParts): LocalHost {
  const { store = memoryStore(), output, ...given } = checkOptions("assemble", parts);
  const usual = { rules: [], permissionMode: "default", env: process.env, options: {} } as const;
  const made = { ...usual, ...given, store: wrapStore(store), output: output ?? processOutputFolder() };
  return checkedHost(assembleParts(made));
}

/** Loaded with the first command: whoever only runs tasks needs none of its schemas. */
let messages: Promise<typeof import("../host/socket/messages.ts")> | undefined;

/** A host that refuses commands which are none: code without types, or a body from the network, may send anything. */
export function checkedHost<Own extends Host>(host: Own): Own {
  return {
    ...host,
    async send(given) {
      let command: typeof given;
      try {
        command = copied(given);
        (await (messages ??= import("../host/socket/messages.ts"))).checkCommand(command);
      } catch (error) {
        return refusalOf(error);
      }
      return host.send(command);
    },
    watch: (session, options) => host.watch(session, checkOptions("watch", options)),
    inbox: (options) => host.inbox(checkOptions("inbox", options)),
  };
}

/** A caller may use the object again before it is checked: an answer must not reach the request of the next one. */
function copied<Given>(given: Given): Given {
  try {
    return structuredClone(given);
  } catch {
    throw new SageError("request-invalid", reason("command-not-data", {}));
  }
}

/** Claims the session and reads its facts. */
export function openSession(store: Store, id: string): SessionLog {
  return openLog(wrapStore(store), id);
}
