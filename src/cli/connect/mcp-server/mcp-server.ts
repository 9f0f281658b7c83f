import { sageHome } from "../../../config/home/home.ts";
import { readSettings } from "../../../config/settings/settings.ts";
import { silenceOptions } from "../../../config/settings/silence.ts";
import { version } from "../../../config/version.ts";
import { agentNameFrom } from "../../../protocol/host/outside.ts";
import { exitCodes } from "../../process/stdout.ts";
import { readFlagsOnly } from "../../process/flags.ts";
import { openLocalJournal } from "../../host/journal.ts";
import { type AskParts, type Result, asResult, askPerson, askPersonInput, resultData } from "./ask-person.ts";
import { sessionOutside } from "../../../input/outside.ts";

const MAX_SHOWN = 50;

const options = { name: { type: "string" } } as const;

/** Name of a client that does not say a usable one. */
const UNNAMED = "mcp-client";

const instructions = `Sage asks a person for you. The request stands in the person's inbox (terminal, chat, browser) until somebody answers it; it survives your own end and that of this server.
Call ask_person with one of questions, text or confirm. If nobody answers within wait_seconds, you get a ticket: go on with other work, and call ask_person with the ticket later.
inbox lists what you asked in this folder, with the answers.`;

/** `sage mcp-server`: lets agents that speak MCP ask a person through Sage. Standard output belongs to the protocol. */
export async function mcpServer(args: string[]): Promise<number> {
  const { values } = readFlagsOnly("mcp-server", args, options);
  const { McpServer } = await import("@modelcontextprotocol/server");
  const { StdioServerTransport } = await import("@modelcontextprotocol/server/stdio");
  const { z } = await import("../../../tools/definition/zod.ts");
  const silence = silenceOptions(readSettings(sageHome(process.env).settings));
  const { host, store } = openLocalJournal(process.env, { silence });
  const over = new AbortController();
  const server = new McpServer({ name: "sage", version }, { capabilities: { tools: {} }, instructions });
  const parts = {
    host,
    store,
    signal: over.signal,
    cwd: process.cwd(),
    agent: () => agentNameFrom(values.name ?? server.server.getClientVersion()?.name ?? "", UNNAMED),
  };
  server.registerTool(
    "ask_person",
    {
      title: "Ask a person",
      description:
        "Asks a person and waits for the answer. Give exactly one of: questions (to choose from, or to answer in own words), text (something to write), confirm (yes or no), ticket (of an earlier request that still waits).",
      inputSchema: askPersonInput(z),
      annotations: { readOnlyHint: true, openWorldHint: true },
    },
    async (input, { mcpReq }) => askPerson(parts, input, mcpReq),
  );
  server.registerTool(
    "inbox",
    {
      title: "What was asked",
      description: "Lists what you asked a person in this folder: open requests, and the answers to those that ended.",
      inputSchema: z.object({}),
      annotations: { readOnlyHint: true },
    },
    async () => listRequests(parts),
  );
  const closed = Promise.withResolvers<void>();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => closed.resolve());
  // Requests stay open and can be picked up later.
  for (const end of ["end", "close"]) process.stdin.once(end, () => closed.resolve());
  await server.connect(new StdioServerTransport());
  await closed.promise;
  over.abort();
  await host.close();
  return exitCodes.success;
}

/** Requests of this agent in this folder, the newest first: an agent sees nothing of others, nor of Sage's own sessions. */
function listRequests({ store, agent, cwd }: AskParts): Result {
  const session = sessionOutside({ agent: [agent()], cwd });
  const facts = store.session(session) ? store.load(session) : [];
  const requests = facts.flatMap((fact) => (fact.type === "input.requested" ? [fact.data] : []));
  const shown = requests.toReversed().slice(0, MAX_SHOWN);
  return asResult({ requests: shown.map((request) => resultData(request, store.resolution(request.id))) });
}
