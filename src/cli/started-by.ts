import { relative } from "node:path";

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
