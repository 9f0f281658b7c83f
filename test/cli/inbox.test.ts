import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Inquired } from "../../src/protocol/facts/inquiry.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import { requestId, resolvedKey, shortRequestId, splitRequestId } from "../../src/protocol/key.ts";
import { Machine, bash, mark } from "../support/cli.ts";

test("inbox --watch shows requests of every session as they open and end", async () => {
  using here = new Machine();
  await here.sage(["sessions"]); // the journal is there
  const words = here.start(["inbox", "--watch"]);
  const lines = here.start(["inbox", "--watch", "--json"]);
  await words.until("No open requests");
  assert.equal(
    (await here.sage(["-p", "one", "--prompt-timeout", "2h", "--model", here.script({ calls: [mark] })])).code,
    3,
  );
  await words.until(/echo ran >> ran\.txt[^]*Waits until[^]*Session \w{8} in .* ago/);
  await lines.until(/"type":"requested"/); // it says nothing before, and may have been slow to start
  const [request] = await here.pending();
  await here.sage(["answer", request?.id ?? "", "--no", "--reason", "不行"]);
  await words.until(/\w{8}\/\w{5}: Answered .*不行/);
  await lines.until(/"type":"resolved"/);
  for (const one of [words, lines]) one.kill("SIGINT");
  assert.equal((await words.ended).code, 0);
  const told = (await lines.ended).out
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as { type: string; resolution?: { by: string } });
  assert.deepEqual(
    told.map(({ type }) => type),
    ["requested", "resolved"],
  );
  assert.ok(told[1]?.resolution?.by);
});

test("answer --stop ends the turn where nothing runs it, and needs no model for that", async () => {
  using here = new Machine();
  const model = here.script({ calls: [bash("touch a"), bash("touch b")] }, { text: "?" });
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const [first, second] = await here.pending();
  const stopped = await here.sage(["answer", first?.id ?? "", "--stop", "--reason", "enough"]);
  assert.equal(stopped.code, 0);
  assert.match(stopped.out, /Recorded for Bash touch a: .*enough.*\nTurn stopped\./);
  assert.deepEqual(await here.pending(), [], "the other request went with the turn");
  const [ended] = await here.facts("turn.ended");
  assert.equal(ended?.data["status"], "cancelled");
  assert.deepEqual([here.file("a"), here.file("b")], [undefined, undefined]);
  const late = await here.sage(["answer", second?.id ?? "", "--yes"]);
  assert.equal(late.code, 1);
  assert.match(late.err, /stopped the turn/);
  assert.match((await here.sage(["sessions"])).out, /idle/);
});

test("the inbox is a line for each request; an id shows the whole of it, also the short one, in both languages", async () => {
  using here = new Machine();
  const long = `printf '${"很长的文字 ".repeat(40)}' > a.txt`;
  await here.sage(["-p", "画一座灯塔", "--model", here.script({ calls: [bash(long)] })]);
  await here.sage(["-p", "the other", "--model", here.script({ calls: [mark] })]);
  const requests = await here.pending();
  const short = (task: string, out: string) =>
    new RegExp(`^(\\w{8}/\\w{5}) +\\d+ \\S+ +project +${task} `, "m").exec(out)?.[1] ?? "";
  const { out } = await here.sage(["inbox"]);
  assert.equal(out.trimEnd().split("\n").length, 3, out);
  assert.match(out, /Bash echo ran >> ran\.txt\n/);
  assert.match(out, /See one with sage inbox <id>, answer it with sage answer <id>\./);
  const id = short("画一座灯塔", out);
  assert.ok(requests.some((one) => one.id.startsWith(id.slice(0, 8))));
  for (const row of (await drawn(here, ["inbox"])).split("\n")) assert.ok(row.length <= 60, row);
  const whole = (await here.sage(["inbox", id])).out;
  assert.ok(whole.split("很长的文字").length > 40);
  assert.match(whole, new RegExp(`sage answer ${id} --yes`));
  const one = JSON.parse((await here.sage(["inbox", id, "--json"])).out) as { id: string };
  assert.ok(requests.some((request) => request.id === one.id));
  const zh = (await here.sage(["inbox", "--lang", "zh"])).out;
  assert.match(zh, /用 sage inbox <编号> 查看，用 sage answer <编号> 回答。/);

  assert.equal((await here.sage(["inbox", "nobody/nothing"])).code, 2);
  await here.sage(["answer", id, "--no", "--reason", "不行"]);
  const ended = await here.sage(["inbox", id]);
  assert.deepEqual([ended.code, ended.out], [1, ""]);
  assert.match(ended.err, /Answered .*不行/);
});

/** As a narrow terminal shows it. */
async function drawn(here: Machine, args: string[]): Promise<string> {
  const terminal = here.terminal(args, { cols: 60 });
  await terminal.code;
  return terminal.screen().trimEnd();
}

test("five letters that are those of two requests of a session name neither", async () => {
  using here = new Machine();
  assert.equal((await here.sage(["-p", "go", "--model", here.script({ calls: [bash("touch a")] })])).code, 3);
  const [request] = await here.pending();
  const store = sqliteStore(join(here.env["SAGE_HOME"] ?? "", "journal.db"));
  const asked = store.pending(request?.session)[0] as InputRequest;
  const [ended, open] = twinsIn("twins");
  store.create("twins", { cwd: here.cwd, version: "test" });
  const epoch = store.claim("twins");
  const [at, { key }] = [Date.now(), splitRequestId(open)];
  const data = { ...asked, id: open, session: "twins" };
  store.commit("twins", epoch, [{ session: "twins", seq: 2, key, type: "input.requested", at, data }]);
  store.release("twins", epoch);
  const over = { requestId: ended, by: "Lin", surface: "cli", at, outcome: "declined" } as const;
  store.append("twins", { key: resolvedKey(splitRequestId(ended).key), type: "input.resolved", at, data: over });
  store.close();
  const refused = await here.sage(["answer", shortRequestId(open), "--yes"]);
  assert.equal(refused.code, 2, refused.err);
  assert.match(refused.err, new RegExp(`is not the whole name of a request.*\n.*${open}`));
  assert.equal((await here.sage(["answer", open, "--no"])).code, 0, "its whole id does");
});

/** Two requests of a session with the same five letters. */
function twinsIn(session: string): [string, string] {
  const seen = new Map<string, string>();
  for (let step = 0; ; step++) {
    const id = requestId(session, `t0/${step}/0/permit0`);
    const other = seen.get(shortRequestId(id));
    if (other !== undefined) return [other, id];
    seen.set(shortRequestId(id), id);
  }
}

test("answer --ask: the agent replies, here with --run or in the process that runs the session, and the request stays open", async () => {
  using here = new Machine();
  const file = join(here.dir, "asked.json");
  const turns = { "": [{ calls: [mark] }, { text: "done" }], inquiry: [{ text: "因为 sed 不够用" }] };
  writeFileSync(file, JSON.stringify(turns));
  const model = `scripted/${file}`;
  assert.equal((await here.sage(["-p", "go", "--model", model])).code, 3);
  const [request] = await here.pending();
  const id = request?.id ?? "";
  const both = await here.sage(["answer", id, "--ask", "why?", "--yes"]);
  assert.equal(both.code, 2);
  const left = await here.sage(["answer", id, "--ask", "why?"]);
  assert.deepEqual([left.code, left.err], [0, ""]);
  assert.match(left.out, /Nothing runs this session now/);
  const asked = await here.sage(["answer", id, "--ask", "为什么？", "--run", "--model", model]);
  assert.deepEqual([asked.code, asked.err], [0, ""]);
  assert.match(asked.out, /The agent replies.*:\n.*因为 sed 不够用/);
  assert.equal((await here.facts("inquiry.replied")).length, 2, "the one before was replied to as well");
  assert.deepEqual(
    (await here.pending()).map((one) => one.id),
    [id],
  );
  assert.equal(here.file("ran.txt"), undefined);
  const shown = (await here.sage(["inbox", id])).out;
  assert.match(
    shown,
    /Inquiry[^\n]*why\?[^]*因为 sed 不够用[^]*Inquiry[^\n]*为什么？[^]*因为 sed 不够用[^]*sage answer/,
  );
  const { inquiries } = JSON.parse((await here.sage(["inbox", id, "--json"])).out) as { inquiries: Inquired[] };
  assert.deepEqual(
    inquiries.map(({ made, reply }) => [made.text, reply?.text]),
    [
      ["why?", "因为 sed 不够用"],
      ["为什么？", "因为 sed 不够用"],
    ],
  );

  const running = here.start(["--resume", request?.session ?? "", "--model", model]);
  await running.until(/Allow\?/);
  const other = await here.sage(["answer", id, "--ask", "and now?"]);
  assert.match(other.out, /因为 sed 不够用/);
  await running.until(/Inquiry[^\n]*and now\?[^]*因为 sed 不够用[^]*Allow\?/);
  running.type("? still\ny\n");
  await running.until(/Inquiry by you: still[^]*因为 sed 不够用[^]*done/);
  running.end();
  await running.ended;
  assert.equal((await here.facts("inquiry.replied")).length, 4);
});
