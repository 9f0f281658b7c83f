import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCard } from "../../support/feishu/card-check.ts";
import { gallery } from "./gallery.ts";

/** Without code: commands, paths and names of sessions are the same in every language. */
const prose = (text: string) => text.replace(/^```[^]*?^```$/gm, "").replace(/`[^`\n]*`/g, "");

test("no English sentence and no open id stands on a card that a Chinese reader sees", async () => {
  const kept = await gallery("zh");
  assert.ok(kept.length > 25);
  for (const { name, message } of kept) {
    const shown = [message.text, message.summary ?? ""].map(prose).join("\n");
    assert.doesNotMatch(shown, /[A-Za-z']+(?: [A-Za-z']+){2,}/, name);
    assert.doesNotMatch(shown, /ou_\w+/, name);
    assert.doesNotMatch(shown, /[\u4e00-\u9fff][:,;!?](?!\w)/, `${name}: a mark of the other script`);
    assert.equal(checkCard(message.card), undefined, name);
  }
});

test("no Chinese word stands on a card that an English reader sees, except names", async () => {
  for (const { name, message } of await gallery("en")) {
    const shown = [message.text, message.summary ?? ""].join("\n").replaceAll("林", "");
    assert.doesNotMatch(shown, /[\u4e00-\u9fff]/, name);
    assert.doesNotMatch(shown, /ou_\w+/, name);
  }
});
