import { succeed } from "../../process/stdout.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { langOf, readFlags, runAction, type Actions, usage } from "../../process/flags.ts";
import { sageHome } from "../../../config/home/home.ts";
import { tokenStore } from "../../../host/assembly/servers.ts";
import { ServerFailure } from "../../../mcp/server.ts";
import { oneLine } from "../../../base/visible.ts";
import { configHere, serverNamed } from "./list.ts";
import { SageError } from "../../../protocol/reasons/reason.ts";

const actions: Actions = {
  list: async () => (await import("./list.ts")).list,
  add: async () => (await import("./change.ts")).add,
  remove: async () => (await import("./change.ts")).remove,
  test: async () => (await import("./list.ts")).test,
  login: async () => login,
  import: async () => (await import("./import.ts")).importServers,
};

/** `sage mcp …`: servers that bring tools from outside. */
export async function mcp(args: string[]): Promise<number> {
  return runAction(actions, args.length === 0 ? ["list"] : args, () => mcpTexts(langOf(args)).usage);
}

/** Logs in to a remote server: the person opens the address, and their browser comes back to this machine. */
async function login(args: string[]): Promise<number> {
  const { positionals, lang } = readFlags(args, {});
  const texts = mcpTexts(lang);
  const [name, ...more] = positionals;
  if (name === undefined || more.length > 0) throw usage(texts.loginHow);
  const definition = serverNamed(configHere(), name);
  if (definition.transport.type !== "http") throw usage(texts.notHttp(name));
  const { login: begin } = await import("../../../mcp/oauth.ts");
  const leaving = new AbortController();
  process.once("SIGINT", () => leaving.abort(new Error("SIGINT")));
  const show = (address: URL) => console.log(`${texts.open(name)}\n${oneLine(address.href)}`);
  try {
    const home = sageHome(process.env);
    await begin(definition, tokenStore(definition, { home, env: process.env }), show, leaving.signal);
  } catch (error) {
    throw error instanceof ServerFailure ? new SageError("config-invalid", error.reason) : error;
  }
  return succeed(texts.loggedIn(name));
}
