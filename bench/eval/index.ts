// npm run eval -- --model anthropic/claude-sonnet-5-5          twenty coding tasks with hidden checks
// npm run eval -- --agent claude                               the same, with another agent in Sage's place of the loop
// npm run eval -- --command "pi -p"                            the same with any agent that takes a prompt as its last argument
// npm run eval -- --replay recorded/                           what --record FOLDER kept, without a model
// Also: --only csv,race  --rounds 3  --json FILE
// A person of the suite says yes to ordinary commands. Run it where a model may do that: a container, a machine for it.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { loadScript, scripted } from "../../src/models/scripted.ts";
import { play, type Played, type Player } from "./play.ts";
import { report } from "./report.ts";
import { tasks, type EvalTask } from "./tasks.ts";

const main = join(import.meta.dirname, "../../src/cli/main.ts");

if (import.meta.main) {
  const { values } = parseArgs({
    options: {
      model: { type: "string" },
      agent: { type: "string" },
      command: { type: "string" },
      replay: { type: "string" },
      record: { type: "string" },
      only: { type: "string" },
      rounds: { type: "string", default: "1" },
      json: { type: "string" },
    },
  });
  const ids = values.only?.split(",");
  const unknown = ids?.filter((id) => !tasks.some((task) => task.id === id)) ?? [];
  const rounds = Number(values.rounds);
  const ways = [values.model, values.agent, values.command, values.replay].filter((way) => way !== undefined);
  if (ways.length !== 1 || unknown.length > 0 || !Number.isInteger(rounds) || rounds < 1) {
    console.error(
      unknown.length > 0
        ? `eval: no task is called ${unknown.join(", ")}; there are ${tasks.map(({ id }) => id).join(", ")}`
        : 'eval: give one of --model provider/name, --agent name, --command "program args", --replay folder; --rounds takes a number from 1',
    );
    process.exit(2);
  }
  const played: Played[] = [];
  for (let round = 0; round < rounds; round++)
    for (const task of tasks.filter(({ id }) => !ids || ids.includes(id))) {
      const result = await play(task, await playerFor(task, values), values.record);
      console.log(
        `${result.solved ? "✔" : "✖"} ${task.id} (${result.seconds} s)${result.problem === undefined ? "" : `: ${result.problem}`}`,
      );
      played.push(result);
    }
  console.log(`\n${report(played)}`);
  if (values.json !== undefined) writeFileSync(values.json, `${JSON.stringify(played, undefined, 2)}\n`);
}

type Given = { model?: string; agent?: string; command?: string; replay?: string };

async function playerFor(task: EvalTask, { model, agent, command, replay }: Given): Promise<Player> {
  if (model !== undefined) return { model };
  if (replay !== undefined) return { model: scripted(await loadScript(join(replay, `${task.id}.json`))) };
  if (agent !== undefined) return { command: [process.execPath, main, "--agent", agent, "--yes", "-p"] };
  return { command: (command ?? "").split(/\s+/) };
}
