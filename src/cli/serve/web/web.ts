import { basename } from "node:path";
import { WebSocketServer } from "ws";
import type { Settings, WebSettings } from "../../../config/settings/settings.ts";
import type { Redaction } from "../../../config/secrets/redact.ts";
import { version } from "../../../config/version.ts";
import { guarded } from "../../../host/person/guarded.ts";
import { createVeil } from "../../../host/person/veil.ts";
import { parseCall, parseCommand } from "../../../host/socket/messages.ts";
import { createWireServer, type Greet } from "../../../host/socket/serve.ts";
import { webWire } from "../../../host/socket/web-wire.ts";
import type { Store } from "../../../journal/store/store.ts";
import type { Command, Host } from "../../../protocol/host/host.ts";
import { said, SageError } from "../../../protocol/reasons/reason.ts";
import type { PasskeyProof } from "../../../protocol/sender.ts";
import { closeCodes } from "../../../remote/wire.ts";
import type { Caller, Devices, Entered, PageFiles, Web } from "../../../surfaces/web/index.ts";
import { addWeb, createEntrance } from "../../../surfaces/web/index.ts";
import type { App, BodyReader } from "./http.ts";
import { createPasskeys } from "./passkeys.ts";
import type { Visitors } from "./visitors.ts";

const MAX_FRAME_BYTES = 1024 * 1024;

type WebOptions = {
  host: Host;
  store: Store;
  devices: Devices;
  visitors: Visitors;
  settings(): Settings;
  /** The folder in which `sage serve` was started: a new session works there unless another one is named. */
  cwd: string;
  files: PageFiles;
  redaction: Redaction;
  origins(): readonly string[];
};

export type OpenWeb = { routes(app: App, readBody: BodyReader): void; upgrade: Web["upgrade"]; close(): void };

/** The page, scripts and remote terminals, each with the host as its person may use it. */
export function openWeb(options: WebOptions): OpenWeb {
  const { host, store, devices, visitors, settings, cwd, files, redaction, origins } = options;
  const entrance = createEntrance({ devices, visitorOf: visitors.visitorOf });
  const hostFor = ({ identity, visitor, elsewhere, ended }: Entered, surface: string, proof?: PasskeyProof): Host =>
    guarded(host, store, {
      sender: {
        by: visitor.by,
        surface,
        person: visitor.person,
        ...(visitor.device !== undefined && { device: visitor.device }),
        ...(proof ? { signed: proof } : elsewhere && { signed: "device" }),
      },
      may: (act) => visitors.visitorOf(identity)?.may.includes(act) ?? false,
      folders: () => foldersOf(settings(), cwd),
      redaction,
      signal: ended,
    });
  const passkeys = createPasskeys({
    devices,
    store,
    parse,
    veil: createVeil(redaction),
    nameOf: (identity) => visitors.visitorOf(identity)?.by,
    hostFor: (entered, proof) => hostFor(entered, "web", proof),
  });
  const wires = createWireServer();
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: MAX_FRAME_BYTES });

  const greet =
    (caller: Caller, leaving: (leave: () => void) => void): Greet =>
    async ({ surface }, key) => {
      const entered = await entrance.enter(key, caller);
      if (entered === "unsure") return { close: closeCodes.leaving, why: entered };
      if (entered === "key-unknown") return { close: closeCodes.keyUnknown, why: entered };
      if (entered === "may-not-look") return { close: closeCodes.notPermitted, why: entered };
      const { visitor, ended } = entered;
      leaving(entered.leave);
      // Between processes nobody says who they are; over the web nobody is such a process.
      const known = surface === "process" ? "sdk" : surface;
      return {
        host: hostFor(entered, known),
        person: visitor.by,
        version,
        journal: store.journalId(),
        me: { by: visitor.by, surface: known },
        may: visitor.may,
        revoked: ended,
      };
    };
  let web: Web | undefined;
  return {
    routes(app, readBody) {
      web = addWeb(app, {
        origins,
        files,
        devices,
        entrance,
        hostFor,
        passkeys,
        parse,
        readBody,
        identity: settings().serve?.web?.identity,
        count: wires.countCommand,
        open: (request, socket, head, caller) =>
          sockets.handleUpgrade(request, socket, head, (opened) => {
            const leaving = (leave: () => void) =>
              opened.readyState === opened.CLOSED ? leave() : void opened.once("close", leave);
            wires.serve((hear) => webWire(opened, hear), greet(caller, leaving));
          }),
      });
    },
    upgrade: (...asked) => web?.upgrade(...asked),
    close: wires.close,
  };
}

/** Folders in which sessions may be begun from elsewhere, by name; the one that the daemon was started in is the first. */
export function foldersOf(
  { workspaces = {}, serve }: Pick<Settings, "workspaces"> & { serve?: { web?: WebSettings | undefined } | undefined },
  cwd: string,
): Record<string, string> {
  const chosen = serve?.web?.folders;
  const named = Object.entries(workspaces).filter(([name]) => chosen?.includes(name) ?? true);
  const own = named.find(([, path]) => path === cwd)?.[0] ?? basename(cwd);
  return { [own]: cwd, ...Object.fromEntries(named) };
}

function parse(body: unknown): Command {
  try {
    const call = parseCall({ do: "send", id: 0, command: body });
    if (call.do === "send") return parseCommand(call.command);
  } catch (error) {
    if (error instanceof SageError) throw error;
  }
  throw new SageError("request-invalid", said("not a command of this host"));
}
