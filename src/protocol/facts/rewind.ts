/** Takes back the conversation, the files that file tools changed, or both. */
export type RewindWhat = "conversation" | "files" | "both";

/** A file that a call replaced: sha-256 before and after; "" where there was none. */
export type Replaced = {
  path: string;
  before: string;
  after: string;
  /** Permission bits of the file as it was. */ mode?: number;
};

/** A file to put back: `from` is its content as it was found, `to` the content that it gets back; "" where there is none. */
export type Restoring = { path: string; from: string; to: string; mode?: number };

/** Why a file was not restored. `moved`: a link points elsewhere now. `lost`: its old content was not kept or is damaged. */
export type RestoreProblem = "changed" | "moved" | "lost" | "not-a-file" | "failed";
