// A server that a folder's own settings name is confined as commands are; a person's own is not.
import assert from "node:assert/strict";
import { once } from "node:events";
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { after, before, test } from "node:test";
import { startServers } from "../../src/host/assembly/confining.ts";
import { cannotConfine, confinedPlace } from "../support/confine.ts";
import { hostile, program, serversIn, tool } from "../support/mcp.ts";
import { allow } from "../support/sage.ts";
import { until } from "../support/until.ts";

const skip = await cannotConfine();
const far = createServer((socket) => socket.end("HTTP/1.1 200 OK\r\n\r\n"));
before(() => once(far.listen(0, "127.0.0.1"), "listening"));
after(() => far.close());
// The sandbox shows folders of programs that PATH names.
process.env["PATH"] = `${dirname(process.execPath)}:${process.env["PATH"]}`;

test(
  "a server of the folder reads no secret, writes nothing outside, reaches no host, and ends when it is closed",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const { root, home, state } = place;
    process.env["HOME"] = home;
    const key = join(home, ".ssh/id_ed25519");
    mkdirSync(dirname(key));
    writeFileSync(key, "the key");
    writeFileSync(join(state, "journal.db"), "the journal");
    writeFileSync(join(root, "readme"), "the workspace");
    const code = join(root, "server.mjs");
    copyFileSync(program, code);
    const tools = ["read", "write", "reach", "stay"].map((name) => tool(name));
    const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
    await using servers = serversIn(
      root,
      hostile(root, tools, { name: "folder", source: "project", code }),
      hostile(root, tools, { name: "mine", code }),
      { start: startServers(sandbox, { root, state, rules: [allow("Bash")] }) },
    );
    const address = `127.0.0.1:${(far.address() as AddressInfo).port}`;
    const listener = { signal: AbortSignal.timeout(30_000), progress() {} };
    const ask = async (at: number, name: string, input: object): Promise<string> => {
      const line = servers.list[at] ?? assert.fail();
      const connection = await line.connection("s", listener.signal);
      const { content } = await connection.call(name, { ...input }, listener);
      return (content as { text: string }[])[0]?.text ?? "";
    };
    const [folder, mine] = [0, 1];
    assert.equal(await ask(mine, "read", { path: key }), "the key", "it would be there to be read");
    assert.match(await ask(mine, "reach", { address }), /^200/);
    assert.equal(await ask(folder, "read", { path: join(root, "readme") }), "the workspace");
    for (const path of [key, join(state, "journal.db"), `/proc/${process.pid}/environ`])
      assert.match(await ask(folder, "read", { path }), /ENOENT/);
    await ask(folder, "write", { path: join(home, ".bashrc") });
    assert.equal(existsSync(join(home, ".bashrc")), false);
    assert.match(await ask(folder, "reach", { address }), /^failed/);
    assert.match(await ask(folder, "reach", { address: "blocked.invalid:80", proxied: true }), /^403/);

    await ask(folder, "stay", {});
    const running = () =>
      readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandOf(pid).includes(`${root}/folder-tools.json`));
    assert.notDeepEqual(running(), []);
    await servers.close();
    await until(() => running().length === 0);
  },
);

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return ""; // it has ended
  }
}
