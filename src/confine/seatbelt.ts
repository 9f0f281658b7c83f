import { gitSettings } from "../permission/appear/appear.ts";
import { toolFolders, type Place } from "./plan.ts";

/** The profile for `sandbox-exec` on macOS. NEVER RUN: only its text is tested, so commands are not confined there yet. */
export function seatbeltProfile(place: Place, port: number): string {
  const { roots, home, sageHome, privateHome, privateTmp, readable, writable, guarded, hidden, repository } = place;
  const tools = toolFolders.map((name) => `${home}/${name}`);
  const fixed = roots.flatMap((root) =>
    repository === "read" ? [`${root}/.git`] : gitSettings.map((name) => `${root}/.git/${name}`),
  );
  return [
    "(version 1)",
    "(deny default)",
    "(allow process-fork process-exec)",
    "(allow signal (target same-sandbox))",
    "(allow sysctl-read)",
    `(allow mach-lookup ${machServices.map((name) => `(global-name ${quoted(name)})`).join(" ")})`,
    "(allow file-read-metadata)",
    `(allow file-read* ${[...systemPaths, ...tools, ...readable, ...roots, ...writable, privateHome, privateTmp].map(below).join(" ")})`,
    `(allow file-write* ${[...roots, ...writable, privateHome, privateTmp].map(below).join(" ")})`,
    '(allow file-read* file-write* (literal "/dev/null") (literal "/dev/tty") (literal "/dev/random") (literal "/dev/urandom"))',
    // Later lines win. A name that is not there yet is covered, too.
    ...[...guarded, ...fixed].map((path) => `(deny file-write* ${below(path)})`),
    ...[...hidden, sageHome].map((path) => `(deny file-read* file-write* ${below(path)})`),
    ...[privateHome, privateTmp].map((path) => `(allow file-read* file-write* ${below(path)})`),
    "(deny network*)",
    `(allow network-outbound (remote ip ${quoted(`localhost:${port}`)}))`,
  ].join("\n");
}

const systemPaths = [
  "/bin",
  "/sbin",
  "/usr",
  "/System",
  "/Library",
  "/opt",
  "/private/etc",
  "/private/var/db/dyld",
  "/Applications/Xcode.app",
];

const machServices = [
  "com.apple.system.logger",
  "com.apple.system.notification_center",
  "com.apple.system.opendirectoryd.libinfo",
];

function below(path: string): string {
  return `(subpath ${quoted(path)})`;
}

function quoted(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&")}"`;
}
