import type { Redaction } from "../../config/secrets/redact.ts";
import type { Delta } from "../../protocol/facts/fact.ts";

/** A line that is still being written is held back whole where it may hold a secret that has more than one word. */
const suspicious = /pass|pwd|secret|key|token|credential|cookie|auth|bearer|private|-----|:\/\//i;
/** Secrets that go over lines begin so. */
const opens = /-----BEGIN |Private-Lines: /;
const closes = /-----END [^\n]*-----/;
/** A line that is longer than this is shown as it is known by then. */
const MAX_TEXT_LENGTH = 16_384;

/** `tail`: from the beginning of the last line that is not finished. `shown`: the part of it that was told, as it was told. */
type Block = { attempt: number; tail: string; shown: string };

/**
 * Secrets are taken out of text that streams in pieces: a piece alone shows nothing of a secret that it begins. The word that is
 * being written waits for its end. Whatever is held back comes with the fact.
 */
export function veilText(redaction: Redaction): (delta: Delta) => Delta | undefined {
  const blocks = new Map<string, Block>();
  return (delta) => {
    const { key, kind, attempt, text } = delta;
    if (kind === "notice" || kind === "state") return redaction.value(delta);
    const id = `${kind} ${key}`;
    let block = blocks.get(id);
    if (!block || block.attempt !== attempt || delta.whole) blocks.set(id, (block = { attempt, tail: "", shown: "" }));
    block.tail += text;
    const told = tell(block, redaction);
    return told === "" && text !== "" && !delta.whole ? undefined : { ...delta, text: told };
  };
}

function tell(block: Block, redaction: Redaction): string {
  const { tail, shown } = block;
  const end = tail.length > MAX_TEXT_LENGTH ? tail.length : safeEnd(tail);
  const clean = redaction.text(tail.slice(0, end));
  const told = unnamed(clean).startsWith(unnamed(shown)) ? clean.slice(shown.length) : "";
  // A line that turned out to be suspicious continues behind what was told of it.
  if (!unnamed(shown).startsWith(unnamed(clean))) block.shown = clean;
  const finished = tail.lastIndexOf("\n", end - 1) + 1;
  const goesOn = opens.test(tail) && !closes.test(tail);
  if (tail.length > MAX_TEXT_LENGTH) {
    block.tail = goesOn ? `${/-----BEGIN [^\n]*/.exec(tail)?.[0] ?? ""}\n` : "";
    block.shown = redaction.text(block.tail);
  } else if (finished > 0 && !goesOn) {
    block.tail = tail.slice(finished);
    block.shown = redaction.text(tail.slice(finished, end));
  }
  return told;
}

/** A secret that grows has another mark each time, of the same length. */
const unnamed = (text: string) => text.replaceAll(/\[secret #[0-9a-f]{6}\]/g, "[secret #      ]");

/** The end of what may be shown of a text: before a suspicious line, or before the word that is being written. */
function safeEnd(tail: string): number {
  const line = tail.lastIndexOf("\n") + 1;
  if (suspicious.test(tail.slice(line))) return line;
  let end = tail.length;
  while (end > line && isOfWord(tail.charCodeAt(end - 1))) end--;
  return end;
}

/** Secrets are made of printable ASCII; Chinese has no spaces, and should not wait for the end of a line. */
const isOfWord = (code: number) => code > 0x20 && code < 0x7f;
