import { join, relative } from "node:path";

/** How the person starts Sage: every hint is something they can type as it stands. */
export function sage(args = ""): string {
  const start = startedBy(process.env, {
    source: import.meta.url.endsWith(".ts"),
    root: join(import.meta.dirname, "../.."),
  });
  if (start === "sage") return args === "" ? start : `${start} ${args}`;
  return args === "" ? start : `${start} -- ${args}`;
}

/** The bundle is always called `sage`, also when an `npm start` of somebody else calls it. */
export function startedBy(
  env: Readonly<Record<string, string | undefined>>,
  { source, root }: { source: boolean; root: string },
): string {
  if (!source || env["npm_lifecycle_event"] !== "start" || !env["npm_execpath"]) return "sage";
  const from = env["INIT_CWD"] ?? root;
  const inside = !/^\.\.([\\/]|$)|^([a-zA-Z]:|\/)/.test(relative(root, from));
  return inside ? "npm start" : `npm --prefix ${/^[\w./\\:-]+$/.test(root) ? root : JSON.stringify(root)} start`;
}
