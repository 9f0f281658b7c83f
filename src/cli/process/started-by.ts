import { dirname, relative } from "node:path";

type Env = Readonly<Record<string, string | undefined>>;
type Program = { source: boolean; root: string };

/** The bundle is always called `sage`, also when an `npm start` of somebody else calls it. */
export function programName(env: Env, { source, root }: Program): string {
  if (!source || env["npm_lifecycle_event"] !== "start" || !env["npm_execpath"]) return "sage";
  const from = env["INIT_CWD"] ?? root;
  const inside = !/^\.\.([\\/]|$)|^([a-zA-Z]:|\/)/.test(relative(root, from));
  return inside ? "npm start" : `npm --prefix ${/^[\w./\\:-]+$/.test(root) ? root : JSON.stringify(root)} start`;
}

/** The same from a folder that is not Sage's own. */
export function programNameAnywhere(env: Env, program: Program): string {
  return programName({ ...env, INIT_CWD: dirname(program.root) }, program);
}
