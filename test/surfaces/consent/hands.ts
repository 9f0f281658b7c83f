// Hands of a person on each surface: keys, typed lines, acts, buttons, flags, calls. Nothing here knows what should come of them.
import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { signal as valueOf } from "@preact/signals";
import { openSage } from "../../../src/cli/assemble/open-sage.ts";
import { answerOptions, readResponse } from "../../../src/cli/answer/response.ts";
import { requestLines } from "../../../src/cli/open/print/request-lines.ts";
import { readFlags } from "../../../src/cli/process/flags.ts";
import { readInstallation } from "../../../src/config/home/home.ts";
import { memoryStore } from "../../../src/journal/store/memory.ts";
import type { Store } from "../../../src/journal/store/store.ts";
import type { InputResponse } from "../../../src/protocol/facts/answer.ts";
import type { PermissionRequest } from "../../../src/protocol/facts/request.ts";
import type { Host } from "../../../src/protocol/host/host.ts";
import type { Script } from "../../../src/models/scripted.ts";
import { SageAgentSDK, scripted } from "../../../src/sdk/index.ts";
import { editSession } from "../../../src/surfaces/acp/session.ts";
import { attachPlain } from "../../../src/surfaces/plain/index.ts";
import { attachTerminal } from "../../../src/surfaces/terminal/index.ts";
import { createTyping } from "../../../src/surfaces/web/page/session/typing.ts";
import { follow } from "../../../src/surfaces/web/page/session/session-state.ts";
import type { Did } from "../../../src/surfaces/web/page/state/input.ts";
import type { Colours } from "../../../src/surfaces/web/page/state/settings.ts";
import { createApp } from "../../../src/surfaces/web/page/state/state.ts";
import { wordsIn } from "../../../src/surfaces/web/page/words/words.ts";
import { cliTexts } from "../../../src/texts/commands/cli.ts";
import { acpTexts } from "../../../src/texts/surfaces/acp.ts";
import { withoutAsking, narrowerRule } from "../../../src/view/request/answering.ts";
import { neededOf, offersOf } from "../../../src/view/request/describe.ts";
import { createScreen } from "../../support/screen.ts";
import { slashWords } from "../../support/slash.ts";
import { until } from "../../support/until.ts";
import { team } from "../feishu/team.ts";
import { style } from "../plain-requests.ts";
import type { Consent, Place, Story } from "./stories.ts";

/** A person at one session of a surface. */
export type Hands = {
  /** For everybody else: whoever answers what is asked after that. */
  host: Host;
  store: Store;
  session: string;
  cwd: string;
  home: string;
  say(text: string): Promise<void>;
  /** What can be read before one answers. */
  shown(request: PermissionRequest): Promise<string> | string;
  consent(request: PermissionRequest, consent: Consent): Promise<void>;
  undo(): Promise<void>;
} & AsyncDisposable;

export type Surface = {
  name: string;
  open(story: Story, script: Script): Promise<Hands>;
  /** Stories that it cannot play, and why. `undo`: the way back. */
  lacks?: Readonly<Record<string, string>>;
};

const me = { by: "Lin", surface: "test" };

/** A home with the person's settings, and a project of their own. */
function furnished({ permissions = {}, confined }: Story) {
  const dir = mkdtempSync(join(tmpdir(), "sage-consent-"));
  const [home, cwd] = [join(dir, "home"), join(dir, "shop")];
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(cwd);
  execFileSync("git", ["init", "-q", cwd]);
  const settings = { permissions, ...(confined && { sandbox: { mode: "contain" } }) };
  writeFileSync(join(home, "settings.json"), JSON.stringify(settings));
  const env = { SAGE_HOME: home, HOME: dir, PATH: process.env["PATH"] };
  return { dir, home, cwd, env, leave: () => rmSync(dir, { recursive: true, force: true, maxRetries: 5 }) };
}

/** The host of the command line, with one session. */
async function opened(story: Story, script: Script) {
  const place = furnished(story);
  const store = memoryStore();
  const choice = { provider: "own", modelId: "m", load: async () => scripted(script) };
  const { host } = await openSage({
    ...{ installation: readInstallation(place.env), choice, store, cwd: place.cwd, lang: "en" },
    ...{ permissionMode: "default", options: {} },
  });
  const reply = await host.send({ type: "open", cwd: place.cwd });
  if (!reply.ok) throw new Error(reply.message);
  const { session } = reply;
  if (story.plans) await host.send({ type: "chooseMode", session, mode: "plan", ...me });
  return {
    ...{ host, store, session, cwd: place.cwd, home: place.home },
    say: async (text: string) => void (await host.send({ type: "say", session, text, ...me })),
    async [Symbol.asyncDispose]() {
      await host.close();
      place.leave();
    },
  };
}

const keys = { up: "\x1b[A", right: "\x1b[C", down: "\x1b[B", enter: "\r", tab: "\t", erase: "\x7f" };

const terminal: Surface = {
  name: "terminal",
  async open(story, script) {
    const at = await opened(story, script);
    const left = new AbortController();
    const logDirectory = mkdtempSync(join(tmpdir(), "sage-test-"));
    const screen = createScreen({ cols: 160, rows: 50, scrollback: 5_000 });
    const surface = attachTerminal(at.host, {
      ...{ session: at.session, lang: "en", header: "Sage", model: "scripted", env: { TERM: "xterm-256color" } },
      ...{ by: "Lin", logDirectory, device: screen.terminal, signal: left.signal },
    });
    const seen = async () => (await screen.rows()).join("\n");
    let last = "";
    const sees = (pattern: RegExp) =>
      until(
        async () => pattern.exec((last = await seen())),
        () => `${pattern}: ${last}`,
      );
    const type = (text: string) => [...text].forEach((letter) => screen.press(letter));
    // No key is taken that was meant for what was there a moment before.
    const calm = () => new Promise((resolve) => setTimeout(resolve, 450));
    const pick = async (label: string) => {
      await sees(/Enter confirm|Tab/);
      await calm();
      const number = new RegExp(`(\\d) +${label}`);
      if (!number.test(await seen())) screen.press(keys.tab);
      screen.press((await sees(number))[1]!);
      screen.press(keys.enter);
    };
    const clear = () => {
      for (let n = 0; n < 60; n++) screen.press(keys.erase);
    };
    await sees(/What would you like to do/);
    return {
      ...at,
      say: async (text) => {
        type(text);
        screen.press(keys.enter);
      },
      async shown(request) {
        await sees(/Run this command\?|Approve this plan\?|Allow once/);
        if (request.suggestions.length === 0) return seen();
        await pick(request.hard ? "Allow, and change" : "Always allow…");
        await sees(/Ask only for this|Your own rule/);
        const text = await seen();
        screen.press("\x1b");
        await sees(/Allow once/);
        return text;
      },
      async consent(_, consent) {
        switch (consent.type) {
          case "once":
            return pick("Allow once");
          case "mode":
            return pick("Approve and accept edits");
          case "edited":
            await pick("Edit first");
            await sees(/Edit the command/);
            clear();
            type(consent.command);
            return screen.press(keys.enter);
          case "always": {
            await pick("Always allow…");
            await sees(/Your own rule/);
            screen.press(keys.up);
            for (let n = 0; n < 4 && !(await seen()).includes(placeNames[consent.place]); n++) screen.press(keys.right);
            await sees(new RegExp(`Applies to: ${placeNames[consent.place].replaceAll(/[()]/g, ".")}`));
            screen.press(keys.down);
            return screen.press(keys.enter);
          }
          case "unask":
          case "narrower":
            await pick("Allow, and change");
            await sees(/Ask only for this/);
            if (consent.type === "unask") clear();
            return screen.press(keys.enter);
          default:
            consent satisfies never;
        }
      },
      async undo() {
        await sees(/Done: /);
        await calm();
        type("/revoke");
        screen.press(keys.enter);
      },
      async [Symbol.asyncDispose]() {
        left.abort();
        await surface.done;
        screen[Symbol.dispose]();
        rmSync(logDirectory, { recursive: true });
        await at[Symbol.asyncDispose]();
      },
    };
  },
};

/** Those that belong to a project name it. */
const placeNames: Record<Place, string> = {
  session: "this session",
  local: "you, in this project (shop)",
  project: "everyone, in this project (shop)",
  user: "you, in all projects",
};

const lines: Surface = {
  name: "lines",
  async open(story, script) {
    const at = await opened(story, script);
    const left = new AbortController();
    const [input, output] = [new PassThrough(), new PassThrough()];
    let text = "";
    output.setEncoding("utf8").on("data", (more: string) => (text += more));
    const options = { input, output, lang: "en", color: false } as const;
    const surface = attachPlain(at.host, { session: at.session, ...options, by: "Lin", signal: left.signal });
    const prompted = (pattern: RegExp) =>
      until(
        () => pattern.test(text.slice(text.lastIndexOf("\n") + 1)),
        () => `${pattern}: ${text}`,
      );
    const type = (line: string) => void input.write(`${line}\n`);
    return {
      ...at,
      async say(line) {
        await prompted(/> $/);
        type(line);
      },
      async shown(request) {
        await prompted(/\(y.*\) > $/);
        if (!request.suggestions.some(({ instead }) => instead)) return text;
        type("u");
        await prompted(/instead.* > $/);
        type("");
        return text;
      },
      async consent(_, consent) {
        await prompted(/\(y.*\) > $/);
        switch (consent.type) {
          case "once":
            return type("y");
          case "mode":
            return type("a");
          case "always":
            return type(`a ${consent.place}`);
          case "edited":
            type("e");
            await prompted(/New command.* > $/);
            return type(consent.command);
          case "unask":
          case "narrower":
            type("u");
            await prompted(/instead.* > $/);
            return type(consent.type === "unask" ? "-" : "=");
          default:
            consent satisfies never;
        }
      },
      async undo() {
        await prompted(/> $/);
        type("/revoke");
      },
      async [Symbol.asyncDispose]() {
        left.abort();
        await surface.done;
        await at[Symbol.asyncDispose]();
      },
    };
  },
};

const page: Surface = {
  name: "page",
  async open(story, script) {
    const at = await opened(story, script);
    const left = new AbortController();
    const nothing = { devices: {}, leave() {}, notify() {}, paint() {}, switchLanguage() {} };
    const app = createApp({
      host: at.host,
      words: await wordsIn("en", () => {}),
      settings: { ...nothing, colour: valueOf<Colours>("system"), notifications: valueOf("off") } as never,
      timing: { now: Date.now, later: () => () => {} },
      shelf: { get: () => undefined, put() {}, names: () => [] },
      place: { page: "session", id: at.session },
      id: () => crypto.randomUUID(),
    });
    app.me.value = { by: "Lin", surface: "web" };
    app.connection.value = { state: "open", since: 0 };
    const followed = follow(app, at.session, { signal: left.signal, frame: (act) => void setImmediate(act) });
    const reading = (async () => {
      for await (const event of at.host.inbox({ signal: left.signal })) app.hear(event);
    })();
    const typing = createTyping(app, { session: followed.session, go() {} });
    const entry = (id: string) => until(() => app.open.value.find(({ request }) => request.id === id)?.request);
    const play = async (request: PermissionRequest, ...acts: Did[]) => {
      const asked = await entry(request.id);
      for (const act of acts) app.did(asked, act);
    };
    const choose = (choice: (Did & { type: "choose" })["choice"]): Did => ({ type: "choose", choice });
    const confirm: Did = { type: "confirm" };
    return {
      ...at,
      say: async (text) => void (await typing.send(text)),
      // The drawing needs a browser (web/stories.test.ts): this is what it draws.
      async shown(request) {
        const { answering } = app.panel(await entry(request.id)).value;
        return JSON.stringify([request.input, offersOf(request), request.suggestions[0]?.rule, answering.unask]);
      },
      async consent(request, consent) {
        switch (consent.type) {
          case "once":
            return play(request, choose("once"), confirm);
          case "mode":
            return play(request, choose("acceptEdits"), confirm);
          case "edited":
            return play(request, choose("edit"), { type: "write", field: "edit", text: consent.command }, confirm);
          case "always":
            return play(request, choose("always"), { type: "place", destination: consent.place }, confirm);
          case "unask":
            return play(request, choose("unask"), { type: "write", field: "unask", text: "" }, confirm);
          case "narrower":
            return play(request, choose("unask"), confirm);
          default:
            consent satisfies never;
        }
      },
      undo: async () => void (await typing.send("/revoke")),
      async [Symbol.asyncDispose]() {
        left.abort();
        await reading;
        await at[Symbol.asyncDispose]();
      },
    };
  },
};

const alone = "an editor may press a button that says always by itself, so it is given none that loosens";

const editor: Surface = {
  name: "ACP",
  lacks: {
    "once, with the input edited": "the protocol's permission has buttons and no text",
    "a rule for project": "a file that everybody gets is changed by a person who sees it",
    "a rule for user": "a rule for every folder is given by a person who sees it",
    "the rule in the way removed": alone,
    "a narrower rule in its place": alone,
  },
  async open(story, script) {
    const at = await opened(story, script);
    const left = new AbortController();
    let buttons: { optionId: string; name: string }[] = [];
    let press: ((optionId: string) => void) | undefined;
    const told: object[] = [];
    const words = { ...slashWords("en"), w: acpTexts("en") };
    const parts = {
      ...{ host: at.host, words, me: { by: "Ed", surface: "acp" }, form: false, signal: left.signal },
      changed() {},
      editor: {
        notify: (_: string, { update }: { update: object }) => void told.push(update),
        request: (_: string, { options }: { options: typeof buttons }, signal?: AbortSignal) =>
          new Promise((done, fail) => {
            buttons = options;
            press = (optionId) => done({ outcome: { outcome: "selected", optionId } });
            signal?.addEventListener("abort", () => fail(new Error("folded")));
          }),
      },
    };
    const session = editSession(parts as never, at.session, { replay: true });
    await session.ready;
    return {
      ...at,
      say: async (text) => void session.prompt(text, []),
      async shown({ input }) {
        await until(() => press);
        return JSON.stringify([input, buttons, told]);
      },
      async consent(_, consent) {
        const id =
          consent.type === "once"
            ? "allow"
            : consent.type === "mode"
              ? "accept-edits"
              : `always-${(consent as { place: Place }).place}`;
        (await until(() => press))(id);
      },
      undo: async () => void (await session.prompt("/revoke", [])),
      async [Symbol.asyncDispose]() {
        left.abort();
        await at[Symbol.asyncDispose]();
      },
    };
  },
};

const inChats = "from a chat a rule holds for the session: files are changed where the machine is";

const feishu: Surface = {
  name: "Feishu",
  lacks: {
    "once, with the input edited":
      "a card has no room to read a command whole while it is edited; a no with words does it",
    "a rule for local": inChats,
    "a rule for project": inChats,
    "a rule for user": inChats,
    "the rule in the way removed": inChats,
    "a narrower rule in its place": inChats,
    "a mode": "a plan on a card is approved or not; /mode accept-edits is typed",
  },
  async open({ permissions: { allow = [] } = {}, confined }, script) {
    const rules = allow.map((text) => ({ behavior: "allow", text, source: "user" }) as const);
    const sage = await team({ script, rules, ...(confined && { confined }) });
    const { lin } = sage;
    return {
      host: sage.host,
      store: sage.store,
      get session() {
        return sage.store.sessions()[0]?.id ?? "";
      },
      ...{ cwd: sage.cwd, home: sage.dir },
      say: async (text) => void lin.say(text),
      shown: async () => (await sage.card(lin.chat, "Allow once")).text,
      async consent(_request, consent) {
        const card = await sage.card(lin.chat, "Allow once");
        await lin.click(card.id, consent.type === "once" ? "allow_once" : "allow_always");
      },
      undo: async () => void lin.say("/revoke"),
      [Symbol.asyncDispose]: () => sage[Symbol.asyncDispose](),
    };
  },
};

/** The response that the founding object has for it. */
function responseFor(request: PermissionRequest, consent: Consent): InputResponse {
  const yes = { type: "granted", requestId: request.id } as const;
  switch (consent.type) {
    case "once":
      return yes;
    case "edited":
      return { ...yes, input: { ...request.input, command: consent.command } };
    case "mode":
      return { ...yes, mode: "acceptEdits" };
    case "always": {
      const rules = neededOf(offersOf(request));
      return { ...yes, rules: rules.map(({ rule, behavior }) => ({ rule, behavior, destination: consent.place })) };
    }
    case "unask":
      return withoutAsking(request);
    case "narrower":
      return withoutAsking(request, narrowerRule(request));
    default:
      return consent satisfies never;
  }
}

const sdk: Surface = {
  name: "SDK",
  async open(story, script) {
    const place = furnished(story);
    const store = memoryStore();
    const parts = { model: scripted(script), store, env: place.env, settings: true, workingDirectory: place.cwd };
    const sage = new SageAgentSDK(parts);
    let session = "";
    let handle: ReturnType<SageAgentSDK["executeWithChannel"]>["handle"] | undefined;
    return {
      ...{ host: sage.host, store, cwd: place.cwd, home: place.home },
      get session() {
        return session;
      },
      async say(text) {
        const run = sage.executeWithChannel(text, {
          ...(session !== "" && { session }),
          ...(story.plans && session === "" && { sessionMode: "plan" }),
        });
        handle = run.handle;
        void run.result.catch(() => {});
        session = await until(() => run.result.session || undefined);
      },
      shown: (request) => JSON.stringify([request.input, request.suggestions]),
      async consent(request, consent) {
        await handle!.respond(responseFor(request, consent));
      },
      undo: async () => void (await sage.host.send({ type: "undo", session, by: "Lin", surface: "sdk" })),
      async [Symbol.asyncDispose]() {
        await sage.close();
        place.leave();
      },
    };
  },
};

const flags: Surface = {
  name: "sage answer",
  lacks: {
    undo: "the command ends with the answer: sage permissions remove takes one rule back, /revoke is typed where the session is",
  },
  async open(story, script) {
    const at = await opened(story, script);
    const t = cliTexts("en");
    const given = (consent: Consent): string[] => {
      switch (consent.type) {
        case "once":
          return ["--yes"];
        case "edited":
          return ["--yes", "--input", JSON.stringify({ command: consent.command })];
        case "always":
          return ["--always", "--to", consent.place];
        case "unask":
          return ["--yes", "--unask"];
        case "narrower":
          return ["--narrow"];
        case "mode":
          return ["--yes", "--accept-edits"];
        default:
          return consent satisfies never;
      }
    };
    return {
      ...at,
      shown: (request) => requestLines(request, style(200), { lang: "en" }).join("\n"),
      async consent(request, consent) {
        const { values } = readFlags(given(consent), answerOptions);
        const response = await readResponse(request, { ...values, nth: undefined }, t);
        await at.host.send({ type: "respond", response, by: "Lin", surface: "cli" });
      },
      undo: () => Promise.reject(new Error("it has no way back")),
    };
  },
};

export const surfaces: readonly Surface[] = [terminal, lines, page, feishu, editor, sdk, flags];
