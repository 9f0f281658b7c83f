import { thrownText } from "../../texts/shared/error.ts";

/** The folder in which Sage was started was removed meanwhile: Node cannot say where it is. */
export function isFolderGone(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

/** An error that is none of Sage's own, in words. */
export function problemOf(error: unknown, { folderGone }: { folderGone: string }): string {
  return isFolderGone(error) ? folderGone : thrownText(error);
}
