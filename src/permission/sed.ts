/** Longer ones are asked about: matching takes more than linear time. */
const longest = 200;

const address = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|[^/\\\n])*/I?)`;
const addressed = `\\s*(?:${address}(?:\\s*,\\s*(?:${address}|[+~]\\d+))?)?\\s*!?\\s*`;
const printing = new RegExp(`^${addressed}(?:[p=]|q\\d*)\\s*$`);
const deleting = new RegExp(`^${addressed}d\\s*$`);
const substituting = new RegExp(`^${addressed}s(.*)$`);

/** Only prints lines and counts them. */
export function isPrinting(script: string): boolean {
  if (script.length > longest) return false;
  return each(script, (command) => printing.test(command));
}

/** Neither runs a program nor touches any file but those it is given. */
export function isPlain(script: string): boolean {
  if (script.length > longest) return false;
  return each(script, (command) => {
    if (printing.test(command) || deleting.test(command)) return true;
    const rest = substituting.exec(command)?.[1] ?? "";
    const [before, pattern, replacement, flags, ...more] = rest.split(rest.charAt(0));
    return (
      before === "" &&
      pattern !== undefined &&
      replacement !== undefined &&
      /^[gpiI0-9]*\s*$/.test(flags ?? "-") &&
      more.length === 0
    );
  });
}

/** A semicolon inside of a pattern cuts it in two, and then it is not understood: no harm done. */
function each(script: string, fits: (command: string) => boolean): boolean {
  return script.split(/[;\n]/).every((command) => command.trim() === "" || fits(command));
}
