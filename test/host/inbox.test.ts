// Requests that wait over all sessions, and the history of one, to readers that take their time.
import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { createHost } from "../../src/host/host.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import { sqliteStore } from "../../src/journal/sqlite/sqlite.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Host, InboxEvent } from "../../src/protocol/host/host.ts";
import { sageWith, workspace } from "../support/sage.ts";
import { until } from "../support/until.ts";

const lin = { by: "Lin", surface: "test" };
const hostOn = (store: Store) =>
  createHost({ store, version: "test", executor: () => Promise.reject(new Error("nothing runs here")) });
const body = { kind: "permission", tool: "Bash", input: { command: "make" } } as const;
const ask = (host: Host, id: string, conversation = "c") =>
  host.send({ type: "ask", agent: ["other"], conversation, cwd: "/", id, body });
const titled = (n: number) =>
  ({ key: `title/${n}`, type: "session.titled", at: n, data: { title: `${n}`, ...lin } }) as const;

function reading<E>(stream: AsyncIterable<E>) {
  const events: E[] = [];
  const done = (async () => {
    for await (const event of stream) events.push(event);
  })();
  return { events, done };
}

suite("the inbox", () => {
  test("is whole at first, then facts of every session and every process change it", async () => {
    using here = workspace();
    const [mine, theirs] = [sqliteStore(here.path("journal.db")), sqliteStore(here.path("journal.db"))];
    const [host, other] = [hostOn(mine), hostOn(theirs)];
    await ask(host, "a");
    const leaving = new AbortController();
    const { events, done } = reading(host.inbox({ signal: leaving.signal }));
    await until(() => events.length > 0);
    const [first] = events;
    assert.ok(first?.type === "inbox");
    assert.deepEqual([first.requests.length, first.more, first.sessions.length], [1, 0, 1]);
    await ask(other, "b");
    await other.send({ type: "open", session: "s", cwd: here.dir });
    const requestId = mine.pending()[0]?.id ?? "";
    await other.send({ type: "respond", response: { type: "denied", requestId }, ...lin });
    await until(() => events.length === 4);
    assert.deepEqual(
      events.slice(1).map((event) => event.type === "fact" && event.fact.type),
      ["input.requested", "session.opened", "input.resolved"],
    );
    leaving.abort();
    await done;
    await Promise.all([host.close(), other.close()]);
  });

  test("names 200 requests and 100 sessions at most, and how many more there are", async () => {
    const host = hostOn(memoryStore());
    for (let n = 0; n < 203; n++) await ask(host, `${n}`, `${n % 10}`);
    for (let n = 0; n < 120; n++) await host.send({ type: "open", session: `s${n}`, cwd: "/" });
    const leaving = new AbortController();
    for await (const event of host.inbox({ signal: leaving.signal })) {
      assert.ok(event.type === "inbox");
      assert.deepEqual([event.requests.length, event.more, event.sessions.length], [200, 3, 100]);
      leaving.abort();
    }
    await host.close();
  });

  test("a reader that falls far behind gets a new list instead of everything that it missed", async () => {
    const store = memoryStore();
    const host = hostOn(store);
    await host.send({ type: "open", session: "s", cwd: "/" });
    const leaving = new AbortController();
    const stream = host.inbox({ signal: leaving.signal })[Symbol.asyncIterator]();
    assert.equal(((await stream.next()).value as InboxEvent).type, "inbox");
    for (let n = 0; n < 5_000; n++) store.append("s", titled(n));
    const { value: next } = (await stream.next()) as { value: InboxEvent };
    assert.equal(next.type === "inbox" && next.sessions[0]?.title, "4999");
    store.append("s", titled(5_000));
    const { value: last } = (await stream.next()) as { value: InboxEvent };
    assert.equal(last.type === "fact" && last.fact.key, "title/5000");
    leaving.abort();
    await host.close();
  });
});

suite("the history of a session", () => {
  test("comes in pages, whole and in order, while it grows", async () => {
    const store = memoryStore();
    const host = hostOn(store);
    await host.send({ type: "open", session: "s", cwd: "/" });
    for (let n = 0; n < 1_200; n++) store.append("s", titled(n));
    const leaving = new AbortController();
    const seen: number[] = [];
    let ready = 0;
    let grown = 1_200;
    for await (const event of host.watch("s", { signal: leaving.signal })) {
      if (event.type === "ready") ready++;
      if (event.type === "fact") seen.push(event.fact.seq);
      if (seen.length % 100 === 50 && grown < 1_300) store.append("s", titled(grown++));
      // A reader that stalls: more facts than are kept for it come meanwhile.
      if (ready === 1 && grown < 8_000) while (grown < 8_000) store.append("s", titled(grown++));
      if (seen.length === 8_001) leaving.abort();
    }
    assert.deepEqual(
      seen,
      store.load("s").map(({ seq }) => seq),
    );
    assert.equal(ready, 1);
    await host.close();
  });

  test("can begin with the last turns, and with the messages that they answer", async () => {
    using here = workspace();
    const script = ["one", "two", "three"].map((text) => ({ text }));
    await using sage = await sageWith({ dir: here.dir, script });
    for (const text of ["a", "b", "c"]) {
      await sage.say(text);
      await sage.outcome();
    }
    const told = async (last: number) => {
      const texts: string[] = [];
      const leaving = new AbortController();
      for await (const event of sage.host.watch(sage.session, {
        last,
        signal: leaving.signal,
      })) {
        if (event.type === "ready") leaving.abort();
        if (event.type === "fact" && event.fact.type === "user.said") texts.push(event.fact.data.text);
        if (event.type === "fact" && event.fact.type === "turn.ended") texts.push("end");
      }
      return texts;
    };
    assert.deepEqual(await told(1), ["c", "end"]);
    assert.deepEqual(await told(2), ["b", "end", "c", "end"]);
    assert.deepEqual(await told(9), ["a", "end", "b", "end", "c", "end"]);
  });
});
