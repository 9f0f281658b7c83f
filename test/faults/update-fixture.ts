// Every kind of thing that may be open when Sage is updated and that `waiting-fixture.ts` does not have: approvals that bind to files, a
// yes that nobody has used yet, a form amid a call, a confined command, a guest's call, half a rewind.
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { z } from "zod";
import { rewindSession } from "../../src/archive/rewind.ts";
import { createConfining } from "../../src/host/assembly/confining.ts";
import { memoryStore } from "../../src/journal/store/memory.ts";
import type { Store } from "../../src/journal/store/store.ts";
import type { Script } from "../../src/models/scripted.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { bashCall, guestSage } from "../support/guests/guest-sage.ts";
import { allow, bash, sageWith, type TestPerson } from "../support/sage.ts";
import { until } from "../support/until.ts";

/** Digests cover real paths: whoever writes these journals and whoever opens them does it here. */
export const PLACE = "/tmp/sage-journals-of-releases";

/** Asks a person for the server that it stands for, while it runs. */
const form: Tool<object> = {
  name: "mcp__forms__fill",
  description: "Fills a form",
  inputSchema: z.strictObject({}),
  effect: "writes",
  server: "forms",
  elicits: true,
  async execute(_, scope) {
    const body = { kind: "text", prompt: "Your name?" } as const;
    const asked = await scope.elicit!({ body, server: "forms", why: "the form" as never, signal: scope.signal });
    return { ok: true, text: asked.outcome };
  },
};

const STALE_MS = 60_000;

/** Another run of the tests on this machine may be in the same folder. */
export async function takePlace(): Promise<void> {
  const isFree = () => {
    try {
      if (Date.now() - statSync(PLACE).mtimeMs > STALE_MS) leavePlace();
    } catch {} // nobody is there
    try {
      return mkdirSync(PLACE) ?? true;
    } catch {
      return false;
    }
  };
  await until(isFree, "the folder stays taken", { patienceMs: 3 * STALE_MS });
}

export const leavePlace = () => rmSync(PLACE, { recursive: true, force: true });

const path = (name: string) => join(PLACE, name);
const read = (name: string) => ({ tool: "Read", input: { file_path: path(name) } });
const write = (name: string) => ({ tool: "Write", input: { file_path: path(name), content: `new ${name}\n` } });
const replaced = { file_path: path("edited.txt"), old_string: "three", new_string: "THREE" };

const approving: Script = [
  { calls: [read("old.txt"), read("edited.txt")] },
  {
    calls: [
      bash("touch made"),
      bash("sh run.sh"),
      write("old.txt"),
      write("fresh.txt"),
      { tool: "Edit", input: replaced },
      bash("touch granted"),
    ],
  },
  { text: "all done" },
];

const at = (store: Store) => ({ dir: PLACE, store, session: "s" });
const finish = { text: "all done" };

/** A session on this store, as it is begun and as it is continued. */
export const sessions = {
  approving: (store: Store) => sageWith({ ...at(store), rules: [allow("Read")], script: approving }),
  form: (store: Store) =>
    sageWith({
      ...at(store),
      tools: [form],
      rules: [allow("mcp__forms__fill")],
      script: [{ calls: [{ tool: form.name, input: {} }] }, finish],
    }),
  confined(store: Store) {
    const sandbox = { mode: "contain", writable: [], readable: [], git: "read", outside: [] } as const;
    const [home, state] = ["home", "home/.sage"].map(path) as [string, string];
    mkdirSync(state, { recursive: true });
    const place = { root: path("work"), home, state, session: "s", kept: [] };
    mkdirSync(place.root, { recursive: true });
    const confining = createConfining(sandbox, { apart: false })({ ...place, mayRead: () => () => true });
    const script: Script = [{ calls: [bash("touch made")] }, finish];
    return sageWith({ ...at(store), dir: place.root, home, confining, script });
  },
  guest: (store: Store) =>
    guestSage({ ...at(store), script: [{ calls: [bashCall("echo a >> made")] }, { text: "all done" }] }),
  rewind(store: Store) {
    const script = store.session("s") ? [finish] : rewinding;
    return sageWith({ ...at(store), rules: [allow("Edit(./**)"), allow("Read")], script });
  },
} satisfies Record<string, (store: Store) => Promise<TestPerson>>;

const rewinding: Script = [{ calls: [read("old.txt")] }, { calls: [write("old.txt"), write("fresh.txt")] }, finish];

export type Update = keyof typeof sessions;
export const updates = Object.keys(sessions) as Update[];

export type Left = { facts: Fact[]; files: Record<string, string> };

/** A session that is left in the midst of it, as this version leaves it, and the files of its folder. */
export async function writeUpdate(name: Update): Promise<Left> {
  for (const [file, text] of Object.entries(before)) writeFileSync(path(file), text);
  const store = memoryStore();
  await using sage = await sessions[name](store);
  await sage.say("go");
  const files: Record<string, string> = {};
  if (name === "rewind") {
    await sage.outcome();
    await until(() => store.session("s")?.owned === false);
    Object.assign(files, filesIn(PLACE));
    const sender = { by: "Lin", surface: "test" };
    const row = store.session("s")!;
    cpSync(path("replaced"), path("kept/s/replaced"), { recursive: true }); // where a session of a whole Sage keeps it
    await rewindSession(store, row, { turn: 0, what: "both", output: PLACE, sageHome: path("home/.sage"), sender });
  } else {
    const open = await sage.open(name === "approving" ? 6 : 1);
    if (name === "approving") await sage.answer({ type: "granted", requestId: open.at(-1)!.id });
    if (name === "guest") await until(() => store.load("s").some(({ type }) => type === "guest.parked"));
    Object.assign(files, filesIn(PLACE));
  }
  const facts = store.load("s");
  const last = name === "rewind" ? facts.findIndex(({ type }) => type === "session.rewound") : facts.length - 1;
  return { facts: JSON.parse(plain(JSON.stringify(facts.slice(0, last + 1)))) as Fact[], files };
}

/** The folder as the session found it. */
const before = {
  "old.txt": "old\n",
  "run.sh": "touch ran\n",
  "edited.txt": "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\n",
};

/** Times and processes of this machine say nothing about the version. */
function plain(text: string): string {
  return text.replaceAll(/("(?:at|durationMs)":)\d+(?:\.\d+)?/g, "$11");
}

function filesIn(folder: string): Record<string, string> {
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true }).filter(
    (entry) => entry.isFile() && !entry.parentPath.includes("/home"),
  );
  return Object.fromEntries(
    entries.map(({ parentPath, name }) => {
      const file = join(parentPath, name);
      return [file.slice(folder.length + 1), readFileSync(file, "utf8")];
    }),
  );
}

export function restoreFiles(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), text);
  }
}
