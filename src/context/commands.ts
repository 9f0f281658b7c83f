import { readSlash } from "../base/name.ts";
import { reason, type Reason, reasonOf } from "../protocol/reasons/reason.ts";
import * as z from "../base/z.ts";
import { unfit, type ContentFile } from "./content.ts";
import { frontMatter } from "./front-matter.ts";

/** A prompt that somebody keeps under a name: `/name words` says it. */
export type OwnCommand = { name: string; description: string; body: string };

const schema = z.object({ description: z.string().trim().default("") });

/** The first of two with the same name counts. One that cannot be understood is reported and skipped. */
export function readCommands(files: readonly (ContentFile & { name: string })[]): {
  commands: OwnCommand[];
  problems: Reason[];
} {
  const commands = new Map<string, OwnCommand>();
  const problems: Reason[] = [];
  for (const file of files) {
    try {
      const command = readCommand(file);
      if (commands.has(command.name)) throw unfit(reason("name-taken", { kind: "command", name: command.name }));
      commands.set(command.name, command);
    } catch (error) {
      problems.push(reason("file-left-out", { path: file.path, problem: reasonOf(error) }));
    }
  }
  return { commands: [...commands.values()].sort((a, b) => (a.name < b.name ? -1 : 1)), problems };
}

/** Front matter may be left out: the first line then says what it is for. */
function readCommand(file: ContentFile & { name: string }): OwnCommand {
  if (readSlash(`/${file.name}`)?.name !== file.name) throw unfit(reason("command-name-unfit", {}));
  const has = /^\uFEFF?---[ \t]*\r?\n/.test(file.text);
  const { fields, body } = has
    ? frontMatter(file, schema)
    : { fields: { description: "" }, body: file.text.replace(/^\uFEFF/, "").trim() };
  if (body === "") throw unfit(reason("command-text-missing", {}));
  const [first = ""] = body.split("\n");
  return { name: file.name, description: fields.description || first.slice(0, 100), body };
}

/** The message for the model: `$ARGUMENTS` is everything after the name, `$1` to `$9` its words. Words that the text does not use are added. */
export function sayCommand({ body }: OwnCommand, args: string): string {
  const words = wordsOf(args);
  if (!/\$(?:ARGUMENTS|[1-9])/.test(body)) return args === "" ? body : `${body}\n\n${args}`;
  // In one pass: what a person typed is never looked at again.
  return body.replace(/\$(ARGUMENTS|[1-9])/g, (_, what: string) =>
    what === "ARGUMENTS" ? args : (words[Number(what) - 1] ?? ""),
  );
}

/** Quotes keep words together. */
function wordsOf(args: string): string[] {
  return [...args.matchAll(/"([^"]*)"|'([^']*)'|(\S+)/g)].map(
    ([, double, single, plain]) => double ?? single ?? plain ?? "",
  );
}
