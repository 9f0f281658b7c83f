import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { decide, type DecisionInput } from "../src/permission/decide.ts";
import { createRuleBooks } from "../src/permission/rules/book.ts";
import { load, loadGrammar, wasmFile } from "../src/permission/shell/read/grammar.ts";
import type { Rule } from "../src/protocol/facts/permission.ts";
import { median, percentile, type Row } from "./measure.ts";

const rounds = 400;

/** Cost of a decision about a command, with a few rules and with far too many. */
export async function permission(dir: string): Promise<Row[]> {
  const loads: number[] = [];
  for (let i = 0; i < 5; i++) loads.push(await timed(() => load(wasmFile)));
  const grammar = await loadGrammar();
  const books = createRuleBooks();
  const cwd = join(dir, "permission");
  mkdirSync(join(cwd, "src"), { recursive: true });
  writeFileSync(join(cwd, "src/index.ts"), "");
  const rows: Row[] = [{ figure: "shell grammar, load", unit: "ms", sage: median(loads), aim: { atMost: 100 } }];
  for (const count of [200, 1_000]) {
    const call = (command: string): DecisionInput => ({
      ...{ rules: rulesOf(count), mode: "default", cwd, home: dir, roots: [cwd], grammar },
      ...{ tool: "Bash", input: { command }, books },
    });
    const calls = commands.map(call);
    for (let i = 0; i < rounds; i++) decide(calls[i % calls.length]!); // the first ones pay for the compiler
    const times: number[] = [];
    for (let i = 0; i < rounds * calls.length; i++) {
      const before = performance.now();
      decide(calls[i % calls.length]!);
      times.push(performance.now() - before);
    }
    const figure = `decision, ${count} rules`;
    const most = count === 200 ? { p50: { atMost: 0.35 }, p99: { atMost: 5 } } : { p99: { atMost: 20 } };
    rows.push(
      { figure: `${figure}, median`, unit: "ms", sage: median(times), ...(most.p50 && { aim: most.p50 }) },
      { figure: `${figure}, p99`, unit: "ms", sage: percentile(times, 99), aim: most.p99 },
    );
  }
  return rows;
}

const commands = [
  "npm test",
  "git status",
  "cd src && npm run build -- --watch=false 2>&1 | tail -20",
  "grep -rn 'TODO' src | head -50",
  "git add -A && git commit -m 'fix: a thing'",
  "cat src/index.ts > copy.ts",
];

/** As a team piles them up over the years: mostly commands, some paths, a few against. */
function rulesOf(count: number): Rule[] {
  return Array.from({ length: count }, (_, i): Rule => {
    const [behavior, text] = [
      ["allow", `Bash(tool${i} run:*)`],
      ["allow", `Bash(npm run script${i}:*)`],
      ["allow", `Edit(./packages/p${i}/**)`],
      ["deny", `Bash(danger${i}:*)`],
      ["deny", `Read(./vault/${i}/**)`],
      ["ask", `Bash(git push origin release${i}:*)`],
      ["allow", i === 6 ? "Bash(npm:*)" : `Bash(docker exec c${i} *)`],
      ["allow", i === 7 ? "Bash(git commit:*)" : `Read(~/notes/${i}.md)`],
    ][i % 8] as [Rule["behavior"], string];
    return { behavior, text, source: "user" };
  });
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const before = performance.now();
  await work();
  return performance.now() - before;
}
