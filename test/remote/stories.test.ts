// The same story on a host of this process and on one behind a WebSocket: the same bytes. `npm run test:remote` plays all of the terminal's.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test } from "node:test";
import { attachPlain } from "../../src/surfaces/plain/index.ts";
import { attachTerminal } from "../../src/surfaces/terminal/index.ts";
import { askUser, bash, question, sageWith, workspace } from "../support/sage.ts";
import { overWire } from "../support/over-wire.ts";
import { createScreen } from "../support/screen.ts";
import { untilText } from "../support/until.ts";

const story = [
  { text: "First **I** look.\n\n- one\n- two", reasoning: "hm", calls: [bash("echo one; echo two > two.txt")] },
  { text: "Now a question.", calls: [askUser(question("Which colour? 哪个颜色？"))] },
  { text: "All done 完成." },
];

/** Times and ids are of each run. */
const told = (text: string, session: string) =>
  text
    .replaceAll(session, "<session>")
    .replace(/\d\d:\d\d/g, "<time>")
    .replace(/(,| for) \d+ m?s\b/g, "");

async function begun(
  over: "here" | "remote",
  surface: "tui" | "plain",
  script: Parameters<typeof sageWith>[0]["script"],
) {
  const here = workspace();
  const sage = await sageWith({ dir: here.dir, script, watched: false });
  const wire = over === "remote" ? await overWire(sage.host, { by: "Lin", surface }) : undefined;
  const leaving = new AbortController();
  return {
    sage,
    wire,
    host: wire?.host ?? sage.host,
    signal: leaving.signal,
    dir: here.dir,
    async end(done: Promise<unknown>) {
      leaving.abort();
      await done;
      await wire?.close();
      await sage[Symbol.asyncDispose]();
      here[Symbol.dispose]();
    },
  };
}

async function onLines(over: "here" | "remote"): Promise<string> {
  const at = await begun(over, "plain", story);
  const [input, output] = [new PassThrough(), new PassThrough()];
  let text = "";
  output.setEncoding("utf8").on("data", (part: string) => (text += part));
  const { session } = at.sage;
  const given = { session, input, output, task: "go", lang: "en", color: true, by: "Lin", once: true } as const;
  const plain = attachPlain(at.host, { ...given, signal: at.signal });
  await untilText(/Allow\?.* > /, () => text);
  input.write("y\n");
  await untilText(/Answer.* > /, () => text);
  input.write("2\n");
  await untilText(/Comment for the agent.* > /, () => text);
  input.write("\n");
  await plain.done;
  await at.end(plain.done);
  return told(text.replaceAll(at.dir, "<dir>"), session);
}

function terminalOn(at: Awaited<ReturnType<typeof begun>>) {
  const screen = createScreen({ cols: 80, rows: 30, scrollback: 5_000 });
  const surface = attachTerminal(at.host, {
    ...{ session: at.sage.session, lang: "en", by: "Lin", header: "Sage", model: "scripted", task: "go" },
    ...{ env: { TERM: "xterm-256color" }, logDirectory: at.dir, device: screen.terminal, signal: at.signal },
  });
  const shows = async (pattern: RegExp | string) => (await untilText(pattern, screen.all)).text;
  const answer = async (...keys: string[]) => {
    await new Promise((resolve) => setTimeout(resolve, 400)); // the silence that a panel wants
    for (const key of keys) screen.press(key);
  };
  return { screen, surface, shows, answer };
}

async function onScreen(over: "here" | "remote"): Promise<string> {
  const at = await begun(over, "tui", story);
  const { screen, surface, shows, answer } = terminalOn(at);
  await shows("Permission needed");
  await answer("1", "\r");
  await shows("Which colour?");
  await answer("2", "\r");
  await shows("Done: 2 tool calls");
  const text = told((await screen.all()).replaceAll(at.dir, "<dir>"), at.sage.session);
  await at.end(surface.done);
  screen[Symbol.dispose]();
  return text;
}

suite("a host that is elsewhere", () => {
  test("lines are the same bytes as on a host in this process", async () => {
    assert.equal(await onLines("remote"), await onLines("here"));
  });

  test("the terminal shows the same screen, and the same scrollback", async () => {
    assert.equal(await onScreen("remote"), await onScreen("here"));
  });

  test("the link breaks in the midst of a stream and again under a permission: nothing is drawn twice, and nothing is allowed meanwhile", async () => {
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`).join(" ");
    const script = [{ text: words, delayMs: 1_500, calls: [bash("echo x > x.txt")] }, { text: "The end." }];
    const at = await begun("remote", "tui", script);
    const { screen, surface, shows, answer } = terminalOn(at);
    await shows("word5 ");
    at.wire?.cut();
    await shows("Connection to the host lost");
    await shows("Connected again.");
    await shows("Permission needed");
    // Away while the person presses: the panel says so, and stays.
    at.wire?.greet({ close: 1013, why: "" });
    at.wire?.cut();
    await untilText(/lost\.[^]*lost\./, screen.all);
    await answer("1", "\r");
    await shows("not sent: there is no connection to the host");
    assert.equal((await at.sage.open()).length, 1, "nothing was allowed");
    at.wire?.greet({
      ...{ host: at.sage.host, me: { by: "Lin", surface: "tui" }, person: "Lin", version: "test", journal: "one" },
      may: ["talk", "approve"],
    });
    at.wire?.host.hurry();
    await untilText(/again\.[^]*again\./, screen.all);
    await answer("1", "\r");
    const text = await shows("Done: 1 tool call");
    for (const once of ["word0 ", "word31 ", "word59", "The end.", "● Bash echo x"])
      assert.equal(text.split(once).length, 2, `${once} stands there once:\n${text}`);
    await at.end(surface.done);
    screen[Symbol.dispose]();
  });

  test("another journal behind the same address ends the watch with a word about it", async () => {
    const at = await begun("remote", "plain", [{ text: "Hi." }]);
    const [input, output] = [new PassThrough(), new PassThrough()];
    let text = "";
    output.setEncoding("utf8").on("data", (part: string) => (text += part));
    const { session } = at.sage;
    const given = { session, input, output, task: "go", lang: "en", color: false, by: "Lin" } as const;
    const plain = attachPlain(at.host, { ...given, signal: at.signal });
    const ended = plain.done.then(
      () => undefined,
      (error: unknown) => error as { reason?: { code: string } },
    );
    await untilText("Hi.", () => text);
    at.wire?.greet({
      ...{ host: at.sage.host, me: { by: "Lin", surface: "plain" }, person: "Lin", version: "test", journal: "two" },
      may: ["talk", "approve"],
    });
    at.wire?.cut();
    assert.equal((await ended)?.reason?.code, "journal-changed");
    await at.end(ended);
  });
});
