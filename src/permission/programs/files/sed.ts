/** Longer ones are asked about. */
const longest = 200;

// In brackets a slash ends the pattern for some kinds of sed and not for others: there is none.
const bracket = (except: string) => String.raw`\[\^?\]?(?:\[:[a-z]+:\]|[^\][\\\n${except}])*\]`;
const address = String.raw`(?:\d+(?:~\d+)?|\$|/(?:\\.|${bracket("/")}|[^/\\\n[])*/I?)`;
const addressed = new RegExp(String.raw`[\s;]*(?:${address}(?:\s*,\s*(?:${address}|[+~]\d+))?)?[ \t]*!?[ \t]*`, "y");
const printing = /(?:[p=]|q\d*)[ \t]*(?=[;\n]|$)/y;
const deleting = /d[ \t]*(?=[;\n]|$)/y;
const flags = /[gpiI0-9]*[ \t]*(?=[;\n]|$)/y;

/** Only prints lines and counts them. */
export function isPrinting(script: string): boolean {
  return isMadeOf(script, (at) => end(printing, script, at));
}

/** Neither runs a program nor touches any file but those it is given. */
export function isPlain(script: string): boolean {
  return isMadeOf(script, (at) => end(printing, script, at) ?? end(deleting, script, at) ?? substitution(script, at));
}

/** `next` gives where a command that begins here ends, or undefined when it is not known. */
function isMadeOf(script: string, next: (at: number) => number | undefined): boolean {
  if (script.length > longest) return false;
  for (let at = 0; /[^\s;]/.test(script.slice(at));) {
    const after = next(end(addressed, script, at) ?? at);
    if (after === undefined) return false;
    at = after;
  }
  return true;
}

/** `s/…/…/`: ends where sed finds its end, for what comes after may be the name of a file. */
function substitution(script: string, at: number): number | undefined {
  const delimiter = script[at + 1] ?? "";
  if (script[at] !== "s" || !/[/|#,:@!%_~+=-]/.test(delimiter)) return undefined;
  const pattern = delimited(script, at + 2, delimiter);
  const replacement = pattern === undefined ? undefined : delimited(script, pattern + 1, delimiter);
  if (pattern === undefined || replacement === undefined) return undefined;
  if (!plainPattern.test(script.slice(at + 2, pattern))) return undefined;
  return end(flags, script, replacement + 1);
}

const plainPattern = new RegExp(String.raw`^(?:\\.|${bracket("")}|[^\\\n[])*$`);

/** Position of the next delimiter that is not escaped. Neither part may hold a line break. */
function delimited(script: string, from: number, delimiter: string): number | undefined {
  for (let at = from; at < script.length; at++) {
    if (script[at] === delimiter) return at;
    if (script[at] === "\\") at++;
    if (script[at] === "\n") return undefined;
  }
  return undefined;
}

function end(pattern: RegExp, script: string, at: number): number | undefined {
  pattern.lastIndex = at;
  return pattern.test(script) ? pattern.lastIndex : undefined;
}
