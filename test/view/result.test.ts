// A call's result as people read it: words for the model are left out, and the rest is in the reader's language.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { suite, test } from "node:test";
import { createView } from "../../src/surfaces/plain/view.ts";
import { folded } from "../support/fold.ts";
import type { Lang } from "../../src/texts/language.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { createPaint } from "../../src/view/lines/paint.ts";
import { resultOf } from "../../src/view/items/result.ts";
import { transcriptOf } from "../../src/view/transcript/transcript.ts";
import { allow, bash, sageWith, workspace, type TestSage } from "../support/sage.ts";

const shown = (sage: TestSage, lang: Lang) =>
  transcriptOf(sage.facts())
    .filter((item) => item.type === "call")
    .map((item) => resultOf(item, texts(lang)))
    .map(({ text, notes }) => [text, ...notes].filter((one) => one !== "").join(" | "));

const plainly = (sage: TestSage) => {
  const view = folded(createView({ t: texts("en"), paint: createPaint(false), width: 80 }).draw);
  const pieces = sage.facts().flatMap((fact) => view.fact(fact));
  return pieces.flatMap((piece) => ("lines" in piece ? piece.lines : [piece.stream])).join("\n");
};

suite("a result", () => {
  test("of a command tells how it ended in the reader's language, and the model's words are not shown", async () => {
    using here = workspace();
    const script = [{ calls: [bash("echo 一; exit 3"), bash("true"), bash("rm x")] }, { text: "ok" }];
    const rules = [allow("Bash(echo:*)"), allow("Bash(exit:*)"), { ...allow("Bash(rm:*)"), behavior: "deny" } as const];
    await using sage = await sageWith({ script, dir: here.dir, rules, permissionMode: "bypass" });
    await sage.say("go");
    await sage.outcome();
    assert.match(sage.result(0, 0), /一\nExit code 3\.$/);
    assert.match(sage.result(0, 2), /Leave this undone or ask/);
    const [exit, silent, refused] = shown(sage, "zh");
    assert.equal(exit, "一 | 退出码 3");
    assert.equal(silent, "没有输出");
    assert.match(refused ?? "", /Bash\(rm:\*\)/);
    assert.deepEqual(shown(sage, "en").slice(0, 2), ["一 | Exit code 3", "No output"]);
    const lines = plainly(sage);
    assert.match(lines, /│ 一\n {2}Exit code 3\n/);
    assert.doesNotMatch(lines, /get round|Not run:/);
  });

  test("with a comment and a changed input shows what ran and printed, and neither is told twice", async () => {
    using here = workspace();
    const script = [{ calls: [bash("echo one > a; cat a")] }, { text: "ok" }];
    await using sage = await sageWith({ script, dir: here.dir });
    await sage.say("go");
    const [request] = await sage.open();
    const input = { command: "echo two > a; cat a" };
    await sage.answer({ type: "granted", requestId: request?.id ?? "", input });
    await sage.outcome();
    assert.match(sage.result(0, 0), /two\n\(The person changed this call/);
    assert.deepEqual(shown(sage, "en"), ["two"]);
  });

  test("of an edit that cannot work is told to people in their words, and to the model in its own", async () => {
    using here = workspace();
    writeFileSync(here.path("a.txt"), "one\n");
    const edit = { tool: "Edit", input: { file_path: "a.txt", old_string: "x", new_string: "y" } };
    const script = [{ calls: [edit] }, { calls: [{ tool: "Read", input: { file_path: "a.txt" } }] }];
    await using sage = await sageWith({ script: [...script, { calls: [edit] }, { text: "ok" }], dir: here.dir });
    await sage.say("go");
    await sage.outcome();
    assert.match(sage.result(0, 0), /^You have not read .*Read it before editing it\.$/);
    const [unread, , missing] = shown(sage, "en");
    assert.match(unread ?? "", /a\.txt exists, and the agent has not read it yet\.$/);
    assert.match(missing ?? "", /^The text to replace is not in .*a\.txt\.$/);
    assert.match(shown(sage, "zh")[2] ?? "", /没有要替换的文字/);
  });

  test("keeps secrets out of what people and the model read, with the cut where it was", async () => {
    using here = workspace();
    const env = { ...process.env, MY_API_TOKEN: "abcdefgh12345678" };
    const script = [{ calls: [bash("echo abcdefgh12345678 and more; exit 2")] }, { text: "ok" }];
    await using sage = await sageWith({ script, dir: here.dir, env, permissionMode: "bypass" });
    await sage.say("go");
    await sage.outcome();
    const [told] = shown(sage, "en");
    assert.match(told ?? "", /^(?!.*abcdefgh).* and more \| Exit code 2$/);
  });
});
