import { spawn } from "node:child_process";
import { Readable, Writable } from "node:stream";
import {
  client,
  methods,
  ndJsonStream,
  type ClientCapabilities,
  type CreateElicitationRequest,
  type RequestPermissionRequest,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { program, type Machine } from "./cli.ts";
import { until } from "./until.ts";

export type Asked<P> = { params: P; signal: AbortSignal; answer(result: object): void };

/** An editor: the official client of the protocol, and a real `sage acp` behind it. */
export async function openEditor(
  here: Machine,
  {
    model,
    capabilities = {},
    env = {},
  }: { model: string; capabilities?: ClientCapabilities; env?: Record<string, string> },
) {
  const child = spawn(process.execPath, [program, "acp", "--model", model], {
    ...{ cwd: here.cwd, env: { ...here.env, ...env }, stdio: ["pipe", "pipe", "pipe"] },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (bytes: Buffer) => (out += bytes.toString("utf8")));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (err += text));
  child.stdin.on("error", () => {});
  const ended = new Promise<number | null>((done) => child.on("close", done));
  const updates: SessionUpdate[] = [];
  const permissions: Asked<RequestPermissionRequest>[] = [];
  const forms: Asked<CreateElicitationRequest>[] = [];
  const keep =
    <P>(list: Asked<P>[]) =>
    ({ params, signal }: { params: P; signal: AbortSignal }) =>
      new Promise<never>((answer, fail) => {
        list.push({ params, signal, answer });
        signal.addEventListener("abort", () => fail(new Error("folded")));
      });
  const connection = client({ name: "test" })
    .onNotification(methods.client.session.update, ({ params }) => void updates.push(params.update))
    .onRequest(methods.client.session.requestPermission, keep(permissions))
    .onRequest(methods.client.elicitation.create, keep(forms))
    .connect(ndJsonStream(Writable.toWeb(child.stdin), Readable.toWeb(child.stdout) as ReadableStream<Uint8Array>));
  const { agent } = connection;
  const initialized = await agent
    .request(methods.agent.initialize, { protocolVersion: 1, clientCapabilities: capabilities })
    .catch((error: unknown) => {
      throw new Error(`it did not begin: ${err}`, { cause: error });
    });
  let seenPermissions = 0;
  let seenForms = 0;
  return {
    agent,
    initialized,
    updates,
    ended,
    pid: child.pid ?? 0,
    output: () => out,
    errors: () => err,
    /** Past the library, as a broken editor might. */
    write: (text: string) => void child.stdin.write(text),
    permission: () =>
      until(
        () => permissions[seenPermissions] && permissions[seenPermissions++],
        () => `no permission was asked\n${err}`,
      ),
    form: () =>
      until(
        () => forms[seenForms] && forms[seenForms++],
        () => `no form was asked\n${err}`,
      ),
    text: () =>
      updates
        .flatMap((one) =>
          one.sessionUpdate === "agent_message_chunk" && one.content.type === "text" ? [one.content.text] : [],
        )
        .join(""),
    prompt: (sessionId: string, text: string) =>
      agent.request(methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text }] }),
    kill: () => child.kill("SIGKILL"),
    async close() {
      child.stdin.end();
      const late = setTimeout(() => child.kill("SIGKILL"), 5_000);
      await ended;
      clearTimeout(late);
    },
  };
}

export type Updated<K extends SessionUpdate["sessionUpdate"]> = Extract<SessionUpdate, { sessionUpdate: K }>;

export const ofKind = <K extends SessionUpdate["sessionUpdate"]>(updates: readonly SessionUpdate[], kind: K) =>
  updates.filter((one): one is Updated<K> => one.sessionUpdate === kind);
