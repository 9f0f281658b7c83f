import { existsSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { integrityOf } from "../../../archive/integrity.ts";
import { sqliteStore } from "../../../journal/sqlite/sqlite.ts";
import { oneLine, prose } from "../../../base/visible.ts";
import { SageError } from "../../../protocol/reasons/reason.ts";
import { createAnchors } from "../../../config/home/anchors.ts";
import { loadConfig } from "../../../config/config.ts";
import { loadContent } from "../../../config/load-content.ts";
import { loadModules } from "../../../config/load-modules.ts";
import { type Home, sageHome, type Installation, readInstallation } from "../../../config/home/home.ts";
import { withKeys } from "../../../config/home/keys.ts";
import { readPolicy, underPolicy } from "../../../config/settings/policy.ts";
import { readSettings } from "../../../config/settings/settings.ts";
import { probeOnce } from "../../../host/assembly/confining.ts";
import { type CliTexts, cliTexts } from "../../../texts/commands/cli.ts";
import { sage } from "../../../texts/command.ts";
import { errorText, thrownText } from "../../../texts/shared/error.ts";
import { type JournalTexts, journalTexts } from "../../../texts/serve/journal.ts";
import type { Lang } from "../../../texts/language.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { sentence } from "../../../texts/shared/sentence.ts";
import { sandboxTexts } from "../../../texts/setup/sandbox.ts";
import { texts } from "../../../texts/shared/texts.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import { engineUrl } from "../../host/join-engine.ts";
import { problemMessage } from "../../process/folder-gone.ts";
import { exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly } from "../../process/flags.ts";
import { modelOf } from "../../../host/assembly/model-choice.ts";
import { guestPrograms } from "../../../host/guests/guest-programs.ts";
import { installedAgents, isOlder, leastClaude } from "../../../host/guests/installed-agents.ts";
import { agentsTexts } from "../../../texts/setup/agents.ts";

/** Looks, asks the providers, and tells. Nothing is started but MCP servers, for a moment, and nothing mended but the indexes, when asked to. */
export async function doctor(args: string[]): Promise<number> {
  const { values, t, lang } = readFlagsOnly("doctor", args, {
    rebuild: { type: "boolean", default: false },
    engine: { type: "string" },
  });
  let problems = 0;
  const ok = (text: string) => console.log(`✓ ${text}`);
  const bad = (text: string) => {
    problems++;
    console.log(`✗ ${text}`);
  };
  const stopped = new Set<string>();
  const check = async (work: () => void | Promise<void>) => {
    try {
      await work();
    } catch (error) {
      const text = prose(error instanceof SageError ? errorText(error, texts(lang)) : problemMessage(error, t));
      // Unreadable settings make several checks fail: report the problem once.
      if (!stopped.has(text)) bad(text);
      stopped.add(text);
    }
  };
  const report = { ok, bad, note: (text: string) => console.log(`· ${text}`), t: t.doctor };

  const url = engineUrl(values.engine, process.env, clusterTexts(lang));
  const { node } = process.versions;
  if (Number.parseInt(node, 10) >= 24) ok(t.doctor.node(node));
  else bad(t.doctor.oldNode(node));
  await check(() => checkModes(sageHome(process.env), report));
  await check(() => checkRoom(sageHome(process.env), report));
  await check(async () => checkJournal(sageHome(process.env), report));
  if (url !== undefined) await check(async () => (await import("./engine.ts")).checkEngine(url, report, lang));
  await check(() => checkIndexes(sageHome(process.env), { ...report, t: journalTexts(lang) }, values.rebuild));
  await check(() => checkConfig(sageHome(process.env), report, lang));
  await check(() => checkServers(sageHome(process.env), report, lang));
  await check(async () => {
    const { checkProviders } = await import("./providers.ts");
    await checkProviders(readInstallation(process.env), report, lang);
  });
  await check(() => checkRipgrep(report));
  await check(() => checkSandbox(sageHome(process.env), report, lang));
  await check(async () => {
    await checkAgents(readInstallation(process.env), report, lang);
  });

  console.log(problems === 0 ? t.doctor.fine : t.doctor.problems(problems));
  return problems === 0 ? exitCodes.success : exitCodes.failure;
}

type Report = {
  ok(text: string): void;
  bad(text: string): void;
  note(text: string): void;
  t: CliTexts["doctor"];
};

function checkModes({ dir, journal, settings, trust, keys, surfaces, anchors }: Home, { ok, bad, note, t }: Report) {
  const state = [trust, keys, surfaces, anchors, join(dir, "mcp.json")];
  const files = [dir, journal, `${journal}-wal`, `${journal}-shm`, settings, ...state];
  const open = files.filter((path) => existsSync(path) && (statSync(path).mode & 0o077) !== 0);
  for (const path of open) {
    const mode = (statSync(path).mode & 0o777).toString(8);
    // Settings hold rules and names of variables, no key: that others may read them is worth a word and no alarm.
    (path === settings ? note : bad)(t.open(path, mode, path === dir ? "700" : "600"));
  }
  if (open.every((path) => path === settings)) ok(t.home(dir));
}

/** Enough for the next turn and for a journal log that is not checkpointed. */
const ROOM = 2 ** 20;

/** Writes where the journal lies: a full disk may still let everything be read. */
function checkRoom({ dir }: Home, { ok, bad, t }: Report): void {
  if (!existsSync(dir)) return;
  const probe = join(dir, "room.tmp"); // one name: a probe that was killed is overwritten by the next
  try {
    writeFileSync(probe, Buffer.alloc(ROOM), { mode: 0o600, flush: true });
    ok(t.room(dir));
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    bad(
      code === "ENOSPC" || code === "EDQUOT" || code === "EFBIG" ? t.full(dir) : t.unwritable(dir, thrownText(error)),
    );
  } finally {
    rmSync(probe, { force: true });
  }
}

async function checkJournal(home: Home, { ok, bad, note, t }: Report): Promise<void> {
  if (!existsSync(home.journal)) return note(t.noJournal);
  const store = sqliteStore(home.journal);
  try {
    const sessions = store.sessions();
    ok(t.journal(sessions.length, store.pending().length));
    const ids = sessions.map(({ id }) => id);
    const anchors = createAnchors(home, process.env);
    const { sessions: records, vanished, forged } = await integrityOf(store, anchors, ids);
    for (const [id, record] of records) {
      if (record.state === "broken") bad(t.broken(id, record.seq, record.key));
      if (record.state === "rewritten") bad(t.rewritten(id));
    }
    // With a retention for receipts, deletions are forgotten too, so missing sessions cannot be explained.
    if (!underPolicy(readSettings(home.settings), readPolicy()).retention?.receipts)
      for (const id of vanished) bad(t.vanished(oneLine(id)));
    if (forged > 0) bad(t.forged(home.anchors, forged));
    const states = [...records.values()].map(({ state }) => state);
    if (sessions.length > 0 && !states.includes("broken") && !states.includes("rewritten"))
      ok(t.chain(sessions.length, states.filter((state) => state === "anchored").length));
  } finally {
    store.close();
  }
}

/** Compares the list of open requests with the facts: the list is an index, and can be made again. */
function checkIndexes({ journal }: Home, { ok, bad, t }: Omit<Report, "t"> & { t: JournalTexts }, rebuild: boolean) {
  if (!existsSync(journal)) return;
  const store = sqliteStore(journal);
  try {
    if (rebuild) {
      store.rebuildIndexes();
      return ok(t.rebuilt(store.pending().length));
    }
    const { missing, stale } = store.lookAtIndexes();
    if (missing + stale === 0) ok(t.index);
    else bad(t.wrongIndex(missing, stale, sage("doctor --rebuild")));
  } finally {
    store.close();
  }
}

async function checkConfig(home: Home, { ok, bad, note, t }: Report, lang: Lang): Promise<void> {
  const { noModel, untrusted } = cliTexts(lang);
  const config = loadConfig(home, process.cwd(), process.env);
  const { settings, warnings, trust, modules } = config;
  const content = loadContent(home, trust, settings);
  warnings.push(...content.problems);
  if (modules.length > 0) warnings.push(...(await loadModules(config, content.subagents)).warnings);
  for (const why of warnings) bad(oneLine(sentence(why, lang)));
  if (warnings.length === 0) ok(existsSync(home.settings) ? t.settings(home.settings) : t.noSettings(home.settings));
  if (config.policy !== undefined) note(t.policy(config.policy));
  if (trust.state === "untrusted" || trust.state === "changed") note(untrusted(oneLine(trust.root)));
  const choice = modelOf({ settings, env: withKeys(process.env, home) });
  if (choice) ok(t.model(`${choice.provider}/${choice.modelId}`));
  else note(noModel);
}

/** Connects to the servers that count here, and ends them again. */
async function checkServers(home: Home, { ok, bad }: Report, lang: Lang): Promise<void> {
  const config = loadConfig(home, process.cwd(), withKeys(process.env, home));
  if (config.servers.length === 0) return;
  const { tryServers } = await import("../../connect/mcp/list.ts");
  const texts = mcpTexts(lang);
  for (const { server, tools, prompts, ms, problem } of await tryServers(config, lang))
    if (problem === undefined) ok(`MCP ${texts.works(server, tools.length, prompts, ms)}`);
    else bad(`MCP ${texts.fails(server, oneLine(problem))}`);
}

/** Runs the real thing where commands are to run in it. */
async function checkSandbox(home: Home, { ok, bad, note }: Report, lang: Lang): Promise<void> {
  const t = sandboxTexts(lang);
  const { mode } = loadConfig(home, process.cwd(), process.env).sandbox;
  if (mode === "off") return note(t.off());
  const probed = await probeOnce(home.dir, homedir());
  if (!probed.ok) return bad(oneLine(t.fails(probed)));
  ok(t.works(probed.version, Math.round(probed.ms)));
  note(t.mode(mode, t.modes[mode]));
}

async function checkRipgrep({ ok, bad, t }: Report): Promise<void> {
  try {
    const { rgPath } = await import("@vscode/ripgrep");
    if (existsSync(rgPath)) ok(t.ripgrep);
    else bad(t.noRipgrep(rgPath));
  } catch (error) {
    bad(t.noRipgrep(thrownText(error)));
  }
}

/** Other agents that are installed. One that is not there is no problem. */
async function checkAgents({ settings }: Installation, { ok, bad }: Report, lang: Lang): Promise<void> {
  const t = agentsTexts(lang);
  for (const { name, protocol, version } of await installedAgents(guestPrograms(settings.agents), process.env)) {
    if (version === undefined) continue;
    if (protocol === "claude" && isOlder(version, leastClaude)) bad(t.old(version, leastClaude));
    else ok(t.ready(name, version));
  }
}
