/** How the daemon is started when nobody is there to start it. */
export type Service = {
  /** The program and its arguments. */
  command: readonly string[];
  cwd: string;
  env: Readonly<Record<string, string>>;
};

/** A systemd unit of the user's own. */
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

/** A launchd agent of the user's own. */
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
