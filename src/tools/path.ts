import { lstatSync, readlinkSync, realpathSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, parse, relative, resolve, sep } from "node:path";
import { z } from "zod";
import { messageOf } from "../protocol/index.ts";
import type { PermissionResult } from "../protocol/index.ts";
import type { PermissionContext } from "./tool.ts";

/** Where a path leads: as written, and after every link. Rules look at both; tools act on the real one. */
export type CanonicalPath = { lexical: string; real: string };

const control = /[\u0000-\u001f\u007f-\u009f]/;
const foreignHome = /^~[^/]/;

export const pathSchema = z
  .string()
  .min(1)
  .refine((path) => !control.test(path), "a path must not contain control characters")
  .refine((path) => !foreignHome.test(path), "~name is not supported; write the whole path");

/** Throws when a link loops or a directory may not be looked into. */
export function canonicalPath(path: string, cwd: string): CanonicalPath {
  const lexical = lexicalPath(path, cwd);
  return { lexical, real: follow(lexical) };
}

export function lexicalPath(path: string, cwd: string): string {
  if (control.test(path) || foreignHome.test(path)) throw new Error(`not a usable path: ${JSON.stringify(path)}`);
  // Never the home of the permission context: what is judged must be what runs, and running knows only this one.
  return resolve(cwd, path === "~" || path.startsWith("~/") ? join(homedir(), path.slice(1)) : path);
}

/** By segments: /w is not inside /workspace. */
export function isInside(root: string, path: string): boolean {
  const way = relative(root.normalize("NFC"), path.normalize("NFC"));
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The view of a tool that only reads below `path`: harmless inside the roots, otherwise the rules decide. */
export function judgeRead(path: string, context: PermissionContext): PermissionResult {
  try {
    const { real } = canonicalPath(path, context.cwd);
    const inside = context.roots.some((root) => isInside(canonicalPath(root, context.cwd).real, real));
    return inside
      ? { behavior: "allow", reason: "reads inside the workspace" }
      : { behavior: "passthrough", reason: `${real} is outside the workspace` };
  } catch (error) {
    return { behavior: "passthrough", reason: messageOf(error) };
  }
}

/** How results name a file: short when it lies below cwd, and never with a line break or an escape in it. */
export function showPath(path: string, cwd: string): string {
  const shown = isInside(cwd, path) ? relative(cwd, path) || "." : path;
  return control.test(shown) ? JSON.stringify(shown) : shown;
}

/**
 * The real path of the longest existing ancestor, plus the rest. Walks link by link, because the target of a dangling
 * link is what a write would create, and `realpath` gives up on it.
 */
function follow(lexical: string): string {
  const { root } = parse(lexical);
  const ahead = lexical.slice(root.length).split(sep).reverse();
  let here = root;
  let links = 0;
  for (let name = ahead.pop(); name !== undefined; name = ahead.pop()) {
    if (name === "" || name === ".") continue;
    if (name === "..") {
      here = dirname(here);
      continue;
    }
    const next = join(here, name);
    const kind = kindOf(next);
    if (kind === "missing") return join(realpathSync.native(here), name, ...ahead.reverse());
    if (kind === "other") {
      here = next;
      continue;
    }
    if (++links > 40) throw new Error(`too many links on the way to ${lexical}`);
    const target = readlinkSync(next);
    if (isAbsolute(target)) here = parse(target).root;
    ahead.push(...target.split(sep).reverse());
  }
  return realpathSync.native(here);
}

function kindOf(path: string): "link" | "missing" | "other" {
  try {
    return lstatSync(path).isSymbolicLink() ? "link" : "other";
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT" || code === "ENOTDIR") return "missing";
    throw error;
  }
}
