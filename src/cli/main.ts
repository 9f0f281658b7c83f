import { join } from "node:path";
import { prose } from "../base/visible.ts";
import { SageError, messageOf } from "../protocol/reasons/reason.ts";
import { startsAs } from "../texts/command.ts";
import { programName, programNameAnywhere } from "./process/started-by.ts";
import { exitCodeOfError, exitCodes, guardConsole, surviveReaders } from "./process/stdout.ts";

// Each command is a file of its own, loaded when it is called: most of what Sage can do is not needed for most calls.
const commands: Record<string, () => Promise<(args: string[]) => Promise<number>>> = {
  sessions: async () => (await import("./record/sessions/sessions.ts")).sessions,
  inbox: async () => (await import("./answer/inbox.ts")).inbox,
  answer: async () => (await import("./answer/answer.ts")).answer,
  rewind: async () => (await import("./record/rewind.ts")).rewind,
  tasks: async () => (await import("./tasks/tasks.ts")).tasks,
  why: async () => (await import("./answer/why.ts")).why,
  stats: async () => (await import("./record/stats.ts")).stats,
  export: async () => (await import("./record/export.ts")).exportSession,
  backup: async () => (await import("./record/backup.ts")).backup,
  agents: async () => (await import("./connect/agents.ts")).agents,
  models: async () => (await import("./setup/models.ts")).models,
  doctor: async () => (await import("./setup/doctor/doctor.ts")).doctor,
  permissions: async () => (await import("./govern/permissions/permissions.ts")).permissions,
  mcp: async () => (await import("./connect/mcp/mcp.ts")).mcp,
  acp: async () => (await import("./connect/acp.ts")).acp,
  "mcp-server": async () => (await import("./connect/mcp-server/mcp-server.ts")).mcpServer,
  trust: async () => (await import("./govern/trust.ts")).trustFolder,
  hosts: async () => (await import("./connect/hosts.ts")).hosts,
  sandbox: async () => (await import("./govern/sandbox.ts")).sandbox,
  setup: async () => (await import("./setup/setup.ts")).setup,
  devices: async () => (await import("./connect/devices.ts")).devices,
  serve: async () => (await import("./serve/serve.ts")).serve,
  worker: async () => (await import("./engine/worker.ts")).worker,
  workers: async () => (await import("./engine/workers.ts")).workers,
  move: async () => (await import("./engine/move.ts")).move,
  engine: async () => (await import("./engine/engine.ts")).engine,
  feishu: async () => (await import("./connect/feishu/feishu.ts")).feishu,
  demo: async () => (await import("./open/demo.ts")).demo,
  hook: async () => (await import("./connect/hook/hook.ts")).hook,
  help: async () => (await import("./setup/help.ts")).help,
};

/** Commands that an agent must not run in the person's name: whole, or with one of these words, wherever flags push it. */
const forPeople: Record<string, "whole" | readonly string[]> = {
  acp: "whole",
  answer: "whole",
  rewind: "whole",
  backup: "whole",
  setup: "whole",
  trust: "whole",
  serve: "whole",
  worker: "whole",
  move: "whole",
  engine: "whole",
  devices: "whole",
  feishu: "whole",
  permissions: ["add", "remove", "import"],
  mcp: ["add", "remove", "import", "login"],
  sessions: ["rename", "fork", "delete", "gc"],
  tasks: ["stop", "keep"],
  agents: ["stop"],
  hook: ["install", "uninstall"],
  hosts: ["add", "remove"],
};

surviveReaders();
guardConsole();
process.on("uncaughtException", (thrown) => void explain(thrown).finally(() => process.exit(1)));

const program = { source: import.meta.url.endsWith(".ts"), root: join(import.meta.dirname, "../..") };
startsAs(programName(process.env, program), programNameAnywhere(process.env, program));

process.exitCode = 1; // of a process that ends before its command has
void main(process.argv.slice(2))
  .catch(explain)
  .then((code) => process.stdout.write("", () => process.exit(code)));

async function main(given: string[]): Promise<number> {
  const args = commandFirst(given);
  const flags = args.includes("--") ? args.slice(0, args.indexOf("--")) : args;
  if (flags.includes("--help") || flags.includes("-h"))
    return (await import("./setup/help.ts")).help(args, Object.keys(commands));
  if (flags.includes("--version")) return (await import("./setup/help.ts")).showVersion();
  const command = Object.hasOwn(commands, args[0] ?? "") ? commands[args[0] ?? ""] : undefined;
  const joins = command === undefined && flags.some((flag) => /^(-p?[cr]|--continue$|--resume(=|$))/.test(flag));
  if (joins || (command && isForPeople(args))) (await import("./host/people-only.ts")).requirePerson(process.env);
  if (command) return (await command())(args.slice(1));
  return (await import("./open/run.ts")).run(args, Object.keys(commands));
}

function isForPeople([command = "", ...more]: readonly string[]): boolean {
  const words = Object.hasOwn(forPeople, command) ? forPeople[command] : undefined;
  return words === "whole" || more.some((word) => words?.includes(word));
}

/** `sage --lang zh doctor`, `sage --host box inbox`: these flags may stand before a command, as they may before a task. */
function commandFirst(args: string[]): string[] {
  let count = 0;
  while (/^--(lang|host|engine)(=|$)/.test(args[count] ?? "")) count += args[count]?.includes("=") ? 1 : 2;
  return Object.hasOwn(commands, args[count] ?? "") ? [...args.slice(count), ...args.slice(0, count)] : args;
}

async function explain(error: unknown): Promise<number> {
  const debug = process.env["SAGE_DEBUG"] === "1";
  if (debug) console.error(error);
  if (error instanceof SageError) {
    if (!debug) await complain(prose(await told(error)));
    return exitCodeOfError(error.code);
  }
  const { cliTexts } = await import("../texts/commands/cli.ts");
  const { languageOf } = await import("../texts/language.ts");
  const { isFolderGone } = await import("./process/folder-gone.ts");
  const { wrong, folderGone } = cliTexts(languageOf(process.env));
  const isGone = isFolderGone(error);
  if (!debug) await complain(isGone ? folderGone : wrong(prose(messageOf(error))));
  return isGone ? exitCodes.usage : exitCodes.failure;
}

/** Broken between words where there is a terminal. */
async function complain(text: string): Promise<void> {
  const { fitted } = await import("../view/lines/safe.ts");
  const width = process.stderr.isTTY ? process.stderr.columns : undefined;
  console.error(fitted(`sage: ${text}`.split("\n"), width).join("\n"));
}

/** In the reader's language where the error says why by a code. */
async function told(error: SageError): Promise<string> {
  const { languageOf } = await import("../texts/language.ts");
  const { asTyped } = await import("../texts/command.ts");
  return asTyped((await import("../texts/shared/sentence.ts")).sentence(error.reason, languageOf(process.env)));
}
