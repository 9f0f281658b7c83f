import { loadGrammar } from "./shell/read/grammar.ts";

/** Loads what commands are judged with: the grammar, and the code, which lies in a file of its own in the bundle. Judging never waits. */
export async function loadShell(): Promise<void> {
  await Promise.all([loadGrammar(), import("./shell/judge/judge-shell.ts")]);
}
