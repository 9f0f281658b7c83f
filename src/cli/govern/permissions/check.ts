import { homedir } from "node:os";
import { createInterface } from "node:readline";
import { loadRules, type RuleLists } from "../../../permission/rules/rules.ts";
import type { PermissionResult, Rule } from "../../../protocol/facts/permission.ts";
import { thrownText } from "../../../texts/shared/error.ts";
import { misfits } from "../../../protocol/reasons/misfit.ts";
import * as z from "../../../base/z.ts";
import type { Lang } from "../../../texts/language.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { permissionTexts } from "../../../texts/setup/permissions.ts";
import { writeStdout, exitCodes } from "../../process/stdout.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { loadDecision, type Question } from "../../../archive/decision.ts";

const list = z.array(z.string()).optional();
const schema = z.object({
  rules: z.object({ deny: list, ask: list, allow: list }).default({}),
  mode: z.enum(["default", "bypass"]).default("default"),
  sessionMode: z.enum(["ask", "acceptEdits", "plan"]).optional(),
  sandbox: z
    .object({
      mode: z.enum(["contain", "autoAllow"]),
      git: z.enum(["read", "write"]).default("read"),
      outside: z.array(z.string()).default([]),
    })
    .optional(),
  cwd: z.string(),
  home: z.string().optional(),
  roots: z.array(z.string()).optional(),
  tool: z.string(),
  input: z.record(z.string(), z.unknown()),
  mcpTools: z.record(z.string(), z.object({ requiresUserInteraction: z.boolean().optional() })).optional(),
});

type Decide = (question: Question) => { result: PermissionResult };

/** Reads a question per line and writes an answer per line, in the same order; a wrong line does not stop the rest. */
export async function check(args: string[]): Promise<number> {
  const { values, lang } = readFlags(args, { stdin: { type: "boolean" } });
  if (!values.stdin) throw usage(permissionTexts(lang).checkHow);
  const answer = createAnswer((await loadDecision()).judge, lang);
  for await (const line of createInterface({ input: process.stdin })) {
    if (line.trim() === "") continue;
    const roomy = writeStdout(`${JSON.stringify(answer(line))}\n`);
    if (!roomy) await new Promise((resolve) => process.stdout.once("drain", resolve));
  }
  return exitCodes.success;
}

function createAnswer(decide: Decide, lang: Lang): (line: string) => object {
  const rulesOf = createRuleCache();
  return (line) => {
    let id: unknown;
    const framed = (answer: object) => (id === undefined ? answer : { id, ...answer });
    try {
      const question: unknown = JSON.parse(line);
      if (question !== null && typeof question === "object" && "id" in question) ({ id } = question);
      const parsed = schema.safeParse(question);
      if (!parsed.success) return framed({ error: sentence(misfits(parsed.error, question), lang) });
      const {
        rules,
        home = homedir(),
        roots = [parsed.data.cwd],
        mcpTools = {},
        sandbox,
        sessionMode,
        ...rest
      } = parsed.data;
      const { requiresUserInteraction } = mcpTools[rest.tool] ?? {};
      const { result } = decide({
        ...rest,
        rules: rulesOf(rules as RuleLists),
        home,
        roots,
        ...(sessionMode && { sessionMode }),
        ...(sandbox && { confine: { ...sandbox, blocked: [] } }),
        ...(requiresUserInteraction !== undefined && { requiresUserInteraction }),
      });
      return framed(toAnswer(result, lang));
    } catch (error) {
      return framed({ error: thrownText(error, lang) });
    }
  };
}

function toAnswer({ behavior, rule, source, reason, parts }: PermissionResult, lang: Lang): object {
  const message = sentence(reason, lang);
  return { behavior: behavior === "passthrough" ? "ask" : behavior, rule, source, reason, message, parts };
}

/** Thousands of lines share a few sets of rules, which are read once. */
function createRuleCache(): (lists: RuleLists) => Rule[] {
  const read = new Map<string, Rule[]>();
  return (lists) => {
    const key = JSON.stringify([lists.deny, lists.ask, lists.allow]);
    let rules = read.get(key);
    if (!rules) {
      if (read.size > 1_000) read.clear();
      read.set(key, (rules = loadRules(lists, "user").rules));
    }
    return rules;
  };
}
