import { oneLine } from "../../protocol/index.ts";
import { sageHome } from "../../config/home.ts";
import { projectTrust, revoke, trust } from "../../config/trust.ts";
import { checkApprover } from "../account.ts";
import { exitCodes } from "../exit-codes.ts";
import { readFlags, usage } from "../flags.ts";
import { styleOf } from "../style.ts";
import { agrees } from "../journal.ts";
import { trustLines } from "../trust-prompt.ts";

/** A folder's own settings count only after the person has seen them, and only as they were seen. */
export async function trustFolder(args: string[]): Promise<number> {
  const { values, lang, t } = readFlags(args, { yes: { type: "boolean" }, revoke: { type: "boolean" } });
  if (values.yes && values.revoke) throw usage(t.conflict("--yes", "--revoke"));
  const { trust: file } = sageHome(process.env);
  const project = projectTrust(file, process.cwd());
  const { state } = project;
  const root = oneLine(project.root);
  if (values.revoke) {
    revoke(file, project.root);
    return told(t.revoked(root));
  }
  if (state === "nothing-to-trust") return told(t.trustNothing(root));
  if (state === "trusted") return told(t.trusted(root));
  console.log(trustLines(project, styleOf(process.stdout, lang), t).join("\n"));
  if (!values.yes && !(await agrees(t.trustAsk))) {
    console.log(t.trustHow);
    return exitCodes.needsPerson;
  }
  checkApprover();
  trust(file, project);
  return told(t.trusted(root));
}

function told(text: string): number {
  console.log(text);
  return exitCodes.success;
}
