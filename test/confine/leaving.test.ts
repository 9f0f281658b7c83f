// A command that was blocked may run outside once. A person says so wherever they answer.
import assert from "node:assert/strict";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { Machine, bash } from "../support/cli.ts";
import { cannotConfine, confinedPlace } from "../support/confine.ts";
import { allow } from "../support/sage.ts";
import { team } from "../surfaces/feishu/team.ts";

const skip = await cannotConfine();
const blocked = bash('echo "[$SAGE_CONFINED]" >> ran.txt; curl -sf http://blocked.invalid/');
const twice = [{ calls: [blocked] }, { calls: [blocked] }, { text: "done" }];

test(
  "sage answer --yes --outside lets the command out once, says so, and goes with no rule and no edit",
  { skip },
  async () => {
    using here = new Machine();
    mkdirSync(here.env["SAGE_HOME"] ?? "");
    const settings = {
      sandbox: { mode: "contain" },
      permissions: { allow: ["Bash(echo:*)", "Bash(curl:*)", "Edit(./ran.txt)"] },
    };
    writeFileSync(join(here.env["SAGE_HOME"] ?? "", "settings.json"), JSON.stringify(settings));
    const running = here.terminal(["--plain", "--model", here.script(...twice), "fetch it"]);
    await running.until(/Run it outside the sandbox, once/);
    const [request] = await here.pending();
    const answer = (...flags: string[]) => here.sage(["answer", request?.id ?? "", ...flags]);
    const refused = await answer("--always", "--outside");
    assert.deepEqual([refused.code, /--outside/.test(refused.err)], [2, true]);
    const { out } = await answer("--yes", "--outside");
    assert.match(out, /allowed, to run outside the sandbox/);
    await running.until(/done/);
    assert.equal(here.file("ran.txt"), "[1]\n[]\n");
  },
);

test(
  "a Feishu card offers it, asks again, and is closed with a word about it; in words it is /allow outside",
  { skip },
  async () => {
    using place = confinedPlace({ mine: true });
    const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
    const where = { root: "", home: place.home, state: place.state, session: "s", kept: [], mayRead: () => () => true };
    await using sage = await team({
      confining: createConfining(sandbox, { apart: false })(where),
      rules: [allow("Bash(echo:*)"), allow("Bash(curl:*)"), allow("Edit(./ran.txt)")],
      script: [...twice.slice(0, 2), { calls: [blocked] }, { calls: [blocked] }, { text: "done" }],
    });
    where.root = sage.cwd;
    const { lin, feishu } = sage;
    lin.say("fetch it");
    const card = await sage.card(lin.chat, "Run outside the sandbox, once");
    const clicked = await lin.click(card.id, "allow_outside");
    assert.equal(clicked.confirm?.title, "Run it outside the sandbox?");
    assert.equal(clicked.toast?.content, "Allowed once, outside the sandbox");
    assert.match(JSON.stringify(feishu.message(card.id).card), /allowed once, outside the sandbox/);
    const again = await sage.sees(lin.chat, /\/allow #\d+ outside/);
    lin.say(/\/allow #\d+ outside/.exec(again.text)?.[0] ?? "");
    await sage.sees(lin.chat, /Done/);
    assert.equal(readFileSync(join(sage.cwd, "ran.txt"), "utf8"), "[1]\n[]\n[1]\n[]\n");
  },
);
