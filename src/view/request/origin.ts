import { oneLine } from "../../base/visible.ts";
import type { RuleDestination } from "../../protocol/decision.ts";
import type { InputRequest } from "../../protocol/facts/request.ts";
import type { Texts } from "../../texts/shared/texts.ts";

type Asked = Pick<InputRequest, "origin">;

/** Where a request was opened and for which task: nobody consents without knowing. Nothing for requests of earlier versions. */
export function originLines({ origin }: Asked, t: Texts): string[] {
  if (!origin) return [];
  const { folder, branch, machine, place, by, task } = origin;
  const where = t.openedIn(oneLine(branch === undefined ? folder : t.aside(folder, branch)), {
    machine: oneLine(machine),
    ...(place !== undefined && { place: oneLine(place) }),
  });
  return [where, ...(task ? [t.forTask(nameIn(by), oneLine(task))] : [])];
}

/** A chat adds its own id to a person's name. The id alone says nothing to anybody. */
function nameIn(by = ""): string {
  return oneLine(by).replace(/(^| \()ou_\w+\)?$/, "");
}

/** The same for a title or a list: folder and branch. `cwd`: of the session, for a request that does not say it. */
export function originBrief(
  { origin }: Asked,
  t: Texts,
  { cwd = "", named = (folder) => folder }: { cwd?: string | undefined; named?: (folder: string) => string } = {},
): string {
  const { folder = cwd, branch } = origin ?? {};
  return oneLine(branch === undefined ? named(folder) : t.aside(named(folder), branch));
}

/** The shortest ends of these paths that tell them apart, for a list: `app`, or `web/app` beside `api/app`. */
export function folderNames(folders: readonly string[]): (folder: string) => string {
  const all = [...new Set(folders)].map((folder) => folder.split("/"));
  const names = new Map(
    all.map((parts) => {
      const tail = (of: readonly string[], n: number) => of.slice(-n).join("/");
      const isAlone = (n: number) => all.every((other) => other === parts || tail(other, n) !== tail(parts, n));
      const length = parts.findIndex((_, n) => isAlone(n + 1)) + 1;
      return [parts.join("/"), oneLine(tail(parts, length || parts.length))];
    }),
  );
  return (folder) => names.get(folder) ?? oneLine(folder);
}

/** Name of the project that "always, in this project" is about: the last part of its folder. */
export function projectOf({ origin }: Asked): string | undefined {
  const name = origin?.folder.split(/[/\\]/).at(-1);
  return name === undefined || name === "" ? undefined : oneLine(name);
}

/** A place for rules in words; those that belong to a project name it. */
export function destinationName(destination: RuleDestination, asked: Asked, t: Texts): string {
  const project = destination === "local" || destination === "project" ? projectOf(asked) : undefined;
  return project === undefined ? t.destination[destination] : t.aside(t.destination[destination], project);
}
