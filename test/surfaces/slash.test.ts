// Everything that can be typed, at every surface that offers it: what goes to the host, and what the surface does itself.
import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { suite, test } from "node:test";
import type { Command, Host } from "../../src/protocol/host/host.ts";
import type { Editor } from "../../src/surfaces/acp/editor.ts";
import { attachAcp } from "../../src/surfaces/acp/index.ts";
import { attachPlain } from "../../src/surfaces/plain/index.ts";
import { texts } from "../../src/texts/shared/texts.ts";
import { slashTexts } from "../../src/texts/surfaces/slash.ts";
import { offeredAt } from "../../src/view/slash/read.ts";
import {
  entryOf,
  type AnswerSlash,
  type HostSlash,
  type OwnSlash,
  type SlashName,
  type SlashPlace,
} from "../../src/view/slash/table.ts";
import { sageWith, workspace, type TestSage } from "../support/sage.ts";
import { actsOf, between, joined, surroundings } from "../support/slash.ts";
import { sageOnScreen } from "../support/terminal.ts";
import { until } from "../support/until.ts";
import { team } from "./feishu/team.ts";

/** Text that is typed, a command that the host gets for it, and words that the person reads. */
type Case = { typed: string; sends?: Partial<Command>; says?: RegExp };

/** Commands of the host: the same on every surface. */
const byHost: Record<HostSlash, Case> = {
  help: { typed: "/help", says: /\/rename <title> +give the session another title/ },
  inbox: { typed: "/inbox", sends: { type: "pending" }, says: /No open requests/ },
  status: { typed: "/status", sends: { type: "sessions" }, says: /Session \w+: idle/ },
  sessions: { typed: "/sessions", sends: { type: "sessions" }, says: /idle +\S/ },
  resume: { typed: "/resume nosuch", sends: { type: "sessions" }, says: /No session starts with nosuch/ },
  fork: { typed: "/fork", sends: { type: "fork" } },
  rename: { typed: "/rename 另一个 title", sends: { type: "rename", title: "另一个 title" }, says: /“另一个 title”/ },
  model: { typed: "/model other/one", sends: { type: "choose", model: "other/one", checked: true } },
  mode: { typed: "／Mode Accept-Edits", sends: { type: "chooseMode", mode: "acceptEdits" } },
  plan: { typed: "/plan look around", sends: { type: "say", text: "look around" } },
  compact: { typed: "/compact", sends: { type: "compact" } },
  rewind: { typed: "/rewind", sends: { type: "rewindPoints" }, says: /Messages to go back to/ },
  revoke: { typed: "/revoke", sends: { type: "undo" }, says: /Mode: |no rule or mode was granted/ },
  withdraw: { typed: "/withdraw", says: /no message that is not read yet/ },
  now: { typed: "/now", sends: { type: "interrupt", to: "now" }, says: /No message waits/ },
  stop: { typed: "/interrupt", sends: { type: "interrupt" }, says: /Nothing is running/ },
  permissions: { typed: "/permissions remove Bash(x)", says: /This session has no rule Bash\(x\)/ },
  agents: { typed: "/agents", sends: { type: "about" }, says: /explorer: looks/ },
  skills: { typed: "/skills", says: /\/tidy: tidies up/ },
  cost: { typed: "/usage", says: /turns?: / },
};

/** Commands that a surface has done itself are told by it in these words, or sent in a way of its own. */
const byTerminal: Record<OwnSlash<"terminal">, Case> = {
  sessions: { typed: "/sessions", says: /did sessions/ },
  new: { typed: "/clear a task", says: /did new a task/ },
  resume: { typed: "/resume abc", says: /did resume abc/ },
  model: { typed: "/model", says: /did model/ },
  rewind: { typed: "/undo t0", says: /did rewind t0/ },
  tasks: { typed: "/ps", says: /did tasks/ },
  permissions: { typed: "/allowed-tools", says: /did permissions/ },
  export: { typed: "/export a.html", says: /did export a\.html/ },
  quit: { typed: "exit", says: /left/ },
};
const byLines: Record<OwnSlash<"lines">, Case> = {
  tasks: { typed: "/tasks stop 1", says: /did tasks stop 1/ },
  export: { typed: "/export", says: /did export/ },
  quit: { typed: "/exit", says: /left/ },
};
const byPage: Record<OwnSlash<"page">, Case> = {
  inbox: { typed: "/inbox", says: /went to inbox/ },
  sessions: { typed: "/sessions", says: /went to sessions/ },
  new: { typed: "/new a task", sends: { type: "open", cwd: "the folder" }, says: /went to session/ },
};
const byFeishu: Record<OwnSlash<"feishu"> | AnswerSlash<"feishu">, Case> = {
  help: { typed: "/help", says: /Using Sage here[^]*\/rename <title>/ },
  status: { typed: "/status", says: /Session \w+: idle/ },
  sessions: { typed: "/sessions", says: /Sessions\n/ },
  model: { typed: "/model", says: /Model: the default/ },
  agent: { typed: "/agent", says: /Agent: Sage itself/ },
  allow: { typed: "/allow #123456", says: /That card is closed/ },
  deny: { typed: "/deny #123456", says: /That card is closed/ },
  // Where no card has this code, the words are a message.
  answer: { typed: "/answer #123456 hello", sends: { type: "say", text: "hello" } },
  ask: { typed: "/ask why", says: /That card is closed/ },
  timeout: { typed: "/timeout", says: /Requests wait|waits|cancel/i },
  bind: { typed: "/bind", says: /default folder/ },
  lang: { typed: "/lang", says: /\/lang en or \/lang zh/ },
  invite: { typed: "/invite", says: /Mention the person: \/invite/ },
  approver: { typed: "/approver", says: /Mention the person: \/approver/ },
  doctor: { typed: "/doctor", says: /Nothing is missing/ },
  stop: { typed: "/stop", sends: { type: "interrupt" }, says: /Nothing is running/ },
  resume: { typed: "/resume nosuch", says: /No session nosuch/ },
  cd: { typed: "/cd", says: /Available folders/ },
  new: { typed: "/new", sends: { type: "open" }, says: /New session in/ },
};

const script = Array.from({ length: 9 }, (_, n) => ({ text: `reply ${n}` }));

/** A person at a surface. `read` is everything that the surface has shown. */
type Seat = { enter(text: string): void; read(): string | Promise<string>; redraws?: boolean };

async function worked(): Promise<TestSage & { dir: string }> {
  const own = workspace();
  const sage = await sageWith({ dir: own.dir, script, surroundings });
  await sage.say("begin");
  await sage.outcome();
  return {
    ...sage,
    dir: own.dir,
    async [Symbol.asyncDispose]() {
      await sage[Symbol.asyncDispose]();
      own[Symbol.dispose]();
    },
  };
}

/** The same message, to be read now, at every surface. */
const nowSpoken: Case = { typed: "/now and be quick", sends: { type: "say", text: "and be quick", when: "now" } };

/** Commands that end the session for the surface, or begin another, come last. */
const late: readonly SlashName[] = ["stop", "now", "plan", "fork", "new", "cd", "quit"];

async function everyEntry(place: SlashPlace, own: Partial<Record<SlashName, Case>>, sent: Command[], seat: Seat) {
  const names = offeredAt({ place }).toSorted((a, b) => late.indexOf(a) - late.indexOf(b));
  for (const name of names) {
    const way = entryOf(name).on[place];
    const cases =
      way === "host"
        ? [byHost[name as HostSlash]]
        : way === "picks"
          ? [own[name], byHost[name as HostSlash]]
          : [own[name]];
    if (name === "now") cases.push(nowSpoken);
    for (const one of cases) {
      assert.ok(one, `${name} at ${place} has a case`);
      const from = sent.length;
      const before = (await seat.read()).length;
      if (seat.redraws) assert.doesNotMatch(await seat.read(), one.says ?? /never/, `${one.typed} is told anew`);
      seat.enter(one.typed);
      const { sends, says } = one;
      await until(
        async () => {
          const told = (await seat.read()).slice(seat.redraws ? 0 : before);
          return (!says || says.test(told)) && (!sends || sent.slice(from).some((command) => fits(command, sends)));
        },
        () => `${one.typed} at ${place}: ${JSON.stringify(sent.slice(from))}`,
      );
    }
  }
}

function fits(command: Command, wanted: Partial<Command>): boolean {
  return Object.entries(wanted).every(([key, value]) => (command as Record<string, unknown>)[key] === value);
}

suite("every command at every surface that offers it", () => {
  test("on a screen", async () => {
    await using sage = await worked();
    const sent: Command[] = [];
    const told: string[] = [];
    const did = (name: string) => async (args: string) => ({ text: `did ${name} ${args}`.trim() });
    const acts = actsOf(
      Object.fromEntries(
        (["sessions", "new", "resume", "model", "rewind", "tasks", "permissions", "export"] as const).map((name) => [
          name,
          did(name),
        ]),
      ),
    );
    const open = (session: string) =>
      sageOnScreen([], {
        sage: { ...sage, host: { ...sage.host, ...between(sent)(sage.host) } },
        session,
        acts,
        rows: 50,
      });
    let at = await open(sage.session);
    try {
      await everyEntry("terminal", byTerminal, sent, {
        redraws: true,
        enter: (text) => at.enter(text),
        async read() {
          const end = at.ended();
          if (end?.why === "switched") {
            // A fork is continued at once.
            told.push(await at.screen.all());
            at = await open(end.session ?? "");
          }
          return `${told.join("\n")}\n${await at.screen.all()}\n${end?.why ?? ""}`;
        },
      });
    } finally {
      await at[Symbol.asyncDispose]();
    }
  });

  test("in lines", async () => {
    await using sage = await worked();
    const sent: Command[] = [];
    const [input, output] = [new PassThrough(), new PassThrough()];
    let text = "";
    output.setEncoding("utf8").on("data", (piece: string) => (text += piece));
    const did = (name: string) => async (args: string) => `did ${name} ${args}`;
    const leaving = new AbortController();
    const plain = attachPlain(between(sent)(sage.host), {
      ...{ session: sage.session, input, output, lang: "en", color: false, by: "Lin", signal: leaving.signal },
      acts: { tasks: did("tasks"), export: did("export") },
      own: () => [],
    });
    let end = "";
    const done = plain.done.then(({ why }) => (end = why));
    await everyEntry("lines", byLines, sent, {
      enter: (typed) => void input.write(`${typed}\n`),
      read: () => `${text}\n${end}`,
    });
    leaving.abort();
    await done;
  });

  test("on the page", async () => {
    await using sage = await worked();
    const sent: Command[] = [];
    const host = between(sent)(sage.host);
    const [typing, words] = [
      new URL("../../src/surfaces/web/page/session/typing.ts", import.meta.url).href,
      { t: texts("en"), slash: slashTexts("en") },
    ];
    const { createTyping } = (await import(typing)) as {
      createTyping(app: object, parts: object): { lines: { value: string[] }; send(text: string): Promise<unknown> };
    };
    const me = { by: "Lin", surface: "web" };
    const shown: string[] = [];
    // From elsewhere a folder is called by its name.
    const named: Host = {
      ...host,
      async send(command) {
        if (command.type !== "open") return host.send(command);
        sent.push({ ...command, cwd: "the folder" });
        return sage.host.send(command);
      },
    };
    const app = {
      ...{ host: named, id: () => crypto.randomUUID(), words: { value: words }, me: { value: me } },
      may: { value: ["look", "talk", "approve"] },
      send: (command: Command) => host.send({ ...command, ...me }),
      trouble: (reply: { ok: boolean }) => (reply.ok ? undefined : "trouble"),
    };
    const go = ({ page }: { page: string }) => void shown.push(`went to ${page}`);
    const at = createTyping(app, { session: await joined(named, sage.session), go });
    await everyEntry("page", byPage, sent, {
      enter: (text) => void at.send(text).then((back) => shown.push(...at.lines.value, String(back))),
      read: () => shown.join("\n"),
    });
  });

  test("in an editor", async () => {
    await using sage = await worked();
    const sent: Command[] = [];
    const leaving = new AbortController();
    const updates: string[] = [];
    const queue: { method: string; params: Record<string, unknown>; id: number }[] = [];
    let wake = () => {};
    const replies = new Map<number, unknown>();
    let last = 0;
    const ask = (method: string, params: Record<string, unknown>) => {
      queue.push({ method, params, id: ++last });
      wake();
      return until(() => replies.get(last));
    };
    const editor: Editor = {
      request: () => Promise.reject(new Error("nothing is asked")),
      notify: (_, params) => void updates.push(JSON.stringify(params)),
      reply: (id, result) => void replies.set(Number(id), result ?? {}),
      refuse: (id, _, message) => void replies.set(Number(id), { refused: message }),
      incoming: (async function* () {
        while (!leaving.signal.aborted) {
          const next = queue.shift();
          if (next) yield next;
          else await new Promise<void>((resolve) => (wake = resolve));
        }
      })(),
    };
    const over = attachAcp(between(sent)(sage.host), editor, {
      ...{ version: "0", lang: "en" as const, by: "Lin", checkFolder: (cwd: string) => cwd, signal: leaving.signal },
    });
    await ask("initialize", { protocolVersion: 1 });
    await ask("session/load", { sessionId: sage.session, cwd: sage.dir });
    await until(() => updates.some((one) => one.includes("available_commands_update")));
    const listed = updates.find((one) => one.includes("available_commands_update")) ?? "";
    for (const name of [...offeredAt({ place: "acp" }), "tidy"]) assert.ok(listed.includes(`"name":"${name}"`), name);
    await everyEntry("acp", { decline: { typed: "/decline", says: /Nothing asks for an answer/ } }, sent, {
      enter: (text) => void ask("session/prompt", { sessionId: sage.session, prompt: [{ type: "text", text }] }),
      read: () => updates.join("\n").replaceAll("\\n", "\n"),
    });
    leaving.abort();
    wake();
    await over;
  });

  test("in a chat", async () => {
    const sent: Command[] = [];
    await using sage = await team({ script, surroundings, between: between(sent) });
    const { lin, feishu } = sage;
    lin.say("begin");
    await sage.sees(lin.chat, /Done/);
    await everyEntry("feishu", byFeishu, sent, {
      enter: (text) => void lin.say(text),
      read: () =>
        feishu
          .seen(lin.chat)
          .filter(({ from }) => from === "bot")
          .map(({ text }) => text)
          .join("\n"),
    });
  });
});
