// Threats B1, F2: nothing that a model, a folder's name, a settings file or a title holds steers the person's terminal.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { bash, Machine } from "../support/cli.ts";

/** Clears the screen, renames the window, does both in eight bits, turns a line around, conceals and colours what follows. */
const evil = "\x1b[2J\x1b]0;owned\x07\u009b2J\u009d0;owned\u009c\u202e\x1b[8m\x1b[31m\r";
const steering = /[[\p{Cc}\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069]--[\n\t\r\x1b]]/v;

/** What is left of a terminal's output without Sage's colours, line ends, and what a line editor needs. */
function raw(text: string): string {
  return text.replaceAll(/\x1b\[(?:(?:1|2|7|22|27|31|32|33|36|39)m|\d+G|0J)|\r+\n/g, "");
}

function assertCalm(text: string, what: string, { own = true } = {}): void {
  const left = own ? raw(text) : text;
  assert.doesNotMatch(left, steering, what);
  assert.doesNotMatch(left, /\x1b|\r/, what);
}

test("B1: -p shows what a model says on a terminal without obeying it; a pipe gets it as it is", async () => {
  using machine = new Machine();
  const said = { text: `before ${evil} after\n第二行` };
  const terminal = machine.terminal(["-p", "go", "--model", machine.script(said)]);
  assert.equal(await terminal.code, 0);
  assertCalm(terminal.raw(), "-p");
  assert.match(terminal.raw(), /before ‹U\+001B›\[2J‹U\+001B›\]0;owned‹U\+0007›‹U\+009B›2J.* after\r\n第二行/);

  for (const format of ["json", "stream-json"]) {
    const lines = machine.terminal(["-p", "go", "--output-format", format, "--model", machine.script(said)]);
    assert.equal(await lines.code, 0);
    assertCalm(lines.raw(), format);
  }
  assert.equal((await machine.sage(["-p", "go", "--model", machine.script(said)])).out, `${said.text}\n`);
});

test("B1: a model's error message and a refused call reach a terminal as text", async () => {
  using machine = new Machine();
  const failing = machine.terminal(["-p", "go", "--model", `local/${evil}`]);
  await failing.code;
  assertCalm(failing.raw(), "error");
  const refused = machine.terminal([
    "-p",
    "go",
    "--deny",
    "--model",
    machine.script({ calls: [bash(`echo '${evil}'`)] }, { text: "ok" }),
  ]);
  await refused.code;
  assertCalm(refused.raw(), "refusal");
});

test("B1, F2: names of folders, titles, keys and rules of an untrusted repository reach a terminal as text", async () => {
  using machine = new Machine({ folder: `pro${evil.replaceAll("\r", "")}ject` });
  execFileSync("git", ["init", "-q"], { cwd: machine.cwd });
  mkdirSync(join(machine.cwd, ".sage"));
  const settings = join(machine.cwd, ".sage/settings.json");
  const rule = `Bash(echo ${evil})`;
  writeFileSync(
    settings,
    JSON.stringify({
      [`evil${evil}`]: 1,
      permissions: { allow: [rule] },
      hooks: { waiting: [{ matcher: evil, command: `true ${evil}` }] },
    }),
  );
  const model = machine.script({ calls: [{ tool: "Bash", input: { command: `touch '${evil}'` } }] });
  assert.equal((await machine.sage(["-p", `do ${evil} it`, "--model", model])).code, 3);
  await machine.sage(["permissions", "add", "allow", `Bash(ls ${evil})`, "--to", "user"]);

  const [request] = await machine.pending();
  const commands = [
    ["sessions"],
    ["sessions", "--search", "do"],
    ["sessions", "rename", "x", evil],
    ["why"],
    ["inbox"],
    ["inbox", request?.id ?? ""],
    ["inbox", "--json"],
    ["doctor"],
    ["trust"],
    ["permissions"],
    ["permissions", "explain", `echo ${evil}`],
    ["answer", `nobody${evil}`],
    ["export"],
    ["-c", "-p", "--model", `nobody/${evil}`],
    [`--fl${evil}ag`],
  ];
  await Promise.all(
    commands.map(async (args) => {
      const terminal = machine.terminal(args);
      terminal.type("\r");
      await terminal.code;
      assertCalm(terminal.raw(), `${JSON.stringify(args)}: ${JSON.stringify(terminal.raw())}`);
    }),
  );
  // Into a pipe as well: who reads `sage why | less -R` has a terminal too.
  for (const args of [["why"], ["sessions"], ["doctor"], ["trust"], ["permissions"]]) {
    const { out, err } = await machine.sage(args);
    assertCalm(out + err, JSON.stringify(args), { own: false });
  }

  writeFileSync(settings, JSON.stringify({ permissions: { [`evil${evil}`]: 1, allow: [`Bash(${evil}`] } }));
  for (const text of [
    JSON.stringify({ permissions: { allow: 3, [evil]: 1 }, hooks: { [evil]: [] } }),
    `{"${evil}`,
    evil,
  ]) {
    writeFileSync(settings, text);
    const { out, err } = await machine.sage(["doctor"]);
    assertCalm(out + err, text, { own: false });
  }
});
