import { extname } from "node:path";
import { gzipSync } from "node:zlib";
import { guardHeaders } from "./headers.ts";

/** Files of the page, by name: `index.html` and whatever it names below `/assets/`. */
export type PageFiles = ReadonlyMap<string, Uint8Array>;

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json",
};

type Shown = (name: string, acceptEncoding: string | undefined) => Response | undefined;

/** Answers with a file of the page. Each is compressed once, at the start; those with a hash in their name never change. */
export function pageFiles(files: PageFiles): Shown {
  const kept = new Map(
    [...files].map(([name, body]) => [
      name,
      { body, zipped: gzipSync(body, { level: 9 }), type: types[extname(name)] ?? "application/octet-stream" },
    ]),
  );
  return (name, acceptEncoding = "") => {
    const file = kept.get(name);
    if (!file) return undefined;
    const zips = /\bgzip\b/.test(acceptEncoding);
    return new Response(new Uint8Array(zips ? file.zipped : file.body), {
      headers: {
        ...guardHeaders,
        "content-type": file.type,
        vary: "accept-encoding",
        "cache-control": name === "index.html" ? "no-cache" : "public, max-age=31536000, immutable",
        ...(zips && { "content-encoding": "gzip" }),
      },
    });
  };
}
