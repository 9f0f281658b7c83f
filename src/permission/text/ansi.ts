const simple: Record<string, string> = {
  a: "\x07",
  b: "\b",
  e: "\x1b",
  E: "\x1b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
  "'": "'",
  '"': '"',
  "?": "?",
};

/** The inside of `$'…'` up to after its last quote. No text: not printable; undefined: it does not end. */
export function decodeAnsi(source: string, from: number): { text: string | undefined; end: number } | undefined {
  let text: string | undefined = "";
  for (let i = from; i < source.length;) {
    const char = source[i]!;
    if (char === "'") return { text: text !== undefined && isPrintable(text) ? text : undefined, end: i + 1 };
    if (char !== "\\") {
      text = text === undefined ? undefined : text + char;
      i++;
      continue;
    }
    const found = /^\\(?:x([0-9A-Fa-f]{1,2})|u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3})|([^]))/.exec(
      source.slice(i, i + 10),
    );
    if (found === null) return undefined;
    const [whole, hex, short, long, octal, letter] = found;
    const digits = hex ?? short ?? long;
    const code = digits === undefined ? Number.parseInt(octal ?? "", 8) : Number.parseInt(digits, 16);
    const decoded = letter === undefined ? fromCode(code, hex ?? octal) : simple[letter];
    text = text === undefined || decoded === undefined ? undefined : text + decoded;
    i += whole.length;
  }
  return undefined;
}

/** Bytes above ASCII may be halves of a character; what they make is not worth knowing. */
function fromCode(code: number, byte: string | undefined): string | undefined {
  if (byte !== undefined && code > 0x7f) return undefined;
  return code <= 0x10ffff && (code < 0xd800 || code > 0xdfff) ? String.fromCodePoint(code) : undefined;
}

function isPrintable(text: string): boolean {
  return !/[\p{Cc}\p{Cs}\p{Cn}\p{Zl}\p{Zp}]/u.test(text.replace(/[\t\n]/g, ""));
}
