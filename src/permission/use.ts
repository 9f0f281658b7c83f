import { unknown } from "./lexer.ts";
import type { Word } from "./lexer.ts";

/** What a command does to files, as far as its words tell. */
export type Use = {
  /** It changes nothing and runs nothing else. */
  readOnly: boolean;
  reads: Word[];
  writes: Write[];
  /** Reads what is inside of folders too. */
  deep: boolean;
};

/** `from`: what is put there under its own name when it is a folder. `deep`: with everything below. */
export type Write = { target: Word; from?: readonly Word[]; deep?: boolean };

export const currentFolder: Word = { ...unknown, text: ".", lead: "." };
