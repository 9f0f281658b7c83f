// Sessions in which people are waited for in every way that is easy to bring about: what a release must still be able to continue.
import type { Script } from "../../src/models/scripted.ts";
import type { Fact } from "../../src/protocol/facts/fact.ts";
import type { InputRequest } from "../../src/protocol/facts/request.ts";
import type { Rule } from "../../src/protocol/facts/permission.ts";
import { z } from "zod";
import type { Tool } from "../../src/tools/definition/tool.ts";
import { askUser, bash, question, sageWith, type TestConfig } from "../support/sage.ts";
import { until } from "../support/until.ts";

const DAY_MS = 86_400_000;
/** The year 2100: moments that still lie ahead in a fixture, whenever it is read. */
const AHEAD_AT = 4_102_444_800_000;

const rules: Rule[] = [
  { behavior: "allow", text: "Bash(sleep:*)", source: "user" },
  { behavior: "ask", text: "Bash(touch two)", source: "user", consent: { approvals: 2, notAsker: true } },
  {
    behavior: "ask",
    text: "Bash(touch three)",
    source: "user",
    silence: { timeoutMs: 10 * DAY_MS, timeoutPolicy: { escalate: ["Wang"], end: "deny" }, remindEvery: DAY_MS },
  },
];

/** Asks for a text while it runs. */
const introduce: Tool<object> = {
  name: "Introduce",
  description: "Asks for a name",
  inputSchema: z.strictObject({}),
  effect: "waits",
  checkPermissions: () => ({ behavior: "allow", reason: "it only asks" }),
  async execute(_, scope) {
    const resolution = await scope.requestInput({ kind: "text", prompt: "Your name?" }, "to say it right");
    const said = resolution.outcome === "answered" && resolution.response.type === "text";
    return { ok: said, text: said && resolution.response.type === "text" ? resolution.response.text : "" };
  },
};

const background = { tool: "Bash", input: { command: "sleep 1000", background: true } };
const scripts = {
  asking: {
    "": [
      { calls: [background] },
      {
        calls: [
          bash("touch one"),
          bash("touch two"),
          bash("touch three"),
          askUser(question("Which colour?")),
          askUser(question("Which word?", [])),
          { tool: "Introduce", input: {} },
        ],
      },
      { text: "all done" },
    ],
    inquiry: [{ text: "Because the next step needs the file." }],
  },
  plan: { "": [{ calls: [{ tool: "ExitPlanMode", input: { plan: "1. 改 a.txt" } }] }, { text: "all done" }] },
} satisfies Record<string, Script>;

export type Waiting = keyof typeof scripts;
export const waitings = Object.keys(scripts) as Waiting[];
/** Requests that are open at the end. */
export const open = { asking: 6, plan: 1 } satisfies Record<Waiting, number>;

export function waitingSage(name: Waiting, options: Pick<TestConfig, "dir" | "store">) {
  return sageWith({ script: scripts[name], rules, tools: [introduce], session: "s", ...options });
}

/** Facts of a session that waits, as this version writes them. */
export async function writeWaiting(name: Waiting, dir: string): Promise<Fact[]> {
  await using sage = await waitingSage(name, { dir });
  const lin = { by: "Lin", surface: "test" };
  if (name === "plan") await sage.host.send({ type: "chooseMode", session: "s", mode: "plan", ...lin });
  await sage.say("go");
  const [one, two] = (await sage.open(open[name])) as [InputRequest, InputRequest];
  if (name === "asking") {
    await sage.answer({ type: "granted", requestId: two.id }, "Ada"); // the first of two
    await sage.host.send({ type: "inquire", requestId: one.id, text: "why this file?", ...lin });
    await until(() => sage.facts().some(({ type }) => type === "inquiry.replied"), "no reply");
    await sage.host.send({ type: "saveDraft", requestId: one.id, draft: { reason: "not th" }, ...lin });
  }
  const written = sage.facts().map((fact) => JSON.stringify(fact));
  return withoutPlace(written.join("\n"), dir)
    .split("\n")
    .map((line) => JSON.parse(line) as Fact);
}

/** Moments, processes, ids and folders of this machine say nothing about the version: two runs write the same bytes. */
function withoutPlace(text: string, dir: string): string {
  const task = /"background":\{"id":"(\w+)"/.exec(text)?.[1];
  const ids = [...new Set(text.match(/\b[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}\b/g))];
  const named = ids.reduce(
    (rest, id, n) => rest.replaceAll(id, `00000000-0000-4000-8000-${String(n).padStart(12, "0")}`),
    task === undefined ? text : text.replaceAll(task, "abc123"),
  );
  return named
    .replaceAll(dir, "/work")
    .replaceAll(/"pid":\d+,"started":"[^"]+"/g, '"pid":4194303,"started":"gone:1"')
    .replaceAll(/\b1[6-9]\d{11}(?:\.\d+)?\b/g, (at) => (Number(at) > Date.now() ? String(AHEAD_AT) : "1"));
}
