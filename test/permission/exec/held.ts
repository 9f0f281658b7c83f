import { programFacts } from "../../../src/permission/programs/table.ts";
import { bashIn } from "../asking.ts";
import { secret, Traces, type Traced } from "./trace.ts";

/** Runs them a few at a time, and returns what was not foreseen, and how many did something that a rule could be against. */
export async function holdAgainst(
  commands: readonly string[],
  tell: (found: string) => void = () => {},
): Promise<{ wrong: string[]; met: number }> {
  using traces = new Traces();
  const wrong: string[] = [];
  let [next, met] = [0, 0];
  const work = async () => {
    for (let n = next++; n < commands.length; n = next++) {
      const command = commands[n]!;
      const traced = await traces.run(command);
      const isMet = traced.ran.some(([name]) => name === "rm") || traced.shown.includes(secret);
      if (isMet || traced.planted.length > 0 || traced.ran.some((words) => words.includes("push"))) met++;
      for (const found of unforeseen(command, traced, traces.cwd)) {
        wrong.push(`${found}: ${command}`);
        tell(`${found}: ${command}`);
      }
    }
  };
  await Promise.all(Array.from({ length: 4 }, work));
  return { wrong, met };
}

/** Things that really happened, and that no rule against them would have met. */
function unforeseen(command: string, { ran, opened, shown, planted }: Traced, cwd: string): string[] {
  const place = { cwd, home: `${cwd}/..`, roots: [cwd] };
  const passes = (more: object, ...rules: string[]) =>
    bashIn({ ...place, ...more }, command, ...rules).behavior === "allow";
  const programs = new Set(ran.map(([name = ""]) => name));
  // Programs that others start by themselves; and shells, which are only the way to what they run.
  const own = new Set([...programs].flatMap((name) => (programFacts(name).starts ?? "").split(" ")));
  const isOwn = (name: string) =>
    own.has(name) || /^(sh|bash|dash|env)$/.test(name) || [...programs].some((other) => name.startsWith(`${other}-`));
  const found = [...programs]
    .filter((name) => !isOwn(name) && passes({}, "+ Bash", `- Bash(${name}:*)`))
    .map((name) => `runs ${name}`);
  if (ran.some(([name, ...args]) => name === "git" && args.includes("push")))
    if (passes({}, "+ Bash", "- Bash(git push:*)")) found.push("pushes");
  const opens = opened.some(
    ({ path, program }) =>
      /\/(\.env|secret\.json)$/.test(path) && program !== "git" && program !== "" && !/^(bash|sh)$/.test(program),
  );
  if ((opens || shown.includes(secret)) && passes({}, "+ Bash", "- Read(**/.env)", "- Read(**/secret.json)"))
    found.push("shows a denied file");
  if (planted.length > 0 && passes({ mode: "bypass" })) found.push(`writes ${planted.join(", ")}`);
  return found;
}
