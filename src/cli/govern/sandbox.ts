import { realpathSync } from "node:fs";
import { homedir } from "node:os";
import { fail, exitCodes } from "../process/stdout.ts";
import { loadConfig } from "../../config/config.ts";
import { sageHome } from "../../config/home/home.ts";
import { childEnv } from "../../config/secrets/secrets.ts";
import { changeSettings } from "../../config/settings/settings.ts";
import { createConfining, probeOnce } from "../../host/assembly/confining.ts";
import { judgeHost } from "../../permission/web.ts";
import { createRuleBooks } from "../../permission/rules/book.ts";
import { readFilter } from "../../permission/rules/filter.ts";
import { oneLine } from "../../base/visible.ts";
import type { ConfineMode } from "../../protocol/confine.ts";
import { blockedNames } from "../../texts/reasons/confine.ts";
import { sentence } from "../../texts/shared/sentence.ts";
import { sandboxTexts } from "../../texts/setup/sandbox.ts";
import { requirePerson } from "../host/people-only.ts";
import { readFlags, usage } from "../process/flags.ts";

/** Tells how commands are confined, changes it, or tries a command. */
export async function sandbox(args: string[]): Promise<number> {
  const at = args.indexOf("--");
  const { positionals, lang } = readFlags(at < 0 ? args : args.slice(0, at), {});
  const t = sandboxTexts(lang);
  const [word, ...rest] = positionals;
  const home = sageHome(process.env);
  if (word === "try") return tryOut(shellLine([...rest, ...(at < 0 ? [] : args.slice(at + 1))]), lang);
  if (rest.length > 0 || (word !== undefined && !Object.hasOwn(t.modes, word))) throw usage(t.usage);
  if (word !== undefined) {
    requirePerson(process.env);
    const mode = word as ConfineMode;
    changeSettings(home.settings, (settings) => ({ ...settings, sandbox: { ...settings.sandbox, mode } }));
    console.log(t.saved(mode, home.settings));
  }
  const { sandbox: own, warnings } = loadConfig(home, process.cwd(), process.env);
  console.log(t.mode(own.mode, t.modes[own.mode]));
  for (const why of warnings.filter(({ code }) => code === "confine-root"))
    console.log(`· ${oneLine(sentence(why, lang))}`);
  const probed = await probeOnce(home.dir, homedir());
  console.log(probed.ok ? `✓ ${t.works(probed.version, Math.round(probed.ms))}` : `✗ ${oneLine(t.fails(probed))}`);
  return probed.ok || own.mode === "off" ? exitCodes.success : exitCodes.failure;
}

/** Runs a command as an agent's command would run, and shows what it sees and what was blocked. */
/** A single word is a whole line of a shell; several are a program and its arguments, which stay as they were given. */
function shellLine(words: readonly string[]): string {
  if (words.length === 1) return words.join("");
  return words.map((word) => (/^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

async function tryOut(command: string, lang: "en" | "zh"): Promise<number> {
  const t = sandboxTexts(lang);
  if (command === "") throw usage(t.usage);
  const home = sageHome(process.env);
  const cwd = realpathSync(process.cwd());
  const { sandbox: own, rules } = loadConfig(home, cwd, process.env);
  const books = createRuleBooks();
  const confining = createConfining(
    { ...own, mode: "contain" },
    { apart: false },
  )({
    root: cwd,
    home: homedir(),
    state: home.dir,
    session: "try",
    kept: [],
    mayRead() {
      const filter = readFilter(rules, { cwd, home: homedir(), sageHome: home.dir }, books);
      return (path) => filter?.(path, cwd) ?? true;
    },
  });
  await confining.ready();
  const problem = confining.problem();
  if (problem) return fail(`sage: ${oneLine(sentence(problem, lang))}`);
  const launch = await confining.launch({
    cwd,
    env: { ...childEnv(process.env, cwd), HOME: homedir() },
    as: { repository: "read", hosts: [], writable: [] },
    reach(host) {
      const { behavior, named } = judgeHost(host, books.of(rules, homedir()));
      return behavior === "allow" ? { allowed: true, named } : { allowed: false };
    },
  });
  const { startConfined } = await import("../../confine/start.ts");
  const child = startConfined(launch, ["bash", "--noprofile", "--norc", "-c", command]);
  child.stdin.end();
  child.stdout.pipe(process.stdout, { end: false });
  child.stderr.pipe(process.stderr, { end: false });
  const code = await new Promise<number | string>((resolve) =>
    child.once("close", (status, signal) => resolve(status ?? signal ?? 1)),
  );
  const { blocked, failed } = await launch.over();
  console.error(`\n${failed === undefined ? t.ended(code) : oneLine(failed)}`);
  for (const access of blocked)
    console.error(
      access.kind === "aside"
        ? t.aside(oneLine(access.path), oneLine(access.to))
        : t.blocked(oneLine(blockedNames([access]).join())),
    );
  if (blocked.length === 0) console.error(t.nothingBlocked);
  console.error(t.network);
  return typeof code === "number" ? code : exitCodes.failure;
}
