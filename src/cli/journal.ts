import type { Silence } from "../input/ask.ts";
import { sqliteStore } from "../journal/sqlite.ts";
import type { Store } from "../journal/store.ts";
import { errorOf, said, SageError, type Command, type CommandReply, type Host } from "../protocol/index.ts";
import { sageHome, type Home } from "../config/home.ts";
import { createHost, type LocalHost } from "../host/host.ts";
import { accountGuard, accountPerson } from "./account.ts";
import { hostHome } from "./host-home.ts";
import { version } from "../config/version.ts";

/** The journal alone, for commands that look and answer but run no turn. A command that only looks also reads what it may not write. */
export function openJournal(
  env: NodeJS.ProcessEnv,
  { silence, ...options }: { looks?: boolean; silence?: Silence } = {},
): { host: LocalHost; store: Store; home: Home } {
  const home = sageHome(env);
  const store = sqliteStore(home.journal, options);
  const executor = () => Promise.reject(new SageError("turn-failed", said("this command runs no turn")));
  const people = { guard: accountGuard(home), personOf: accountPerson(home) };
  const parts = { store, version, executor, home: hostHome(home, env), ...(silence && { silence }) };
  return { store, home, host: createHost({ ...parts, ...people }) };
}

/** A command's reply, or the reason why there is none as an error. */
export async function ask<C extends Command>(host: Host, command: C): Promise<CommandReply<C["type"]> & { ok: true }> {
  const reply = await host.send(command);
  if (reply.ok) return reply;
  throw errorOf(reply);
}

/** Only a person at a terminal can agree, and only by saying so. */
export async function agrees(question: string): Promise<boolean> {
  if (!process.stdin.isTTY || !process.stdout.isTTY) return false;
  const { createInterface } = await import("node:readline/promises");
  const reader = createInterface({ input: process.stdin, output: process.stdout });
  const said = await reader.question(question);
  reader.close();
  return /^(y|yes|是)$/i.test(said.trim());
}
