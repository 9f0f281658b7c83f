import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { probe } from "../../src/confine/probe.ts";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { until } from "../support/until.ts";
import { cannotConfine, confinedPlace } from "../support/confine.ts";
import { allow, bash, sageWith } from "../support/sage.ts";

const skip = process.platform !== "linux" && "there is no bwrap elsewhere";
const impossible = await cannotConfine(); // before the first test puts another bwrap in its way
const sandbox = { mode: "autoAllow", writable: [], readable: [], git: "write", outside: [] } as const;

type Place = ReturnType<typeof confinedPlace>;
/** `planned` is told of every plan before it is used; `over`: nothing runs in the background any more. */
type Confined = {
  calls: { tool: string; input: { command: string; background?: true } }[];
  planned(): void;
  over?(): boolean;
};

function confiningIn({ root, home, state }: Place, session: string) {
  return createConfining(sandbox, { apart: false })({
    root,
    home,
    state,
    session,
    kept: [],
    mayRead: () => () => true,
  });
}

/** Results of calls that run one after the other in a sandbox. */
async function runConfined(place: Place, { calls, planned, over = () => true }: Confined) {
  const confining = confiningIn(place, "test");
  await using sage = await sageWith({
    ...{ dir: place.root, home: place.home, rules: [allow("Bash")] },
    confining: {
      ...confining,
      ready: async () => {}, // this process has tried the broken ones
      problem: () => undefined,
      async launch(command) {
        const launch = await confining.launch(command);
        planned();
        return launch;
      },
    },
    script: [...calls.map((call) => ({ calls: [call] })), { text: "done" }],
  });
  await sage.say("go");
  assert.equal((await sage.outcome()).status, "success");
  await until(over);
  return sage.facts().flatMap((fact) => (fact.type === "call.finished" ? [fact.data] : []));
}

/** Ways in which a bwrap that is there may not do its work. */
const broken = {
  "fails whatever it is told": "exit 1",
  "ends as if all were well": "exit 0",
  "runs the program and no sandbox": 'while [ $# -gt 0 ] && [ "$1" != bash ]; do shift; done; exec "$@"',
};

test(
  "a command never runs plain where bwrap is broken: neither known to be, nor broken since it was tried",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const folder = join(place.dir, "bin");
    const before = process.env["PATH"];
    mkdirSync(folder);
    process.env["PATH"] = `${folder}:${before}`;
    try {
      for (const [name, script] of Object.entries(broken)) {
        const told = 'case "$1" in --version) echo "bubblewrap 0.11.0"; exit;; esac';
        writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${told}\n${script}\n`);
        chmodSync(join(folder, "bwrap"), 0o755);
        assert.equal((await probe(place.state, place.home)).ok, false, name);
        const confining = confiningIn(place, name);
        for (const ready of [confining.ready, async () => {}]) {
          await using sage = await sageWith({
            ...{ dir: place.root, home: place.home, rules: [allow("Bash")] },
            confining: {
              ...confining,
              ready,
              problem: () => (ready === confining.ready ? confining.problem() : undefined),
            },
            script: [
              { calls: [bash("touch made"), { tool: "Bash", input: { command: "touch made", background: true } }] },
              { text: "done" },
            ],
          });
          await sage.say("go");
          assert.equal((await sage.outcome()).status, "success");
          const results = sage.facts().flatMap((fact) => (fact.type === "call.finished" ? [fact.data.ok] : []));
          assert.deepEqual(results, [false, false], name);
          assert.ok(!existsSync(join(place.root, "made")), name);
        }
      }
    } finally {
      process.env["PATH"] = before;
    }
  },
);

test(
  "a bwrap that gives up before it begins is started once more if a mount is gone, and only then",
  { skip: impossible },
  async () => {
    using place = confinedPlace({ mine: true });
    const clone = join(place.root, "clone");
    execFileSync("git", ["init", "-q", clone]);
    const before = process.env["PATH"];
    const folder = join(place.dir, "bin");
    mkdirSync(folder);
    // Opens networks, and gives up every other sandbox.
    const given = join(place.dir, "given-up");
    const script = `case " $* " in *" --args "*)
    if [ -e ${given} ]; then rm ${given}; else : > ${given}; echo "bwrap: Can't find source path" >&2; exit 1; fi;; esac
    PATH=${before}; exec bwrap "$@"`;
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
    process.env["PATH"] = `${folder}:${before}`;
    let plans = 0;
    try {
      const results = await runConfined(place, {
        calls: [bash("echo ran >> first"), bash("echo ran >> second")],
        planned() {
          if (plans++ === 0) rmSync(clone, { recursive: true });
        },
      });
      assert.deepEqual(
        results.map(({ ok }) => ok),
        [true, false],
      );
      assert.match(results[1]?.text ?? "", /^Not run: it could not be confined: bwrap ended before the command began/);
      assert.equal(readFileSync(join(place.root, "first"), "utf8"), "ran\n");
      assert.deepEqual([existsSync(join(place.root, "second")), plans], [false, 3]);
    } finally {
      process.env["PATH"] = before;
    }
  },
);

test(
  "a command whose sandbox was planned around a repository that vanished is planned once more, and never a third time",
  { skip: impossible },
  async () => {
    using place = confinedPlace({ mine: true });
    const clone = (at: number) => join(place.root, `clone${at}`);
    for (const at of [0, 1, 2, 3]) execFileSync("git", ["init", "-q", clone(at)]);
    const third = join(place.root, "third");
    /** Repositories that vanish, one after each plan. */
    const vanishing = [clone(0), undefined, clone(1), clone(2), clone(3), undefined];
    const results = await runConfined(place, {
      calls: [
        bash("echo ran >> first"),
        bash("echo ran >> second"),
        { tool: "Bash", input: { command: "echo ran >> third", background: true } },
      ],
      planned() {
        const gone = vanishing.shift();
        if (gone !== undefined) rmSync(gone, { recursive: true });
      },
      over: () => existsSync(third) && readFileSync(third, "utf8") === "ran\n",
    });
    assert.deepEqual(
      results.map(({ ok }) => ok),
      [true, false, true],
    );
    assert.match(results[1]?.text ?? "", /^Not run: it could not be confined: .* is not what it was/);
    assert.equal(readFileSync(join(place.root, "first"), "utf8"), "ran\n");
    assert.deepEqual([existsSync(join(place.root, "second")), vanishing], [false, []]);
  },
);

test(
  "a background command whose sandbox does not come up can be interrupted, and does not begin afterwards",
  { skip: impossible },
  async () => {
    using place = confinedPlace({ mine: true });
    const [folder, before] = [join(place.dir, "bin"), process.env["PATH"]];
    mkdirSync(folder);
    const real = execFileSync("sh", ["-c", "command -v bwrap"], { encoding: "utf8" }).trim();
    const waits = `case "$1" in --args) : > ${place.dir}/waits; exec sleep 60;; esac`;
    writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${waits}\nexec ${real} "$@"\n`, { mode: 0o755 });
    process.env["PATH"] = `${folder}:${before}`;
    try {
      const confining = confiningIn(place, "held");
      await using sage = await sageWith({
        ...{ dir: place.root, home: place.home, rules: [allow("Bash")] },
        confining: { ...confining, ready: async () => {}, problem: () => undefined },
        script: [{ calls: [{ tool: "Bash", input: { command: "touch made", background: true } }] }, { text: "done" }],
      });
      await sage.say("go");
      await until(() => existsSync(join(place.dir, "waits")));
      await sage.host.send({ type: "interrupt", session: sage.session, by: "Lin", surface: "test" });
      assert.equal((await sage.outcome()).status, "paused");
      assert.match(sage.result(0, 0), /^Interrupted by the person before the command was started/);
      assert.equal(existsSync(join(place.root, "made")), false);
    } finally {
      process.env["PATH"] = before;
    }
  },
);
