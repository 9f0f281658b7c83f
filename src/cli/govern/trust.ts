import { oneLine } from "../../base/visible.ts";
import { sageHome } from "../../config/home/home.ts";
import { guestTrust, trustGuests } from "../../config/trust/guest-trust.ts";
import { projectTrust, revoke, trust } from "../../config/trust/trust.ts";
import { agrees, checkApprover } from "../host/journal.ts";
import { styleOf, succeed, exitCodes } from "../process/stdout.ts";
import { readFlags, usage } from "../process/flags.ts";
import { guestTrustLines, trustLines } from "./trust-prompt.ts";

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
    return succeed(t.revoked(root));
  }
  const guests = guestTrust(file, process.cwd());
  const states = [state, guests.state];
  if (states.every((each) => each === "nothing-to-trust")) return succeed(t.trustNothing(root));
  const isOpen = (candidate: typeof state) => candidate === "untrusted" || candidate === "changed";
  if (!states.some(isOpen)) return succeed(t.trusted(root));
  const style = styleOf(process.stdout, lang);
  if (isOpen(state)) console.log(trustLines(project, style, t).join("\n"));
  if (isOpen(guests.state)) console.log(guestTrustLines(guests, style, t).join("\n"));
  if (!values.yes && !(await agrees(t.trustAsk))) {
    console.log(t.trustHow);
    return exitCodes.needsPerson;
  }
  checkApprover();
  if (isOpen(state)) trust(file, project);
  if (isOpen(guests.state)) trustGuests(file, guests);
  return succeed(t.trusted(root));
}
