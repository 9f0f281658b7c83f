import { feishuSetupTexts } from "../../texts/feishu-setup.ts";
import { langOf, usage } from "../flags.ts";

/** `sage feishu setup`, `doctor` and `audit`. */
export async function feishu(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "setup") return (await import("./feishu/setup.ts")).setup(rest);
  if (what === "doctor") return (await import("./feishu/doctor.ts")).doctor(rest);
  if (what === "audit") return (await import("./feishu/audit.ts")).audit(rest);
  throw usage(feishuSetupTexts(langOf(args)).usage);
}
