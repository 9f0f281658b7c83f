import { realpathSync, statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isObject } from "../../base/issue.ts";
import { readInstallation } from "../../config/home/home.ts";
import { version } from "../../config/version.ts";
import { createQueue, createRpc } from "../../guest/rpc.ts";
import { readLines, type Json } from "../../guest/peer.ts";
import { oneLine } from "../../base/visible.ts";
import type { SurfaceStore } from "../../protocol/host/surface-store.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { attachAcp } from "../../surfaces/acp/index.ts";
import { accountGuard, accountPerson, person } from "../host/journal.ts";
import { exitCodes } from "../process/stdout.ts";
import { readFlagsOnly } from "../process/flags.ts";
import { onTermination } from "../process/termination.ts";
import { absoluteModelSpec, modelOf } from "../../host/assembly/model-choice.ts";
import { openStore } from "../assemble/open-sage.ts";
import { openDaemon } from "../serve/daemon.ts";

const options = { model: { type: "string" } } as const;

/** `sage acp`: Sage as an agent in an editor that speaks the Agent Client Protocol. Standard output belongs to the protocol. */
export async function acp(args: string[]): Promise<number> {
  const { values, lang, t } = readFlagsOnly("acp", args, options);
  const write = ownStdout();
  const installation = readInstallation(process.env);
  const { home } = installation;
  const spec = absoluteModelSpec(values.model);
  if (!modelOf(installation, spec)) throw new SageError("model-unavailable", said(t.noModel));
  const store = openStore(home);
  const daemon = openDaemon({
    store,
    own: nothingKept(),
    env: process.env,
    lang,
    spec,
    guard: accountGuard(home),
    personOf: accountPerson(home),
    warn: (text) => console.error(`sage: ${oneLine(text)}`),
  });
  const { host } = daemon;
  const leaving = onTermination(() => host.close(), { SIGTERM: 0, SIGHUP: 0, SIGINT: 0 });
  const editor = createRpc(openWire(write), { version: "2.0" });
  const over = attachAcp(host, editor, {
    version,
    lang,
    by: person(),
    model: spec,
    signal: leaving.signal,
    checkFolder(cwd) {
      if (isAbsolute(cwd) && statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) return realpathSync(cwd);
      throw new SageError("config-invalid", said(`cwd should be the absolute path of a folder; got ${oneLine(cwd)}`));
    },
  });
  const code = await Promise.race([over, leaving.code]);
  if (typeof code === "number") return code;
  await host.close(); // the editor has gone: nothing is resolved, and every session can be gone on with
  return exitCodes.success;
}

function ownStdout(): (text: string) => void {
  const { stdout, stderr } = process;
  const write = stdout.write.bind(stdout);
  stdout.write = stderr.write.bind(stderr);
  return (text) => void write(text);
}

/** Messages on standard input and output, one a line. What is no message is answered as the protocol says. */
function openWire(write: (text: string) => void): Parameters<typeof createRpc>[0] {
  const messages = createQueue<Json>();
  const send = (message: unknown) => write(`${JSON.stringify(message)}\n`);
  const refuse = (code: number, message: string, id: unknown = null) =>
    send({ jsonrpc: "2.0", id, error: { code, message } });
  readLines(process.stdin, {
    line(text) {
      if (text.trim() === "") return;
      let message: unknown;
      try {
        message = JSON.parse(text);
      } catch {
        return refuse(-32700, "this is no JSON");
      }
      if (!isObject(message)) return refuse(-32600, "a message is one JSON object");
      const { id, method } = message as Json;
      const answers = "result" in message || "error" in message;
      if (!answers && typeof method !== "string") return refuse(-32600, "a request names its method", id ?? null);
      messages.push(message);
    },
    tooLong: () => refuse(-32600, "the line is too long"),
  });
  for (const end of ["end", "close", "error"]) process.stdin.on(end, () => messages.end());
  return { messages, send };
}

/** A daemon remembers whose sessions it continues; here the editor says it. */
function nothingKept(): SurfaceStore {
  return {
    get: () => undefined,
    set() {},
    delete: () => false,
    list: () => [],
    claim: () => true,
    atomically: (work) => work(),
  };
}
