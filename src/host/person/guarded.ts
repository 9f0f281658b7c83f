import type { Redaction } from "../../config/secrets/redact.ts";
import type { Store } from "../../journal/store/store.ts";
import type { LooseResponse } from "../../protocol/facts/answer.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Command, CommandReply, Host, InboxEvent, WatchEvent } from "../../protocol/host/host.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import type { Sender } from "../../protocol/sender.ts";
import { rightOf, type Act, type Right } from "../guard.ts";
import { createVeil, type Veil } from "./veil.ts";

/** A remote person, with the rights they were admitted with. */
export type RemotePerson = {
  /** Whose name every command carries, whatever the sender wrote. */
  sender: Required<Pick<Sender, "by" | "surface" | "person">> & Pick<Sender, "device" | "signed">;
  /** Asked again with each command: the settings may have changed. */
  may(act: Act): boolean;
  /** Folders in which they may begin sessions, by name; the first is the default. */
  folders(): Readonly<Record<string, string>>;
  redaction: Redaction;
  /** Aborted when they may no longer be here. */
  signal: AbortSignal;
};

/** The host as one person may use it from elsewhere: stamps and checks what they send, veils what they see, ends with their key. */
export function guarded(host: Host, store: Pick<Store, "find" | "load">, person: RemotePerson): Host {
  const veil = createVeil(person.redaction);
  const requestOf = (id: string) => store.find(id)?.request;

  const check = (command: Command): Command => {
    if (person.signal.aborted) throw new SageError("key-unknown", reason("device-key-unknown", {}));
    checkRight(rightOf(command, requestOf), command);
    return stamped(meant(command), person.sender);
  };

  /** The person's view is masked in places; their command means what is there. */
  const meant = (command: Command): Command => {
    switch (command.type) {
      case "open":
        checkModel(command.model);
        return { ...command, cwd: allowedFolder(command.cwd, person.folders()) };
      case "choose":
        checkModel(command.model);
        return command;
      case "respond": {
        const request = requestOf(command.response.requestId);
        return request ? { ...command, response: unveiled(request, command.response, veil) } : command;
      }
      case "saveDraft": {
        const request = requestOf(command.requestId);
        return request ? { ...command, draft: veil.lift(request, command.draft) } : command;
      }
      default:
        return command;
    }
  };

  function checkRight(right: Right, command: Command): void {
    const { by } = person.sender;
    if (right === "look" || (right !== "answer" && person.may(right))) return;
    if (right === "approve") throw new SageError("not-permitted", reason("may-not-approve", { by }));
    if (!person.may("talk")) throw new SageError("not-permitted", reason("may-not-talk", { by }));
    const request = command.type === "respond" ? requestOf(command.response.requestId) : undefined;
    if (!request || person.may("approve") || beginnerOf(store, request.session) === by) return;
    throw new SageError("not-permitted", reason("may-not-answer", { by }));
  }

  async function* watched(...[session, options]: Parameters<Host["watch"]>): AsyncGenerator<WatchEvent> {
    const signal = AbortSignal.any([options.signal, person.signal]);
    const seen = veil.watching();
    for await (const event of host.watch(session, { ...options, signal })) {
      const shown = seen(event);
      if (shown) yield shown;
    }
  }

  async function* waiting(options: { signal: AbortSignal }): AsyncGenerator<InboxEvent> {
    const signal = AbortSignal.any([options.signal, person.signal]);
    for await (const event of host.inbox({ signal })) yield veil.inbox(event);
  }

  return {
    watch: watched,
    inbox: waiting,
    async send<C extends Command>(command: C): Promise<CommandReply<C["type"]>> {
      try {
        const reply = await host.send(check(command));
        checkKnown(command, reply);
        return veil.reply(reply) as CommandReply<C["type"]>;
      } catch (error) {
        return refusalOf(error);
      }
    },
  };
}

function stamped(command: Command, sender: RemotePerson["sender"]): Command {
  if (!("by" in command)) return command;
  const { device: _device, signed: _signed, typed: _typed, ...rest } = command;
  const { signed, ...from } = sender;
  return { ...rest, ...from, ...(command.type === "respond" && signed !== undefined && { signed }) };
}

function beginnerOf(store: Pick<Store, "load">, session: string): string | undefined {
  const first = store.load(session).find(({ type }) => type === "user.said");
  if (first?.type !== "user.said") return undefined;
  const { name, by } = first.data;
  return name === undefined ? by : (name ?? undefined);
}

/** A path is no name, whatever it leads to. */
function allowedFolder(name: string, folders: Readonly<Record<string, string>>): string {
  const known = Object.keys(folders);
  const called = name === "" ? (known[0] ?? "") : name;
  if (Object.hasOwn(folders, called)) return folders[called] ?? "";
  throw new SageError("not-permitted", reason("folder-unknown", { name, known }));
}

/** A script is a local file, and its error messages quote its content. */
function checkModel(model = ""): void {
  if (model.startsWith("scripted/")) throw new SageError("not-permitted", reason("model-not-from-afar", { model }));
}

/** A file that no call of any session has changed is not there for people who are elsewhere: they do not look around on this machine. */
function checkKnown(command: Command, reply: CommandReply): void {
  if (command.type === "receipts" && reply.ok && "receipts" in reply && reply.file && reply.receipts.length === 0)
    throw new SageError("session-unknown", reason("receipts-unknown", { given: command.of ?? "" }));
}

/** A person's answer with the originals in place of texts that they saw masked. */
export function unveiled(request: InputRequest, response: LooseResponse, veil: Veil): LooseResponse {
  if (response.type === "granted" && response.input !== undefined && veil.masked(request) > 0)
    throw new SageError("request-invalid", reason("masked-not-edited", {}));
  return veil.lift(request, response);
}
