import assert from "node:assert/strict";
import { globSync } from "node:fs";
import { basename } from "node:path";
import { test } from "node:test";
import { dice, roundsOf, seed, thorough } from "../faults/rounds.ts";
import { acts, fromHelp, generated, present } from "./exec/commands.ts";
import { holdAgainst } from "./exec/held.ts";
import { missing } from "./exec/trace.ts";

/** A long run says at once what it finds. */
const tell = (found: string) => void (thorough && console.error(found));
const skip = missing !== undefined ? `needs ${missing}` : undefined;

test(
  "A2 every program that really ran, and every denied file that was shown, would have met a rule",
  { skip },
  async (t) => {
    const { here, absent } = present();
    if (absent.length > 0) t.diagnostic(`left out, since they are not here: ${absent.join(", ")}`);
    const thrown = dice(seed);
    // A short run takes some of the examples, another part with each seed.
    const chosen = thorough
      ? here.flatMap(([, form]) => [...new Set(acts.map((act) => form(act)))])
      : here.map(([, form], n) => form(acts[n % acts.length]!)).filter((_, n) => n % 5 === seed % 5);
    const drawn = Array.from({ length: roundsOf(12) }, () => generated(thrown, here));
    const commands = [...chosen, ...drawn];
    const { wrong, met } = await holdAgainst(commands, tell);
    t.diagnostic(`${commands.length} commands, ${met} of which did what a rule may be against`);
    assert.deepEqual(wrong, []);
    assert.ok(met * 3 > commands.length, `${met} of ${commands.length} did anything`);
  },
);

test("A2 options that take a program, as the programs' own help names them", { skip: skip ?? !thorough }, async (t) => {
  const programs = globSync("/usr/bin/*").map((path) => basename(path));
  const commands = fromHelp(programs);
  const { wrong, met } = await holdAgainst(commands, tell);
  t.diagnostic(`${commands.length} commands from the help of ${programs.length} programs, ${met} of which ran it`);
  // Scripts of the system start all kinds of programs; the one that the option names is what counts.
  assert.deepEqual(
    wrong.filter((found) => /^(runs rm|shows|writes)/.test(found)),
    [],
  );
});
