import { fields, list, text, type Fields } from "../json.ts";
import type { Rpc } from "../rpc.ts";

/** Time in which the agent has to say that it is there. */
const TIMEOUT_MS = 60_000;

export type Joining = {
  name: string;
  /** The mode in which the agent asks. */
  mode: string | undefined;
  cwd: string;
  /** The session to continue. */
  resume: string | undefined;
  /** The agent took too long. */
  late(): void;
};

/** Opens a session with an agent, in the mode in which it asks. */
export async function join(rpc: Rpc, joining: Joining): Promise<{ session: string; version: string }> {
  const { name, cwd } = joining;
  const timer = setTimeout(joining.late, TIMEOUT_MS);
  try {
    // Neither files nor terminals are offered: the agent uses its own, and asks before it does.
    const here = await rpc.request("initialize", {
      protocolVersion: 1,
      clientInfo: { name: "sage", version: "1" },
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        elicitation: { form: {} },
      },
    });
    const opened =
      (await resumed(rpc, joining, fields(here["agentCapabilities"]))) ??
      (await rpc.request("session/new", { cwd, mcpServers: [] }));
    const session = text(opened["sessionId"]);
    if (session === undefined) throw new Error(`${name} began no session`);
    await setMode(rpc, session, fields(opened["modes"]), joining.mode);
    return { session, version: text(fields(here["agentInfo"])["version"]) ?? "" };
  } finally {
    clearTimeout(timer);
  }
}

/** The session to continue. What the agent tells of the past meanwhile is dropped: the journal knows it. */
async function resumed(rpc: Rpc, { resume, cwd }: Joining, can: Fields): Promise<Fields | undefined> {
  if (resume === undefined) return undefined;
  const canResume = "resume" in fields(can["sessionCapabilities"]);
  if (!canResume && can["loadSession"] !== true) return undefined;
  const way = canResume ? "session/resume" : "session/load";
  return rpc.request(way, { sessionId: resume, cwd, mcpServers: [] }).then(
    (opened) => ({ ...opened, sessionId: resume }),
    () => undefined, // swept, or never written: a new one is told what there is to know
  );
}

/** No agent keeps its mode. One that cannot be put into the mode in which it asks does not run. */
async function setMode(rpc: Rpc, sessionId: string, modes: Fields, mode: string | undefined): Promise<void> {
  const offered = list(modes["availableModes"]).map((one) => text(fields(one)["id"]));
  const wanted = mode ?? (offered.includes("default") ? "default" : undefined);
  if (wanted === undefined || modes["currentModeId"] === wanted) return;
  await rpc.request("session/set_mode", { sessionId, modeId: wanted });
}
