import { attempt } from "../../../../base/attempt.ts";
import type { Shelf } from "./drafts.ts";

/** The browser's own storage of this origin. One that keeps nothing, as in a private window, is no error. */
export const storage: Shelf = {
  get(name) {
    return attempt(() => localStorage.getItem(name) ?? undefined);
  },
  put(name, value) {
    try {
      if (value === undefined) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
    } catch {
      // It is kept as long as the page is open.
    }
  },
  names() {
    return attempt(() => Object.keys(localStorage)) ?? [];
  },
};
