import { realpathSync } from "node:fs";
import { oneLine, SageError, said } from "../../../protocol/index.ts";
import { readInstallation } from "../../../config/installation.ts";
import { openSurfaceStores } from "../../../host/surface-store.ts";
import { feishuSetupTexts } from "../../../texts/feishu-setup.ts";
import { exitCodes } from "../../exit-codes.ts";
import { noWords, readFlags } from "../../flags.ts";
import { feishuBots } from "./config.ts";

type Refused = {
  operator: { openId: string; tenantKey?: string };
  chatId?: string;
  messageId?: string;
  request?: string;
  why?: string;
  at: number;
};

/** `sage feishu audit`: who tried what they may not, newest last. `--json` gives one object a line. */
export async function audit(args: string[]): Promise<number> {
  const { values, positionals, lang, t: cli } = readFlags(args, { json: { type: "boolean" } });
  noWords("feishu audit", positionals, cli);
  const t = feishuSetupTexts(lang);
  const { home, settings, env } = readInstallation(process.env);
  const bots = feishuBots(settings, env, { cwd: realpathSync("."), lang, t });
  if (bots.length === 0) throw new SageError("config-invalid", said(t.notConfigured));
  const stores = openSurfaceStores(home.surfaces);
  const found = bots.flatMap(({ app, team }) => {
    const store = stores.of(`feishu/${app.appId}`);
    const nameOf = (id: string) =>
      team.people.names?.[id] ?? (store.get(`name/${id}`) as { name?: string } | undefined)?.name ?? "";
    return store.list(`${app.appId}/refused/`).map(({ value }) => {
      const refused = value as Refused;
      return { app: app.appId, name: nameOf(refused.operator.openId), ...refused };
    });
  });
  stores.close();
  const sorted = found.toSorted((a, b) => a.at - b.at);
  for (const one of sorted)
    console.log(
      values.json
        ? JSON.stringify(one)
        : [
            new Date(one.at).toISOString(),
            oneLine(`${one.name} (${one.operator.openId})`.trim()),
            t.refusals[one.why ?? "notYours"] ?? oneLine(one.why ?? ""),
            oneLine(one.request ?? one.messageId ?? ""),
          ].join("  "),
    );
  if (sorted.length === 0 && !values.json) console.log(t.nothingRefused);
  return exitCodes.success;
}
