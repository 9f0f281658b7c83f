import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { succeed, exitCodes } from "../process/stdout.ts";
import { readInstallation } from "../../config/home/home.ts";
import { said, SageError } from "../../protocol/reasons/reason.ts";
import { type ServeTexts, serveTexts } from "../../texts/serve/serve.ts";
import { readFlagsOnly } from "../process/flags.ts";

const LABEL = "sage.serve";

/** Environment variables copied into the service. Keys are read from where `setup` saved them. */
const proxies = ["HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"];
const ways = ["SAGE_HOME", "NODE_EXTRA_CA_CERTS", ...proxies, ...proxies.map((name) => name.toLowerCase())];

type Manager = { file: string; text(service: Service): string; start: string[][]; stop: string[][]; status: string[] };

/** `sage serve install`: starts the daemon with the machine's user, in this folder, and again when it has ended. */
export async function install(args: string[]): Promise<number> {
  const { values, lang } = readFlagsOnly("serve install", args, {
    model: { type: "string" },
    log: { type: "string" },
    "no-start": { type: "boolean" },
  });
  const t = serveTexts(lang);
  const manager = managerOf(t);
  const flags = Object.entries({ model: values.model, log: values.log });
  const command = [
    process.execPath,
    resolve(process.argv[1] ?? ""),
    "serve",
    ...flags.flatMap(([flag, value]) => (value === undefined ? [] : [`--${flag}`, value])),
  ];
  const zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
  const env = {
    SAGE_LANG: lang,
    LANG: process.env["LANG"] ?? "C.UTF-8",
    TZ: process.env["TZ"] ?? zone,
    PATH: process.env["PATH"] ?? "/usr/bin:/bin",
    ...Object.fromEntries(ways.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]]))),
  };
  mkdirSync(dirname(manager.file), { recursive: true });
  // A proxy's address may hold a password.
  rmSync(manager.file, { force: true });
  writeFileSync(manager.file, manager.text({ command, cwd: realpathSync("."), env }), { mode: 0o600 });
  console.log(t.installed(manager.file));
  if (values["no-start"]) return exitCodes.success;
  return run(manager.start, t);
}

/** `sage serve status`: what the system says about it, and what it says about itself. */
export async function status(args: string[]): Promise<number> {
  const { lang } = readFlagsOnly("serve status", args, {});
  const t = serveTexts(lang);
  const manager = managerOf(t);
  console.log(existsSync(manager.file) ? t.isInstalled(manager.file) : t.notInstalled);
  if (existsSync(manager.file)) run([manager.status], t);
  const { serve } = readInstallation(process.env).settings;
  const url = `http://${serve?.host ?? "127.0.0.1"}:${serve?.port ?? 8787}/ready`;
  const ready = await fetch(url, { signal: AbortSignal.timeout(3_000) }).catch(() => undefined);
  console.log(ready ? `${url}: ${ready.status} ${await ready.text()}` : t.silent(url));
  return ready?.ok ? exitCodes.success : exitCodes.failure;
}

/** `sage serve uninstall`: stops it for good. Sessions and settings stay. */
export async function uninstall(args: string[]): Promise<number> {
  const { lang } = readFlagsOnly("serve uninstall", args, { "no-start": { type: "boolean" } });
  const t = serveTexts(lang);
  const manager = managerOf(t);
  if (!existsSync(manager.file)) throw new SageError("config-invalid", said(t.notInstalled));
  if (!args.includes("--no-start")) run(manager.stop, t);
  rmSync(manager.file);
  return succeed(t.uninstalled(manager.file));
}

function managerOf(t: ServeTexts): Manager {
  if (process.platform === "linux") {
    const file = join(process.env["XDG_CONFIG_HOME"] ?? join(homedir(), ".config"), "systemd/user/sage.service");
    const systemctl = (...words: string[]) => ["systemctl", "--user", ...words];
    return {
      file,
      text: systemdUnit,
      start: [systemctl("daemon-reload"), systemctl("enable", "--now", "sage.service")],
      stop: [systemctl("disable", "--now", "sage.service")],
      status: systemctl("status", "--no-pager", "sage.service"),
    };
  }
  if (process.platform === "darwin") {
    const file = join(homedir(), "Library/LaunchAgents", `${LABEL}.plist`);
    return {
      file,
      text: (service) => launchdAgent(service, LABEL, join(homedir(), "Library/Logs/sage.log")),
      start: [["launchctl", "load", "-w", file]],
      stop: [["launchctl", "unload", "-w", file]],
      status: ["launchctl", "list", LABEL],
    };
  }
  throw new SageError("config-invalid", said(t.noManager(process.platform)));
}

/** Output of the system is shown as it is; what failed is named with all that should follow it, to be run where it works. */
function run(commands: readonly string[][], t: ServeTexts): number {
  for (const [n, [program = "", ...words]] of commands.entries()) {
    const { status: code, error } = spawnSync(program, words, { stdio: "inherit" });
    if (error || code !== 0) {
      console.log(t.runYourself(commands.slice(n).map((command) => command.join(" "))));
      return exitCodes.failure;
    }
  }
  return exitCodes.success;
}

/** How the daemon is started when nobody is there to start it. */
type Service = {
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
};

export function systemdUnit({ command, cwd, env }: Service): string {
  return `[Unit]
Description=Sage
Wants=network-online.target
After=network-online.target

[Service]
WorkingDirectory=${systemdPath(cwd)}
ExecStart=${command.map(systemdWord).join(" ")}
${Object.entries(env)
  .map(([name, value]) => `Environment=${systemdWord(`${name}=${value}`)}\n`)
  .join("")}Restart=always
RestartSec=5
# Running commands go on while the daemon is restarted; the next one brings their results.
KillMode=process
TimeoutStopSec=20

[Install]
WantedBy=default.target
`;
}

const systemdWord = (word: string) =>
  `"${word.replaceAll(/[\\"]/g, "\\$&").replaceAll("%", "%%").replaceAll("$", "$$$$")}"`;
const systemdPath = (path: string) => path.replaceAll("%", "%%");

export function launchdAgent({ command, cwd, env }: Service, label: string, log: string): string {
  const text = (value: string) => `<string>${value.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</string>`;
  const entries = Object.entries(env).map(([name, value]) => `    <key>${name}</key>${text(value)}\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(label)}
  <key>ProgramArguments</key>
  <array>
${command.map((word) => `    ${text(word)}\n`).join("")}  </array>
  <key>WorkingDirectory</key>${text(cwd)}
  <key>EnvironmentVariables</key>
  <dict>
${entries.join("")}  </dict>
  <key>RunAtLoad</key><true/>
  <key>KeepAlive</key><true/>
  <key>StandardErrorPath</key>${text(log)}
</dict>
</plist>
`;
}
