import assert from "node:assert/strict";
import { test } from "node:test";
import { actsOf } from "../../support/slash.ts";
import { sageOnScreen } from "../../support/terminal.ts";

test("Esc twice on an empty editor lists the messages to go back to; with something written it does not", async () => {
  let asked = 0;
  const run = async () => ({ text: `list ${++asked}` });
  await using at = await sageOnScreen([], { acts: actsOf({ rewind: run }) });
  await at.until("What would you like to do?");
  at.type("half");
  at.press("\x1b", "\x1b");
  at.press("\x15");
  await at.until("What would you like to do?");
  assert.equal(asked, 0);
  at.press("\x1b", "\x1b");
  await at.until("list 1");
});
