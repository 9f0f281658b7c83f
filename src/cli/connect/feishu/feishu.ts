import { realpathSync } from "node:fs";
import { feishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import { langOf, readFlagsOnly, usage } from "../../process/flags.ts";
import { oneLine } from "../../../base/visible.ts";
import type { SurfaceStore } from "../../../protocol/host/surface-store.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import { readInstallation } from "../../../config/home/home.ts";
import { openSurfaceStores } from "../../../host/surface-store.ts";
import { clusterTexts } from "../../../texts/serve/cluster.ts";
import type { Lang } from "../../../texts/language.ts";
import { engineUrl } from "../../host/join-engine.ts";
import { exitCodes } from "../../process/stdout.ts";
import { openGatewayMemory } from "../../host/gateway-memory.ts";
import { type BotConfig, feishuBots, feishuSurface } from "./config.ts";

export async function feishu(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "setup") return (await import("./setup.ts")).setup(rest);
  if (what === "doctor") return (await import("./doctor.ts")).doctor(rest);
  if (what === "audit") return audit(rest);
  throw usage(feishuSetupTexts(langOf(args)).usage);
}

type Refused = {
  operator: { openId: string; tenantKey?: string };
  chatId?: string;
  messageId?: string;
  request?: string;
  why?: string;
  at: number;
};

/** `sage feishu audit`: refused attempts, newest last. `--json` prints one object per line. */
async function audit(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("feishu audit", args, {
    json: { type: "boolean" },
    engine: { type: "string" },
  } as const);
  const t = feishuSetupTexts(lang);
  const { home, settings, env } = readInstallation(process.env);
  const bots = feishuBots(settings, env, { cwd: realpathSync("."), lang, t });
  if (bots.length === 0) throw new SageError("config-invalid", said(t.notConfigured));
  const url = engineUrl(values.engine, process.env, clusterTexts(lang));
  const remembered = url === undefined ? inFile(home.surfaces) : await inDatabase(url, bots, lang);
  const found = bots.flatMap((bot) => {
    const { app, team } = bot;
    const store = remembered.of(bot);
    const nameOf = (id: string) =>
      team.people.names?.[id] ?? (store.get(`name/${id}`) as { name?: string } | undefined)?.name ?? "";
    return store.list(`${app.appId}/refused/`).map(({ value }) => {
      const refused = value as Refused;
      return { app: app.appId, name: nameOf(refused.operator.openId), ...refused };
    });
  });
  remembered.close();
  const sorted = found.toSorted((a, b) => a.at - b.at);
  for (const contact of sorted)
    console.log(
      values.json
        ? JSON.stringify(contact)
        : [
            new Date(contact.at).toISOString(),
            oneLine(`${contact.name} (${contact.operator.openId})`.trim()),
            t.refusals[contact.why ?? "notYours"] ?? oneLine(contact.why ?? ""),
            oneLine(contact.request ?? contact.messageId ?? ""),
          ].join("  "),
    );
  if (sorted.length === 0 && !values.json) console.log(t.nothingRefused);
  return exitCodes.success;
}

type Reads = Pick<SurfaceStore, "get" | "list">;
type Remembered = { of(bot: BotConfig): Reads; close(): void };

function inFile(path: string): Remembered {
  const stores = openSurfaceStores(path);
  return { of: (bot) => stores.of(feishuSurface(bot)), close: stores.close };
}

async function inDatabase(url: string, bots: readonly BotConfig[], lang: Lang): Promise<Remembered> {
  const memory = await openGatewayMemory(url, clusterTexts(lang));
  try {
    const read = new Map<BotConfig, Reads>();
    for (const bot of bots) read.set(bot, await memory.share(feishuSurface(bot)));
    return { of: (bot) => read.get(bot) ?? { get: () => undefined, list: () => [] }, close() {} };
  } finally {
    await memory.close();
  }
}
