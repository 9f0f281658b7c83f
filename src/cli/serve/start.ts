import { realpathSync } from "node:fs";
import { readInstallation, type Installation } from "../../config/home/home.ts";
import { createRedaction, type Redaction } from "../../config/secrets/redact.ts";
import type { Settings } from "../../config/settings/settings.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import type { Log } from "../../surfaces/feishu/transport/api/config.ts";
import { cliTexts } from "../../texts/commands/cli.ts";
import { clusterTexts } from "../../texts/serve/cluster.ts";
import { feishuSetupTexts } from "../../texts/serve/feishu-setup.ts";
import type { Lang } from "../../texts/language.ts";
import { serveTexts, type ServeTexts } from "../../texts/serve/serve.ts";
import { engineUrl, workplaceName } from "../host/join-engine.ts";
import { readFlagsOnly, usage } from "../process/flags.ts";
import { absoluteModelSpec, modelOf } from "../../host/assembly/model-choice.ts";
import { feishuBots, portOf, type BotConfig } from "../connect/feishu/config.ts";
import type { ServedDemo } from "./demo.ts";
import { createLog } from "./log.ts";

const PORT = 8787;

const options = {
  port: { type: "string" },
  host: { type: "string" },
  model: { type: "string" },
  log: { type: "string" },
  open: { type: "boolean" },
  demo: { type: "boolean" },
  engine: { type: "string" },
  place: { type: "string" },
} as const;

/** How a daemon was started: its flags, settings and log. */
export type Start = Served & {
  lang: Lang;
  t: ServeTexts;
  /** The model for sessions that name none. */
  spec: string | undefined;
  /** The database of a shared journal; undefined where the journal is this machine's. */
  url: string | undefined;
  /** Repeated in suggested commands. */
  engineFlag: "" | " --engine …";
  /** The place of new sessions on a shared journal. */
  place: string;
  at: { host: string; port: number };
  opens: boolean;
  redaction: Redaction;
  log: Log;
};

type Served = {
  /** Stands in where there is neither a bot nor a model. */
  demo: ServedDemo | undefined;
  installation: Installation;
  configured: BotConfig[];
  cwd: string;
};

export async function readStart(args: string[]): Promise<Start> {
  const { values, lang, t: cli } = readFlagsOnly("serve", args, options);
  const cluster = clusterTexts(lang);
  const spec = absoluteModelSpec(values.model);
  const url = engineUrl(values.engine, process.env, cluster);
  if (values.demo && url !== undefined) throw usage(cluster.noDemo);
  const served = await chooseServed(values.demo === true, spec, lang, url !== undefined);
  const { settings, env } = served.installation;
  const at = {
    host: values.host ?? settings.serve?.host ?? "127.0.0.1",
    port: chosenPort(values.port, env["FEISHU_PORT"], settings, lang),
  };
  const format = values.log ?? "text";
  if (format !== "text" && format !== "json") throw usage(cli.expected("--log", cli.oneOf(["text", "json"]), format));
  const redaction = createRedaction(env);
  const log = createLog(redaction.text, format);
  const t = serveTexts(lang);
  if (served.demo && !values.demo) log("warn", t.demo);
  const place = workplaceName(values.place, cluster);
  return {
    ...served,
    lang,
    t,
    spec,
    url,
    place,
    at,
    redaction,
    log,
    engineFlag: values.engine === undefined ? "" : " --engine …",
    opens: values.open === true,
  };
}

/** Serves bots, a model, or the demo where there is neither. */
async function chooseServed(
  asksDemo: boolean,
  spec: string | undefined,
  lang: Lang,
  workersHaveModels: boolean,
): Promise<Served> {
  const installation = readInstallation(process.env);
  const cwd = realpathSync(".");
  const parts = { cwd, lang, t: feishuSetupTexts(lang) };
  const configured = asksDemo ? [] : feishuBots(installation.settings, installation.env, parts);
  const found = !asksDemo && (workersHaveModels || modelOf(installation, spec) !== undefined);
  if (found) return { demo: undefined, installation, configured, cwd };
  // People in a chat would take a script for an agent.
  if (configured.length > 0) throw new SageError("model-unavailable", said(cliTexts(lang).noModel));
  const { openDemo } = await import("./demo.ts");
  const demo = openDemo(process.env, lang);
  return { demo, installation: readInstallation(demo.env), configured: [], cwd: demo.cwd };
}

function chosenPort(flag: string | undefined, env: string | undefined, { serve }: Settings, lang: Lang): number {
  const given = flag ?? env;
  if (given === undefined) return serve?.port ?? PORT;
  return portOf(given, flag === undefined ? "FEISHU_PORT" : "--port", feishuSetupTexts(lang));
}
