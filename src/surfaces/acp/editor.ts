import type { SageErrorCode } from "../../protocol/reasons/reason.ts";
import type { Command, CommandReply, Host, Refused } from "../../protocol/host/host.ts";
import { errorText } from "../../texts/shared/error.ts";
import type { Words } from "./input.ts";

/** The editor at the other end of the line, as the surface needs it. */
export type Editor = {
  /** Asks the editor. Aborted, the question is taken back, and the editor may fold it. */
  request(method: string, params: unknown, signal?: AbortSignal): Promise<Record<string, unknown>>;
  notify(method: string, params: unknown): void;
  reply(id: string | number, result: unknown): void;
  refuse(id: string | number, code: number, message: string): void;
  incoming: AsyncIterable<{ method: string; params: Record<string, unknown>; id?: string | number }>;
};

export const codes = {
  parse: -32700,
  invalidRequest: -32600,
  methodUnknown: -32601,
  paramsInvalid: -32602,
  internal: -32603,
  notFound: -32002,
} as const;

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly code: number;
  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

export function rpcCode(code: SageErrorCode): number {
  if (code === "session-unknown" || code === "request-unknown") return codes.notFound;
  return code === "input-invalid" || code === "usage" ? codes.paramsInvalid : codes.internal;
}

/** The reply to a command, or its refusal in the editor's terms. */
export async function send<C extends Command>(
  host: Pick<Host, "send">,
  { t }: Pick<Words, "t">,
  command: C,
): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw refusalFrom(reply, { t });
}

/** A refusal of the host in the editor's terms. */
export function refusalFrom(reply: Refused, { t }: Pick<Words, "t">): Refusal {
  return new Refusal(rpcCode(reply.code), errorText(reply, t));
}
