import { spawn } from "node:child_process";
import { closeSync, openSync } from "node:fs";
import type { Server, Socket } from "node:net";
import { noteHelper } from "../../processes/registry.ts";

/** A network of its own that commands may join. */
type Net = {
  port: number;
  /** Words in front of a program that is to run in it. */ enter: string[];
  close(): void;
};

const PORT = 3128;
const OPENING_MS = 10_000;

/** The network that all commands of a sandbox share: opened when the first comes, and again when the last attempt failed. */
export function createNetwork(
  accept: (connection: Socket) => void,
  { path, sageHome }: { path(): string; sageHome: string },
) {
  let net: Promise<Net> | undefined;
  return {
    async open(): Promise<Net> {
      net ??= openNet(accept, path(), sageHome);
      return net.catch((error: unknown) => {
        net = undefined;
        throw error;
      });
    },
    close(): void {
      void net?.then((opened) => opened.close()).catch(() => {});
      net = undefined;
    },
  };
}

/**
 * Makes a network with nothing in it but a loopback. A helper inside of it listens, hands its listening socket over and ends: the
 * connections of the confined arrive in this process, and nothing stands between. It ends with its standard input, too: when this process
 * is killed, bwrap may not have tied it to that yet.
 */
async function openNet(accept: (connection: Socket) => void, path: string, sageHome: string): Promise<Net> {
  const code = `const s=require("net").createServer();s.listen(${PORT},"127.0.0.1",()=>process.send(process.pid,s));process.stdin.on("end",()=>process.exit()).resume()`;
  // With a /dev of its own bwrap would nest two user namespaces, and nobody could enter the inner one.
  const words = ["--unshare-user", "--unshare-net", "--die-with-parent", "--dev-bind", "/", "/"];
  const helper = spawn("bwrap", [...words, process.execPath, "-e", code], {
    stdio: ["pipe", "ignore", "pipe", "ipc"],
    env: { PATH: path },
    detached: true,
  });
  helper.once("exit", noteHelper(sageHome, "probe", helper.pid));
  let said = "";
  helper.stderr!.setEncoding("utf8").on("data", (text: string) => (said = (said + text).slice(0, 500)));
  const timer = setTimeout(() => helper.kill("SIGKILL"), OPENING_MS);
  try {
    const [pid, server] = await new Promise<[number, Server]>((resolve, reject) => {
      helper.once("message", (own, handle) => resolve([Number(own), handle as Server]));
      helper.once("error", reject);
      helper.once("exit", () => reject(new Error(said.trim() || "the network of the sandbox did not open")));
    });
    const descriptors = ["user", "net"].map((name) => openSync(`/proc/${pid}/ns/${name}`, "r"));
    server.on("connection", accept);
    server.on("error", () => {});
    server.unref();
    const [user, net] = descriptors.map((descriptor) => `/proc/${process.pid}/fd/${descriptor}`);
    return {
      port: PORT,
      enter: ["nsenter", "--preserve-credentials", `--user=${user}`, `--net=${net}`, "--"],
      close() {
        server.close();
        descriptors.forEach(closeSync);
      },
    };
  } finally {
    clearTimeout(timer);
    helper.stdin?.on("error", () => {}).end();
    helper.unref();
    helper.stderr!.destroy();
  }
}
