import { argumentsOf, type Arguments, type Options } from "./arguments.ts";
import type { Word } from "../../shell/read/word.ts";
import type { Use, Write } from "./use.ts";

/** The use of a program that is known to write, undefined when it is given words that are not understood. */
export function writerUse(words: readonly Word[]): Use | undefined {
  const writer = writers.get(words[0]?.text ?? "");
  // A suffix may lead to another folder.
  if (words.some(({ text }) => isInPlace(text) && /[/*]/.test(text!))) return undefined;
  const given = writer && argumentsOf(writer.prepare?.(words) ?? words, writer);
  return given && writer.use(given);
}

export function isWriter(name: string): boolean {
  return writers.has(name);
}

type Writer = Options & {
  use(given: Arguments): Use | undefined;
  prepare?(words: readonly Word[]): readonly Word[];
};

const writers = new Map<string, Writer>();
function writer(names: string, how: Writer): void {
  for (const name of names.split(" ")) writers.set(name, how);
}

const has = ({ options }: Arguments, ...names: string[]) => options.some(({ name }) => names.includes(name));
const use = (reads: readonly Word[], writes: Write[], deep = false): Use => ({
  readOnly: false,
  reads: [...reads],
  writes,
  deep,
});
const each = (targets: readonly Word[], deep = false): Write[] => targets.map((target) => ({ target, deep }));
const gone = (targets: readonly Word[], deep = false): Write[] =>
  each(targets, deep).map((target) => ({ ...target, content: false }));

// Options that write elsewhere, run a program or lead out of a folder are left out on purpose.
writer("tee", {
  flags: "aip",
  long: "append ignore-interrupts",
  use: ({ operands }) =>
    use(
      [],
      each(operands).map((target) => ({ ...target, appends: true })),
    ),
});
writer("touch", {
  flags: "acmfh",
  values: "dtr",
  files: "-r --reference",
  long: "no-create date= reference= time= no-dereference",
  use: ({ operands, files }) => use(files, each(operands)),
});
writer("mkdir", {
  flags: "pv",
  values: "m",
  long: "parents verbose mode=",
  use: ({ operands }) => use([], gone(operands)),
});
writer("rm", {
  flags: "dfiIrRv",
  long: "recursive force dir verbose interactive? one-file-system preserve-root?",
  use: (given) => use([], gone(given.operands, has(given, "-r", "-R", "--recursive"))),
});
writer("rmdir", {
  flags: "v",
  long: "verbose ignore-fail-on-non-empty",
  use: ({ operands }) => use([], gone(operands)),
});
writer("truncate", {
  flags: "co",
  values: "sr",
  files: "-r --reference",
  long: "no-create io-blocks size= reference=",
  use: ({ operands, files }) => use(files, each(operands)),
});
writer("chmod chown chgrp", {
  flags: "cfvRh",
  long: "changes quiet silent verbose recursive no-dereference preserve-root",
  // `-x` takes a right away and is no option.
  prepare: (words) => words.map((word) => (/^-[rwxXst]+$/.test(word.text ?? "") ? { ...word, text: "mode" } : word)),
  use: (given) => use([], each(given.operands.slice(1), has(given, "-R", "--recursive"))),
});
writer("cp", {
  flags: "adfHiLnPpRruvxT",
  values: "t",
  long:
    "archive recursive force interactive no-clobber update? verbose preserve? no-preserve= dereference no-dereference " +
    "target-directory= no-target-directory one-file-system reflink? sparse= strip-trailing-slashes remove-destination",
  use: (given) => into(given, { deep: has(given, "-a", "-r", "-R", "--archive", "--recursive") }),
});
writer("mv", {
  flags: "finuvT",
  values: "t",
  long: "force interactive no-clobber update? verbose target-directory= no-target-directory strip-trailing-slashes",
  use: (given) => into(given, { deep: true, moves: true }),
});
writer("ln", {
  flags: "sfnrviPLT",
  values: "t",
  long: "symbolic force no-dereference relative verbose interactive physical logical target-directory= no-target-directory",
  use(given) {
    const use = into(given, {});
    // A second name for a file is a way to write to it.
    const symbolic = given.options.some(({ name }) => name === "-s" || name === "--symbolic");
    return use && !symbolic ? { ...use, writes: [...use.writes, ...use.reads.map((target) => ({ target }))] } : use;
  },
});
writer("install", {
  flags: "cCdDpv",
  values: "gmot",
  long: "compare directory preserve-timestamps verbose group= mode= owner= target-directory= no-target-directory",
  use: (given) => (has(given, "-d", "--directory") ? use([], each(given.operands)) : into(given, {})),
});
writer("dd", {
  use: ({ operands }) => {
    const named = operands.map((word) => /^([a-z]+)=([^]*)$/.exec(word.text ?? ""));
    const harmless = /^(bs|ibs|obs|cbs|count|skip|seek|conv|status|iflag|oflag)$/;
    const value = (name: string) =>
      operands.flatMap((word, i) => {
        const found = named[i];
        return found?.[1] === name ? [{ ...word, text: found[2]!, lead: found[2]! }] : [];
      });
    const known = named.every((match) => match !== null && (/^(if|of)$/.test(match[1]!) || harmless.test(match[1]!)));
    return known ? use(value("if"), each(value("of"))) : undefined;
  },
});
writer("sed", {
  flags: "nErsuz",
  values: "e",
  long: "quiet silent expression= regexp-extended",
  prepare: (words) => words.filter(({ text }) => !isInPlace(text)),
  use: (given) => {
    const files = has(given, "-e", "--expression") ? given.operands : given.operands.slice(1);
    return use(files, each(files));
  },
});

/** `-i`, `-i.bak`, `-Ei`, `--in-place=…`: a suffix makes a second file beside the first. */
export function isInPlace(text: string | undefined): boolean {
  return text !== undefined && (/^-[nErsuz]*i/.test(text) || text.startsWith("--in-place"));
}

/** Sources and a destination, which is a file, or the folder they are put into. */
function into(given: Arguments, { deep = false, moves = false }: { deep?: boolean; moves?: boolean }): Use | undefined {
  const named = given.options.find(({ name }) => name === "-t" || name === "--target-directory")?.value;
  const sources = named === undefined ? given.operands.slice(0, -1) : given.operands;
  const last = given.operands.at(-1);
  if (last === undefined || sources.length === 0) return undefined;
  const target: Word = named === undefined ? last : { ...last, text: named, lead: named, glob: undefined };
  const onto = has(given, "-T", "--no-target-directory");
  const writes: Write[] = [{ target, from: sources, onto, deep }];
  if (moves) writes.push(...gone(sources));
  // Some kinds of `cp -r` copy what links lead to.
  return { ...use(sources, writes, deep), follows: deep && !moves };
}
