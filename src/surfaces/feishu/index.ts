import { oneLine } from "../../base/visible.ts";
import type { Host } from "../../protocol/host/host.ts";
import type { SurfaceStore } from "../../protocol/host/surface-store.ts";
import { thrownText } from "../../texts/shared/error.ts";
import type { Sender } from "../../protocol/sender.ts";
import { noRedaction, type Redaction } from "./cards/escape.ts";
import { speechesFrom } from "./cards/speech.ts";
import { createSessionManager, followCalled } from "./session/session-manager.ts";
import type { FeishuChannel } from "./channel/channel.ts";
import { createClicks } from "./clicks.ts";
import { createCommandHandler } from "./commands/command-handler.ts";
import { forgetOldFiles } from "./chat/files.ts";
import { createMessageBridge } from "./message-bridge.ts";
import type { People } from "./bot/people.ts";
import { createRecords } from "./bot/records.ts";
import { createStops } from "./commands/stops.ts";
import { languageOf, type ChangeTeam, type Examine, type Team } from "./bot/team.ts";

export type { People } from "./bot/people.ts";
export type { ChangeTeam, ChatSettings, Team } from "./bot/team.ts";
export { defaultLimits } from "./bot/team.ts";

export type FeishuOptions = {
  channel: FeishuChannel;
  store: SurfaceStore;
  /** The app's id: what is remembered belongs to this bot. */
  app: string;
  team(): Team;
  changeTeam: ChangeTeam;
  model?: string;
  /** Folder for received files: below it one for each session, which that session alone may read. */
  inbox: string;
  /** The host continues open turns after a restart by itself; otherwise those that were begun here are resumed from here. */
  hostRecovers?: boolean;
  /** Takes secrets out of everything that goes to a chat. */
  redaction?: Redaction;
  /** May this file of a session's folder be read there without asking? What may not be is not sent either. */
  mayRead(path: string, cwd: string): Promise<boolean>;
  /** Name of the person whose account this process runs under: agents outside of Sage on this machine ask them. */
  account?(): string | undefined;
  examine?: Examine;
  now?(): number;
  log?(line: string): void;
  signal: AbortSignal;
};

type Feishu = {
  /** Resolves once open sessions are followed again. The channel may start earlier. */
  ready: Promise<void>;
  settled(): Promise<void>;
};

const SWEEP_MS = 24 * 60 * 60_000;
const NAME_MS = 500;
const MAX_NAME_LENGTH = 60;

/** Sage in chats: requests as cards, messages as tasks and answers. The caller starts and closes the channel. */
export function attachFeishu(host: Host, options: FeishuOptions): Feishu {
  const { channel, app, team, changeTeam, inbox, signal, now = Date.now } = options;
  const { log = () => {}, redaction = noRedaction, examine = async () => () => [] } = options;
  const speak = (chat: string) => speechesFrom(languageOf(team(), chat));
  /** People of other organisations do not count, whether the settings name one or the first event did. */
  const people = (): People => {
    const tenant = team().people.tenant ?? channel.tenant();
    return { ...team().people, ...(tenant !== undefined && { tenant }) };
  };
  const teamNow = () => ({ ...team(), people: people() });
  const records = createRecords(options.store, app, now);
  const model = options.model === undefined ? {} : { model: options.model };
  const account = options.account && { account: options.account };

  /** A receipt holds both: the name for readers, the id as proof. */
  const senderOf = async (openId: string): Promise<Sender> => {
    const known = people().names?.[openId];
    const patience = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), NAME_MS).unref());
    const name = known ?? (await Promise.race([channel.userName(openId).catch(() => undefined), patience]));
    const shown = oneLine(name ?? "")
      .trim()
      .slice(0, MAX_NAME_LENGTH);
    return { by: shown === "" ? openId : `${shown} (${openId})`, surface: "feishu", person: `feishu:${openId}` };
  };

  const sending = {
    channel,
    records,
    speak,
    redaction,
    people,
    botName: () => channel.botName(),
    now,
    log,
    modes: { entities: true, active: 0 },
  };
  const sessions = createSessionManager({
    ...sending,
    host,
    signal,
    app,
    mayRead: options.mayRead,
    ...account,
    resumes: !options.hostRecovers,
  });
  const stops = createStops(now);
  const commands = createCommandHandler({
    host,
    records,
    sessions,
    team: teamNow,
    changeTeam,
    examine,
    speak,
    redaction,
    now,
    senderOf,
    stops,
    ...model,
  });
  const bridge = createMessageBridge({
    channel,
    records,
    sessions,
    commands,
    team: teamNow,
    speak,
    inbox,
    log,
    senderOf,
    stops,
    ...model,
  });
  const { resume } = commands;
  const clicks = createClicks({ host, records, sessions, people, speak, log, senderOf, resume });

  const ready = sessions.restore().catch((error: unknown) => log(`not everything was restored: ${thrownText(error)}`));
  void ready
    .then(() => followCalled(host, { sessions, signal, log, ...account }))
    .catch((error: unknown) => log(`nobody is called to sessions elsewhere any more: ${thrownText(error)}`));
  const sweep = () =>
    void forgetOldFiles(inbox, now()).catch((error: unknown) =>
      log(`old files were not removed: ${thrownText(error)}`),
    );
  sweep();
  const sweeping = setInterval(sweep, SWEEP_MS).unref();
  signal.addEventListener("abort", () => clearInterval(sweeping), { once: true });
  channel.onMessage(
    async (message) => {
      await ready;
      await bridge.handle(message);
    },
    { overtakes: ({ text }) => commands.overtakes(text) },
  );
  channel.onRecall((recall) => ready.then(() => bridge.recalled(recall)));
  channel.onCard((click) => ready.then(() => clicks(click)));
  return { ready, settled: async () => void (await Promise.all([sessions.settled(), bridge.settled()])) };
}
