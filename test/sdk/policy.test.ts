// The policy of a machine holds in every door: deny, ask, sandbox, proof and retention, over settings, code, options and answers.
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { suite, test } from "node:test";
import { promisify } from "node:util";
import { cannotConfine } from "../support/confine.ts";
import { Machine } from "../support/cli.ts";
import { workspace } from "../support/sage.ts";

const skip = process.platform !== "linux" || (await cannotConfine()); // a file of root's is shown by a mount
const policy = {
  permissions: { deny: ["Bash(node:*)"], ask: ["Bash(touch:*)"] },
  sandbox: { mode: "contain" },
  signed: ["hard"],
  retention: { sessions: "1h" },
};

/** The command line on a machine whose administrator has written this. */
function on(dir: string, content: unknown = policy): string[] {
  const etc = join(dir, "policy");
  mkdirSync(etc, { recursive: true, mode: 0o755 });
  writeFileSync(join(etc, "policy.json"), typeof content === "string" ? content : JSON.stringify(content), {
    mode: 0o644,
  });
  const root = process.getuid?.() === 0 ? [] : ["--unshare-user", "--uid", "0", "--gid", "0"];
  const shown = ["/etc/passwd", "/etc/group"].flatMap((file) => ["--ro-bind", file, file]);
  return [
    "--die-with-parent",
    ...root,
    "--dev-bind",
    "/",
    "/",
    "--tmpfs",
    "/etc",
    ...shown,
    "--ro-bind",
    etc,
    "/etc/sage",
  ];
}

const program = join(import.meta.dirname, "policy-doors.ts");
const run = promisify(execFile);
async function through(dir: string, door: string, content?: unknown): Promise<unknown> {
  const { stdout } = await run("bwrap", [...on(dir, content), process.execPath, program, dir, door]);
  return JSON.parse(stdout.trim().split("\n").at(-1)!) as unknown;
}

suite("on a machine with a policy", { skip, concurrency: 2 }, () => {
  for (const door of ["cli", "serve", "worker", "sdk", "sdk-rules", "sdk-settings", "executor", "assemble"])
    test(`${door}: nothing that settings, code or an answer says loosens it`, async () => {
      using here = workspace();
      const seen = (await through(here.dir, door)) as Record<string, unknown>;
      const rule = { text: "Bash(touch:*)", source: "managed" };
      assert.deepEqual(seen, {
        ...{ denied: "managed", signed: true, confined: true, suggestions: [] },
        why: { code: "asked-by-rule", args: { rule: { ...rule, ...(seen["why"] as Args).args.rule } } },
      });
      assert.equal((seen["why"] as Args).args.rule["source"], "managed");
    });

  for (const door of ["keeps-sdk", "keeps-executor"])
    test(`${door.slice(6)}: a session past its time goes when it starts`, async () => {
      using here = workspace();
      assert.equal(await through(here.dir, door), false);
      using other = workspace();
      assert.equal(await through(other.dir, door, { retention: { sessions: "3h" } }), true, "and none before");
    });

  test("serve: a session past its time goes when it starts", async () => {
    using here = new Machine();
    await through(here.dir, "keeps");
    const env = { SAGE_HOME: join(here.dir, "home") };
    const serving = here.start(["serve", "--port", "0", "--model", here.script({ text: "x" })], {
      env,
      under: ["bwrap", ...on(here.dir)],
    });
    await serving.until(/1 .*session/);
    serving.kill("SIGTERM");
    assert.doesNotMatch((await here.sage(["sessions"], { env })).out, /hello/);
  });

  test("a policy that cannot be read stops an embedder's program where it begins", async () => {
    using here = workspace();
    await assert.rejects(through(here.dir, "sdk", "{"), /policy\.json/);
  });
});

type Args = { args: { rule: Record<string, unknown> } };
