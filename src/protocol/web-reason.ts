/** Why somebody who is elsewhere was refused. */
export type WebReasonArgs = {
  /** They are known, and the settings give them no role. */
  "may-not-look": { by: string };
  /** An ordinary question of a session that somebody else began. */
  "may-not-answer": { by: string };
  /** Sessions are begun from afar in folders that the settings name. */
  "folder-unknown": { name: string; known: readonly string[] };
  /** A model by which a file of this machine would be read. */
  "model-not-from-afar": { model: string };
  /** Part of the input was taken out for this reader: an edit of it would run the mask. */
  "masked-not-edited": {};
};
