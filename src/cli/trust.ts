import { sageHome } from "../runtime/home.ts";
import { projectTrust, revoke, trust, type ProjectTrust } from "../runtime/trust.ts";
import { framed } from "../surfaces/plain/safe.ts";
import type { CliTexts } from "../texts/cli.ts";
import { exitCodes } from "./exit-codes.ts";
import { readFlags, usage } from "./flags.ts";
import { styleOf } from "./inbox.ts";
import { agrees } from "./journal.ts";

/** A folder's own settings count only after the person has seen them, and only as they were seen. */
export async function trustFolder(args: string[]): Promise<number> {
  const { values, lang, t } = readFlags(args, { yes: { type: "boolean" }, revoke: { type: "boolean" } });
  if (values.yes && values.revoke) throw usage(t.conflict("--yes", "--revoke"));
  const { trust: file } = sageHome(process.env);
  const project = projectTrust(file, process.cwd());
  const { root, state } = project;
  if (values.revoke) {
    revoke(file, root);
    return told(t.revoked(root));
  }
  if (state === "nothing-to-trust") return told(t.trustNothing(root));
  if (state === "trusted") return told(t.trusted(root));
  console.log([t.trustWhat(root), ...fileLines(project, styleOf(process.stdout, lang), t)].join("\n"));
  if (!values.yes && !(await agrees(t.trustAsk))) {
    console.log(t.trustHow);
    return exitCodes.needsPerson;
  }
  trust(file, project);
  return told(t.trusted(root));
}

function told(text: string): number {
  console.log(text);
  return exitCodes.success;
}

function fileLines({ files, before }: ProjectTrust, style: ReturnType<typeof styleOf>, t: CliTexts): string[] {
  return files.flatMap(({ path, text }) => {
    const old = before[path];
    if (old === undefined) return [path, ...framed(text, style)];
    const [was, is] = [old.split("\n"), text.split("\n")];
    const gone = was.filter((line) => !is.includes(line)).flatMap((line) => framed(line, style, "- "));
    return [
      t.trustChanged(path),
      ...gone,
      ...is.flatMap((line) => framed(line, style, was.includes(line) ? "  " : "+ ")),
    ];
  });
}
