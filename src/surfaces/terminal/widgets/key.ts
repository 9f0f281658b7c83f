import { decodeKittyPrintable, isKeyRelease, isKeyRepeat, matchesKey, parseKey } from "../draw/tui.ts";

/** A key that the person pressed. `text` is the input for a text field. */
export type Key = { name: string; text?: string; /** The key was held down. */ repeat?: true };

const PASTE = /^\x1b\[200~([^]*?)(?:\x1b\[201~)?$/;

/** Keys that some terminals, tmux among them, send in a form that only a question by name finds. */
const elsewhere = ["home", "end", "pageUp", "pageDown", "delete"] as const;

/** Undefined for what is no key: a release, a report of the terminal. */
export function readKey(data: string): Key | undefined {
  const pasted = PASTE.exec(data)?.[1];
  if (pasted !== undefined) return { name: "paste", text: clean(pasted) };
  if (isKeyRelease(data)) return undefined;
  const held = isKeyRepeat(data) ? { repeat: true as const } : {};
  // Enter is a carriage return; a bare line feed is Ctrl-J, or Shift-Enter of some terminals.
  if (data === "\n") return { name: "newline" };
  const decoded = decodeKittyPrintable(data);
  if (decoded !== undefined) return { name: decoded === " " ? "space" : decoded, text: decoded, ...held };
  const name = parseKey(data) ?? elsewhere.find((key) => matchesKey(data, key));
  if (name === "shift+enter" || name === "alt+enter") return { name: "newline", ...held };
  if (name === "space") return { name, text: " ", ...held };
  if (name !== undefined) return [...name].length === 1 ? { name, text: name, ...held } : { name, ...held };
  if (data === "" || /^[\x00-\x1f\x7f\x80-\x9f]/.test(data)) return undefined;
  const text = clean(data);
  return { name: text, text };
}

/** 1 for "1", also from a Chinese keyboard; undefined for anything but a digit. */
export function digitOf({ name, text }: Key): number | undefined {
  const digit = name === "paste" ? "" : (text ?? "").normalize("NFKC");
  return /^[1-9]$/.test(digit) ? Number(digit) : undefined;
}

/** Lines end in a line feed, and what no text has is left out. */
function clean(text: string): string {
  return text.replace(/\r\n?/g, "\n").replace(/[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]/g, "");
}

/** Pause without keys after which a panel takes them: text meant for the editor must not answer a request. */
const QUIET_MS = 300;

/** Drops keys that were not meant for a panel. `arm` is called when the panel has just opened or changed. */
export function createGuard(now: () => number) {
  let quietSince = now();
  /** A key that was held down when the panel came up is not meant for it. */
  let fresh = false;
  return {
    arm(): void {
      quietSince = now();
      fresh = false;
    },
    lets(key: Key): boolean {
      if (now() - quietSince < QUIET_MS) {
        quietSince = now(); // also when the clock was set back
        return false;
      }
      if (key.repeat && !fresh) return false;
      fresh = true;
      return true;
    },
  };
}
