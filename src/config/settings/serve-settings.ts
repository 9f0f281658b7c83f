import * as z from "../../base/z.ts";

/** Https, or plain HTTP within this machine: keys go there. */
const origin = z.string().regex(/^(https:\/\/[^/\s]+|http:\/\/(127\.0\.0\.1|localhost|\[::1\])(:\d+)?)$/, "web-origin");

/** Hosts that `sage --host` knows by name. */
export const hosts = z
  .record(z.string().regex(/^[\w.-]{1,40}$/), origin)
  .describe("Addresses of other machines' `sage serve`, by name, for `sage --host`; keys are kept apart");

const web = z
  .strictObject({
    origins: z
      .array(origin)
      .optional()
      .describe(
        "Addresses under which people reach the page through a proxy or a tunnel, such as https://sage.example.org",
      ),
    folders: z
      .array(z.string())
      .optional()
      .describe("Names of `workspaces` in which sessions may be begun from the page; all of them by default"),
    identity: z
      .strictObject({
        header: z.string().regex(/^[\w-]{1,60}$/, "header-name"),
        secret: z.string().min(16),
        from: z.array(z.string()).optional().describe("Addresses of the proxy; those of this machine by default"),
      })
      .optional()
      .describe("A proxy signs people in: it names them in `header`, and proves itself by `secret` in x-sage-proxy"),
  })
  .describe("The page of `sage serve`");

export const serve = z
  .strictObject({
    host: z.string().optional().describe("Where `sage serve` listens; 127.0.0.1 by default"),
    port: z.number().int().min(0).max(65_535).optional().describe("8787 by default"),
    tls: z
      .strictObject({ cert: z.string().min(1), key: z.string().min(1) })
      .optional()
      .describe("Files of a certificate and its key, in PEM: the page is served by https"),
    web: web.optional(),
  })
  .describe("The daemon");

export type WebSettings = z.infer<typeof web>;
