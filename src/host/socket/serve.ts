import type { Command, CommandReply, Host, InboxEvent, Refused, WatchEvent } from "../../protocol/host/host.ts";
import { refusalOf } from "../../protocol/host/refusal.ts";
import { reason, said, SageError } from "../../protocol/reasons/reason.ts";
import { protocols, type Call, type Hello, type Said, type Welcome } from "../../remote/frames.ts";
import { closeCodes, type CloseCode, type OpenWire, type Wire } from "../../remote/wire.ts";
import { parseCall, parseCommand, parseHello } from "./messages.ts";

/** A host as the owner of a key may use it, or the reason why not. */
export type Greeting =
  | (Omit<Welcome, "hello" | "now"> & {
      host: Host;
      /** Connections and commands are counted by this id of the person; without one they are not. */
      person?: string;
      /** Aborted when the key is revoked: the connection ends at once. With the reason "unsure" the device comes again. */
      revoked?: AbortSignal;
    })
  | { close: CloseCode; why: string };

export type Greet = (hello: Hello, key: string | undefined) => Greeting | Promise<Greeting>;

export type Limits = {
  /** Connections before their hello. */ unknown: number;
  helloMs: number;
  /** Of one connection, at once. */ watches: number;
  /** Of one connection, at once. */ commands: number;
  /** Of one person. */ connections: number;
  /** Of everybody. */ all: number;
  /** Commands of one person. */ aSecond: number;
  beatMs: number;
};

export const webLimits: Limits = {
  unknown: 32,
  helloMs: 2_000,
  watches: 32,
  commands: 64,
  connections: 20,
  all: 500,
  aSecond: 30,
  beatMs: 20_000,
};

/** Processes on one journal share one wire for all sessions that they follow. */
export const processLimits: Limits = { ...webLimits, watches: 256, commands: 256 };

export type WireServer = {
  /** Serves one connection with the host that its greeting assigns. */
  serve(open: OpenWire, greet: Greet): void;
  /** Counts a command of this person, from here or over HTTP. Throws when there were too many within a second. */
  countCommand(person: string): void;
  /** Ends every connection: come back later. */
  close(): void;
};

/** Counts connections and commands of everybody who comes. */
export function createWireServer(limits: Limits = webLimits): WireServer {
  const wires = new Set<Wire>();
  const ofPerson = new Map<string, number>();
  const rates = new Map<string, { tokens: number; at: number }>();
  let unknown = 0;
  let over = false;

  const countCommand = (person: string) => {
    const now = performance.now();
    const rate = rates.get(person) ?? { tokens: limits.aSecond, at: now };
    const tokens = Math.min(limits.aSecond, rate.tokens + ((now - rate.at) / 1_000) * limits.aSecond);
    rates.set(person, { tokens: Math.max(0, tokens - 1), at: now });
    if (tokens < 1) throw new SageError("queue-full", reason("too-many-a-second", { limit: limits.aSecond }));
  };

  const enter = (wire: Wire, person: string | undefined): boolean => {
    if (person === undefined) return true;
    const now = ofPerson.get(person) ?? 0;
    if (now >= limits.connections) return false;
    ofPerson.set(person, now + 1);
    wire.over.addEventListener("abort", () => {
      const left = (ofPerson.get(person) ?? 1) - 1;
      if (left > 0) ofPerson.set(person, left);
      else ofPerson.delete(person); // how fast they were is remembered: coming back must not help
    });
    return true;
  };

  return {
    countCommand,
    close() {
      over = true;
      for (const wire of wires) wire.close(closeCodes.leaving);
    },
    serve(open, greet) {
      let talk: ((call: Call) => void) | undefined;
      /** Calls that came with the hello, before it was answered. */
      let early: unknown[] | undefined;
      const wire = open((frame) => {
        if (talk) return talk(parseCall(frame));
        if (early) {
          if (early.push(frame) > limits.unknown) throw new Error("too many calls before the welcome");
          return;
        }
        early = [];
        const { hello, key } = parseHello(frame);
        void welcome(hello, key).catch(() => wire.close(closeCodes.leaving));
      });
      wires.add(wire);
      let waits = true;
      unknown++;
      const known = () => {
        if (waits) unknown--;
        waits = false;
        clearTimeout(patience);
      };
      const patience = setTimeout(() => wire.close(closeCodes.noHello), limits.helloMs).unref();
      wire.over.addEventListener("abort", () => {
        wires.delete(wire);
        known();
      });
      if (wire.over.aborted) {
        wires.delete(wire);
        return known();
      }
      if (over) return wire.close(closeCodes.leaving);
      if (unknown > limits.unknown || wires.size > limits.all) return wire.close(closeCodes.tooMany);

      async function welcome(hello: Hello, key: string | undefined): Promise<void> {
        const protocol = Math.max(...hello.protocols.filter((protocol) => protocols.includes(protocol)));
        if (!protocols.includes(protocol))
          return wire.close(closeCodes.noCommonProtocol, `spoken here: ${protocols.join(", ")}`);
        const greeting = await greet(hello, key);
        known();
        if ("close" in greeting) return wire.close(greeting.close, greeting.why);
        const { host, person, revoked, ...told } = greeting;
        if (wire.over.aborted) return;
        if (!enter(wire, person)) return wire.close(closeCodes.tooMany);
        const end = () => wire.close(revoked?.reason === "unsure" ? closeCodes.leaving : closeCodes.keyUnknown);
        revoked?.addEventListener("abort", end, { once: true });
        wire.over.addEventListener("abort", () => revoked?.removeEventListener("abort", end));
        if (revoked?.aborted) return end();
        void wire.send({ hello: protocol, ...told, now: Date.now() } satisfies Said);
        const count = person === undefined ? undefined : () => countCommand(person);
        talk = converse(wire, host, { me: told.me, limits, count });
        try {
          for (const frame of early ?? []) talk(parseCall(frame));
        } catch {
          wire.close(closeCodes.notUnderstood);
        }
      }
    },
  };
}

type Conversation = { me: Welcome["me"]; limits: Limits; count: (() => void) | undefined };

/** Serves one connection after its hello. */
function converse(wire: Wire, host: Host, { me, limits, count }: Conversation): (call: Call) => void {
  const watches = new Map<number, AbortController>();
  let commands = 0;
  let beats = 0;
  const say = (frame: Said) => wire.send(frame);
  const beat = setInterval(() => void say({ beat: ++beats }), limits.beatMs).unref();
  wire.over.addEventListener("abort", () => {
    clearInterval(beat);
    for (const watch of watches.values()) watch.abort();
  });

  return (call) => {
    switch (call.do) {
      case "unwatch":
        return watches.get(call.id)?.abort();
      case "send":
        return void send(call);
      case "watch": {
        const { id, session, after, last } = call;
        const from = after !== undefined ? { after } : last !== undefined ? { last } : {};
        return void tell(id, (signal) => host.watch(session, { ...from, signal }));
      }
      case "inbox":
        return void tell(call.id, (signal) => host.inbox({ signal }));
      default:
        return call satisfies never;
    }
  };

  async function send({ id, command, until }: Call & { do: "send" }): Promise<void> {
    commands++;
    const reply = await replyTo(command, until);
    commands--;
    await say({ id, reply });
  }

  async function replyTo(given: { type: string }, until: number | undefined): Promise<CommandReply> {
    try {
      if (commands > limits.commands) throw tooMany(limits.commands);
      count?.();
      const command = parseCommand(given, me);
      // It may have lain in a buffer between here and there for longer than its sender knows.
      if (until !== undefined && Date.now() > until)
        throw new SageError("request-invalid", reason("sent-too-late", { limitMs: 5_000 }));
      return await host.send(command);
    } catch (error) {
      return refusalOf(error);
    }
  }

  async function tell(id: number, start: (signal: AbortSignal) => AsyncIterable<WatchEvent | InboxEvent>) {
    if (watches.has(id)) return wire.close(closeCodes.notUnderstood, "an id is used twice");
    let ended: Refused | null = null;
    if (watches.size >= limits.watches) ended = refusalOf(tooMany(limits.watches));
    else {
      const controller = new AbortController();
      watches.set(id, controller);
      try {
        for await (const event of start(controller.signal)) await say({ id, event });
      } catch (error) {
        ended = refusalOf(error);
      }
      watches.delete(id);
    }
    await say({ id, ended });
  }
}

function tooMany(limit: number): SageError {
  return new SageError("queue-full", reason("too-many-at-once", { limit }));
}

/** Everybody on an owner's socket is anonymous, an agent's commands too: it tells and takes nothing. People speak by facts. */
export function onlyTells(host: Host, takes: readonly Command["type"][] = ["sessions", "pending"]): Host {
  const send = async (command: Command): Promise<CommandReply> => {
    if (takes.includes(command.type)) return host.send(command);
    return refusalOf(
      new SageError("request-invalid", said(`this socket tells what happens; it takes no "${command.type}"`)),
    );
  };
  return { ...host, send: send as Host["send"] };
}
