import { succeed, exitCodes } from "../process/stdout.ts";
import { readInstallation } from "../../config/home/home.ts";
import { changeSettings } from "../../config/settings/settings.ts";
import { oneLine } from "../../base/visible.ts";
import { reason, SageError } from "../../protocol/reasons/reason.ts";
import { hostsTexts } from "../../texts/serve/hosts.ts";
import { readFlags, usage } from "../process/flags.ts";
import { hostKey, nameHost, pair, targetOf, unpair } from "../host/paired-hosts.ts";

/** `sage hosts`: other machines whose agents this one may work with; `add` pairs with one, `remove` forgets it. */
export async function hosts(args: string[]): Promise<number> {
  const { values, positionals, lang } = readFlags(args, { code: { type: "string" } });
  const w = hostsTexts(lang);
  const [action, target, name, stray] = positionals;
  const { home, settings } = readInstallation(process.env);
  const { env } = process;
  const known = settings.hosts ?? {};
  if (action === undefined) {
    const rows = Object.entries(known);
    const widest = Math.max(0, ...rows.map(([name]) => name.length));
    for (const [name, address] of rows) {
      const isPaired = hostKey(address, { home, env }) !== undefined;
      console.log([name.padEnd(widest), oneLine(address), ...(isPaired ? [] : [w.noKey])].join("  "));
    }
    if (rows.length === 0) console.log(w.none);
    return exitCodes.success;
  }
  if (target === undefined || stray !== undefined || !["add", "remove"].includes(action)) throw usage(w.how);
  if (action === "remove") {
    if (name !== undefined) throw usage(w.how);
    const { address } = targetOf(target, settings);
    const told = await unpair(address, { home, env });
    const names = Object.keys(known).filter((name) => known[name] === address);
    if (names.length > 0) changeSettings(home.settings, (all) => ({ ...all, hosts: without(all.hosts ?? {}, names) }));
    return succeed((told ? w.removed : w.removedHere)(target));
  }
  const found = targetOf(target, settings);
  const { address, invitation } = found;
  const by =
    invitation !== undefined ? { key: invitation } : values.code === undefined ? undefined : { code: values.code };
  if (!by) throw usage(w.noCode(target));
  if (name !== undefined && !/^[\w.-]{1,40}$/.test(name))
    throw new SageError("config-invalid", reason("host-not-named", { given: name, known: Object.keys(known) }));
  const waits = () => console.error(`sage: ${w.waiting}`);
  const paired = await pair(found, by, { home, env, waits });
  console.log(w.paired(address, paired.by, w.places[paired.place]));
  return succeed(w.goOn(`--host ${nameHost(address, home, name)}`));
}

function without(all: Readonly<Record<string, string>>, names: readonly string[]): Record<string, string> {
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.includes(name)));
}
