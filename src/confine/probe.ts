import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { mkdirSync, rmSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { join } from "node:path";
import type { ConfineReasonArgs } from "../protocol/confine.ts";
import { noteHelper } from "../processes/registry.ts";
import { createConfinement } from "./confinement.ts";
import { trustedPath } from "./plan.ts";
import { startConfined } from "./start.ts";

export type Probed =
  | { ok: true; version: string; ms: number }
  | ({ ok: false } & ConfineReasonArgs["confine-impossible"]);

/** Runs the real thing once: a command that must work, a write and two connections that must not. */
export async function probe(sageHome: string, home: string): Promise<Probed> {
  if (process.platform !== "linux") return { ok: false, problem: "platform", detail: process.platform };
  const version = /(\d+)\.(\d+)\.\d+/.exec(await output("bwrap", ["--version"]));
  if (version === null) return { ok: false, problem: "bwrap-missing", detail: "" };
  if (Number(version[1]) === 0 && Number(version[2]) < 8)
    return { ok: false, problem: "bwrap-old", detail: version[0] };
  if ((await output("nsenter", ["--version"])) === "") return { ok: false, problem: "nsenter-missing", detail: "" };
  const folder = join(sageHome, "confine", `probe-${randomBytes(4).toString("hex")}`);
  const far = createServer((socket) => socket.end());
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    await new Promise<void>((resolve) => far.listen(0, "127.0.0.1", resolve));
    return await attempt(folder, { sageHome, home, port: (far.address() as AddressInfo).port, version: version[0] });
  } catch (error) {
    return explained(error instanceof Error ? error.message : String(error));
  } finally {
    far.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function attempt(
  root: string,
  { sageHome, home, port, version }: { sageHome: string; home: string; port: number; version: string },
): Promise<Probed> {
  // Beside Sage's state and not in it: in there it would not be seen.
  const parts = {
    roots: [],
    home,
    sageHome,
    key: "probe",
    readable: [],
    writable: [],
    kept: [root],
    hiding: () => () => true,
  };
  const confinement = createConfinement(parts);
  try {
    const run = (script: string) => runNoted(confinement, sageHome, script);
    await run("true"); // opens the network, which commands share
    const from = performance.now();
    await run("true");
    const ms = performance.now() - from;
    const script = `echo in
      (echo >/usr/sage-probe || echo >${quoted(join(root, "x"))}) 2>/dev/null && echo wrote
      (exec 9<>/dev/tcp/127.0.0.1/${port}) 2>/dev/null && echo reached
      exec 9<>/dev/tcp/127.0.0.1/3128 && printf 'CONNECT probe.invalid:443 HTTP/1.1\\r\\n\\r\\n' >&9 && head -c 12 <&9`;
    const said = await run(script);
    if (said.replace(/\s+/g, " ").trim() !== "in HTTP/1.1 403")
      return { ok: false, problem: "leaks", detail: said.trim().slice(0, 200) };
    return { ok: true, version, ms };
  } finally {
    confinement.close();
  }
}

async function runNoted(confinement: ReturnType<typeof createConfinement>, sageHome: string, script: string) {
  const env = { PATH: process.env["PATH"] ?? "/usr/bin:/bin" };
  const as = { repository: "read", hosts: [], writable: [] } as const;
  const launch = await confinement.launch({ cwd: "/tmp", env, as, reach: () => ({ allowed: false }) });
  const child = startConfined(launch, ["bash", "--noprofile", "--norc", "-c", script]);
  child.once("exit", noteHelper(sageHome, "probe", child.pid));
  let said = "";
  for (const pipe of [child.stdout, child.stderr])
    pipe.setEncoding("utf8").on("data", (text: string) => (said += text));
  child.stdin.end();
  await new Promise<void>((resolve, reject) => child.once("close", () => resolve()).once("error", reject));
  const { failed } = await launch.over();
  if (failed !== undefined) throw new Error(said.trim() || failed);
  return said;
}

/** The remedy depends on what bwrap says. */
function explained(message: string): Probed {
  const detail = message.replace(/^bwrap: /, "").slice(0, 200);
  if (/uid map|RTM_NEWADDR/.test(message)) return { ok: false, problem: "user-namespaces", detail };
  if (/No space left|ENOSPC/.test(message)) return { ok: false, problem: "nested", detail };
  if (/mount proc|not permitted|new namespace failed/i.test(message))
    return { ok: false, problem: "container", detail };
  return { ok: false, problem: "other", detail };
}

function output(program: string, args: readonly string[]): Promise<string> {
  const env = { PATH: trustedPath(process.env["PATH"] ?? "", [process.cwd()]) };
  return new Promise((resolve) => execFile(program, args, { env }, (error, text) => resolve(error ? "" : text)));
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
