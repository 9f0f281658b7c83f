import * as z from "../../base/z.ts";

const paths = (what: string) => z.array(z.string().min(1)).optional().describe(what);
const hidden = paths("Files that neither commands nor tools may read, as in `Read(…)`");
export const sandboxSchema = z
  .strictObject({
    mode: z
      .enum(["off", "contain", "autoAllow"])
      .optional()
      .describe(
        "off (the default), contain: commands run confined, autoAllow: those that fit in also run without asking",
      ),
    allowedDomains: z
      .array(z.string().min(1))
      .optional()
      .describe("Hosts that confined commands may reach, such as `*.example.org`"),
    writable: paths("Further folders that confined commands may write"),
    readable: paths("Further folders that confined commands may read"),
    hidden,
    git: z
      .enum(["read", "write"])
      .optional()
      .describe("write: commands of git that change the repository run without asking, too"),
    outside: z.array(z.string().min(1)).optional().describe("Further programs that run outside, once they are allowed"),
  })
  .describe("Commands confined by the operating system, see docs/sandbox.md");

export type SandboxSettings = z.infer<typeof sandboxSchema>;
