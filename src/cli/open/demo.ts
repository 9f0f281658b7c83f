import { ask } from "../../protocol/host/refusal.ts";
import { join } from "node:path";
import { Readable } from "node:stream";
import { sqliteStore } from "../../journal/sqlite/sqlite.ts";
import { scripted } from "../../models/scripted.ts";
import { oneLine } from "../../base/visible.ts";
import type { Fact } from "../../protocol/facts/fact.ts";
import { assemble } from "../../host/assembly/assemble.ts";
import { attachPlain } from "../../surfaces/plain/index.ts";
import { headline } from "../../texts/shared/resolution.ts";
import { demoTexts, type DemoTexts } from "../../texts/commands/demo.ts";
import type { Lang } from "../../texts/language.ts";
import { texts } from "../../texts/shared/texts.ts";
import { canDraw } from "./chat.ts";
import { demoScript, demoWorld } from "./demo-script.ts";
import { wantsColor, exitCodeOf, exitCodes } from "../process/stdout.ts";
import { readFlags } from "../process/flags.ts";
import { fitted } from "../../view/lines/safe.ts";
import { accountName } from "../host/journal.ts";
import { onTermination } from "../process/termination.ts";
import { isAsking } from "../../view/items/summary.ts";
import { transcriptOf } from "../../view/transcript/transcript.ts";

/** The real thing in a temporary folder, with a script in the model's place. */
export async function demo(args: string[]): Promise<number> {
  const { lang, values } = readFlags(args, { plain: { type: "boolean" } });
  const t = demoTexts(lang);
  const { dir, cwd, env, remove } = demoWorld(t, process.env);

  const { stdin, stdout } = process;
  const alone = !stdin.isTTY;
  const drawn = !alone && !values.plain && canDraw(process.env);
  const store = sqliteStore(join(dir, "journal.db"));
  const host = assemble({
    store,
    model: async () => scripted(demoScript(t, alone ? 30 : 600), "demo"),
    rules: [],
    permissionMode: "default",
    options: { mode: { type: "interactive" } },
    env,
    output: join(dir, "output"),
  });
  const leave = async () => {
    await host.close();
    remove();
  };
  const leaving = onTermination(leave);
  try {
    const width = stdout.isTTY ? stdout.columns : undefined;
    if (!drawn) console.log(fitted(t.intro, width).join("\n"));
    const { session } = await ask(host, { type: "open", cwd });
    const given = { session, task: t.task, once: true, lang, by: accountName(), signal: leaving.signal };
    const surface = drawn
      ? (await import("../../surfaces/terminal/index.ts")).attachTerminal(host, {
          ...given,
          header: t.intro.join("\n"),
          model: "demo",
          env: process.env,
          logDirectory: dir,
        })
      : attachPlain(host, {
          ...given,
          fleeting: true,
          input: alone ? Readable.from(["1", t.remark, "y", "y"].map((line) => `${line}\n`)) : stdin,
          echo: (line) => `${t.itself} ${line}`,
          output: stdout,
          color: wantsColor(stdout),
        });
    process.on("SIGINT", surface.interrupt);
    const { last } = await surface.done;
    if (leaving.signal.aborted) return await leaving.code;
    const story = ["", t.summary, ...storyOf(store.load(session), t, lang, drawn), "", ...t.next];
    console.log(fitted(story, width).join("\n"));
    return last ? exitCodeOf(last) : exitCodes.interrupted;
  } finally {
    if (!leaving.signal.aborted) await leave();
  }
}

function storyOf(facts: readonly Fact[], t: DemoTexts, lang: Lang, drawn: boolean): string[] {
  const words = texts(lang);
  const me = { by: accountName(), surface: drawn ? "tui" : "plain" };
  return transcriptOf(facts).flatMap((item) => {
    if (item.type !== "call") return [];
    const asked = item.asked.flatMap(({ request, resolution }) => [
      `  ${t.asked[request.kind]}${request.kind === "permission" ? `${words.colon}${request.tool}` : ""}`,
      ...(resolution ? [`    ${oneLine(headline(resolution, words, me))}`] : []),
    ]);
    return [...asked, ...(isAsking(item) ? [] : [`  ${item.call.tool}${words.colon}${words.standing[item.standing]}`])];
  });
}
