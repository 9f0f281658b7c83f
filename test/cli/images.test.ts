// Pictures that a person names in a message, as they type, paste and drop them.
import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { imagesIn, withImages } from "../../src/cli/assemble/images.ts";
import type { Command } from "../../src/protocol/host/host.ts";
import { pixel } from "../support/picture.ts";
import { workspace } from "../support/sage.ts";
import { wordsOf } from "../support/worded.ts";

test("pictures are found where they are named: @file, and paths as terminals paste them", () => {
  using here = workspace();
  const dir = here.dir;
  for (const name of ["a.png", "my shot.png", "截图.png", "noending"]) writeFileSync(here.path(name), pixel);
  writeFileSync(here.path("text.png"), "words");
  mkdirSync(here.path("folder.png"));
  symlinkSync("/nowhere", here.path("dangling.png"));
  const table: [string, string[]][] = [
    ["look at @a.png", ["a.png"]],
    ["look at @a.png, please. And (@noending).", ["a.png", "noending"]],
    ["看看@截图.png，怎么样", ["截图.png"]],
    ['@"my shot.png"', ["my shot.png"]],
    ["@my\\ shot.png", ["my shot.png"]],
    [`${dir}/a.png`, ["a.png"]],
    [`'${dir}/my shot.png' what?`, ["my shot.png"]],
    [`${dir}/my\\ shot.png `, ["my shot.png"]],
    [`"${dir}/a.png"\n${dir}/a.png`, ["a.png"]],
    [`file://${dir}/my%20shot.png`, ["my shot.png"]],
    ["a.png alone is a word, and so is 'a.png'", []],
    ["@text.png @folder.png @dangling.png @none.png a@b.png file://% @", []],
  ];
  for (const [text, expected] of table)
    assert.deepEqual(
      imagesIn(text, dir).map(({ name }) => name),
      expected,
      text,
    );
});

test("a picture that is too large is refused before it is read, and the message is not said", async () => {
  using here = workspace();
  writeFileSync(here.path("large.png"), Buffer.concat([pixel, Buffer.alloc(6_000_000)]));
  const sent: Command[] = [];
  const send = withImages(async (command) => {
    sent.push(command);
    return { ok: true, seq: 1 } as never;
  }, here.dir);
  const from = { session: "s", by: "Lin", surface: "test" };
  const reply = await send({ type: "say", text: "@large.png", ...from });
  assert.equal(reply.ok ? "" : wordsOf(reply), "large.png is a picture of 6.0 MB; pictures may have 3.7 MB");
  assert.deepEqual(sent, []);
  await send({ type: "say", text: "hello", ...from });
  assert.deepEqual(sent, [{ type: "say", text: "hello", ...from }]);
});
