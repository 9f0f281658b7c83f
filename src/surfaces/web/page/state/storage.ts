import type { Shelf } from "./drafts.ts";

/** The browser's own storage of this origin. One that keeps nothing, as in a private window, is no error. */
export const storage: Shelf = {
  get(name) {
    try {
      return localStorage.getItem(name) ?? undefined;
    } catch {
      return undefined;
    }
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
    try {
      return Object.keys(localStorage);
    } catch {
      return [];
    }
  },
};
