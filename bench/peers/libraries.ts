// The packed library beside others that ask a person before a tool runs, each as a stranger has it: installed from npm.
import { execFile } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { packageEntries } from "../../scripts/entries.ts";
import { stage } from "../../scripts/release/stage.ts";
import { median, sample, type Row } from "../measure.ts";
import { install, firstLine, quietly, sizeOf, unmeasured, type Peer } from "./install.ts";

type Library = Peer & { script: string };

const libraries: readonly Library[] = [
  { name: "AI SDK", packages: ["ai", "zod"], script: "ai-sdk.mjs" },
  { name: "OpenAI Agents SDK", packages: ["@openai/agents", "zod"], script: "openai-agents.mjs" },
  // Its newest version needs a newer core than every registry has.
  { name: "LangGraph JS", packages: ["@langchain/langgraph@1.2", "@langchain/core"], script: "langgraph.mjs" },
];
const rounds = 5;

type Found = { name: string; sizeMb: number; importMs: number; approvals: Record<"200" | "800", number> };

/** Installed size, import, and what a person's yes costs. */
export async function library(dir: string): Promise<Row[]> {
  const missing: Row[] = [];
  const own = await installSage(dir);
  const found = [await measure("Sage", "sage-agent", own, "sage.mjs")];
  for (const peer of libraries) {
    const installed = await install(peer);
    if ("problem" in installed) missing.push(unmeasured(installed));
    else
      await measure(
        `${peer.name} ${installed.version}`,
        installed.main,
        join(installed.modules, ".."),
        peer.script,
      ).then(
        (measured) => found.push(measured),
        (error) =>
          missing.push(unmeasured({ name: peer.name, problem: `cannot be driven: ${firstLine(String(error))}` })),
      );
  }
  const [sage, ...others] = found as [Found, ...Found[]];
  const rows = (figure: string, unit: string, value: (found: Found) => number): Row[] =>
    others
      .filter((other) => Number.isFinite(value(other)))
      .map((other) => ({ figure, unit, sage: value(sage), floor: { name: other.name, value: value(other) } }));
  const entries = packageEntries()
    .map(({ name }) => name)
    .filter((name) => name !== ".");
  const imports: Row[] = [];
  for (const name of entries) imports.push(await importOf(name, own));
  return [
    ...rows("library: installed, with what it needs", "MB", ({ sizeMb }) => sizeMb),
    ...rows("library: CPU of its import, over bare Node", "ms", ({ importMs }) => importMs),
    ...rows("library: an approval, 200 in a row", "µs", ({ approvals }) => approvals[200]),
    ...rows("library: an approval, 800 in a row", "µs", ({ approvals }) => approvals[800]),
    {
      figure: "library: an approval, 800 in a row",
      unit: "µs",
      sage: sage.approvals[800],
      floor: { name: "itself, 200 in a row", value: sage.approvals[200] },
      aim: { ratio: 1 },
    },
    ...imports,
    ...missing,
  ];
}

async function importOf(name: string, folder: string): Promise<Row> {
  return {
    figure: `library: CPU to import sage-agent/${name}, over bare Node`,
    unit: "ms",
    sage: await importCpu(`sage-agent/${name}`, folder),
  };
}

/** The package as it would be published, in a project of its own. */
async function installSage(dir: string): Promise<string> {
  const [staged, project] = [join(dir, "package"), join(dir, "embedder")];
  await stage(staged);
  mkdirSync(project);
  writeFileSync(join(project, "package.json"), '{ "private": true, "type": "module" }\n');
  await promisify(execFile)("npm", ["pack", "--pack-destination", project, "--loglevel=error"], { cwd: staged });
  const packed = readdirSync(project).find((name) => name.endsWith(".tgz"))!;
  await promisify(execFile)("npm", ["install", ...quietly, `./${packed}`, "zod"], { cwd: project, timeout: 300_000 });
  return project;
}

async function measure(name: string, main: string, folder: string, script: string): Promise<Found> {
  copyFileSync(join(import.meta.dirname, script), join(folder, script)); // a bare name is looked up from there
  const approvals: Found["approvals"][] = [];
  for (let round = 0; round < rounds; round++)
    approvals.push(
      JSON.parse((await sample({ argv: [process.execPath, script], cwd: folder })).stdout) as Found["approvals"],
    );
  const each = (calls: "200" | "800") => median(approvals.map((found) => found[calls]));
  return {
    ...{ name, importMs: await importCpu(main, folder), approvals: { 200: each("200"), 800: each("800") } },
    sizeMb: sizeOf(join(folder, "node_modules")),
  };
}

/** Processor time of an import, over that of a bare Node. */
async function importCpu(name: string, folder: string): Promise<number> {
  const cpu = async (code: string) =>
    (await sample({ argv: [process.execPath, "--input-type=module", "-e", code], cwd: folder })).cpuMs;
  const [having, lacking]: [number[], number[]] = [[], []];
  for (let turn = 0; turn < 7; turn++) {
    having.push(await cpu(`await import(${JSON.stringify(name)})`));
    lacking.push(await cpu("0"));
  }
  return median(having) - median(lacking);
}
