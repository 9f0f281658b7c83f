import { sageHome } from "../../../config/home/home.ts";
import { tokensOf } from "../../../host/assembly/servers.ts";
import { ServerFailure } from "../../../mcp/failure.ts";
import { oneLine } from "../../../base/visible.ts";
import { SageError } from "../../../protocol/reasons/error.ts";
import { mcpTexts } from "../../../texts/setup/mcp.ts";
import { exitCodes } from "../../process/exit-codes.ts";
import { readFlags, usage } from "../../process/flags.ts";
import { configHere, serverNamed } from "./list.ts";

/** Logs in to a remote server: the person opens the address, and their browser comes back to this machine. */
export async function login(args: string[]): Promise<number> {
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
    await begin(definition, tokensOf(definition, { home, env: process.env }), show, leaving.signal);
  } catch (error) {
    throw error instanceof ServerFailure ? new SageError("config-invalid", error.reason) : error;
  }
  console.log(texts.loggedIn(name));
  return exitCodes.success;
}
