import { feishuSetupTexts } from "../../../texts/serve/feishu-setup.ts";
import { langOf, usage } from "../../process/flags.ts";

/** `sage feishu setup`, `doctor` and `audit`. */
export async function feishu(args: string[]): Promise<number> {
  const [what, ...rest] = args;
  if (what === "setup") return (await import("./setup.ts")).setup(rest);
  if (what === "doctor") return (await import("./doctor.ts")).doctor(rest);
  if (what === "audit") return (await import("./audit.ts")).audit(rest);
  throw usage(feishuSetupTexts(langOf(args)).usage);
}
