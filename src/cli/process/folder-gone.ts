import { thrownText } from "../../texts/shared/error.ts";

/** The folder in which Sage was started has been removed: Node cannot return it. */
export function isFolderGone(error: unknown): boolean {
  return error instanceof Error && "syscall" in error && error.syscall === "uv_cwd";
}

/** Message for an error that is not Sage's own. */
export function problemMessage(error: unknown, { folderGone }: { folderGone: string }): string {
  return isFolderGone(error) ? folderGone : thrownText(error);
}
