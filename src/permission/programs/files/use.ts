import { opaqueWord, type Word } from "../../shell/read/word.ts";

/** Effects of a command on files, as far as its words tell. */
export type Use = {
  /** It changes nothing and runs nothing else. */
  readOnly: boolean;
  reads: Word[];
  writes: Write[];
  /** Reads what is inside of folders too. */
  deep: boolean;
  /** Every word was held against a closed list: no option that writes or runs something else is among them. */
  closed?: true;
  /** And goes where links in them lead. */
  follows?: boolean;
  /** The names below them are split at blanks and taken out of quotes: none of them may have any. */
  plain?: true;
};

/** `from`: put there under its own name when it is a folder, unless it goes `onto` it. `deep`: with everything below. */
export type Write = {
  target: Word;
  from?: readonly Word[];
  onto?: boolean;
  deep?: boolean;
  /** False when nothing is put into the file, as when it is removed. */
  content?: boolean;
  /** It is written to as by a redirection, neither replaced nor removed. */
  appends?: true;
};

export const currentFolder: Word = { ...opaqueWord, text: ".", lead: "." };
