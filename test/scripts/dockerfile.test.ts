import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";

const root = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");

test("the image runs as nobody in particular, on the Node that the package needs, and keeps its state in a volume", () => {
  const last = dockerfile.slice(dockerfile.lastIndexOf("FROM "));
  assert.deepEqual(
    [...dockerfile.matchAll(/^FROM node:(\d+)/gm)].map(([, major]) => major),
    ["24", "24"],
  );
  const home = /^ENV SAGE_HOME=(\S+)$/m.exec(last)?.[1] ?? "";
  assert.ok(last.includes(`VOLUME ["${home}"]`));
  // Everything after it belongs to the user, and so does the folder.
  assert.ok(last.indexOf("\nUSER node\n") > last.lastIndexOf("\nRUN "));
  assert.match(last, new RegExp(`chown node:node .*${home}`));
  assert.match(last, /^HEALTHCHECK [^]*127\.0\.0\.1:8787\/health/m);
  assert.match(dockerfile, /never run/);
});

test("the Dockerfile copies files that are there, and runs scripts that exist", () => {
  for (const [, files = ""] of dockerfile.matchAll(/^COPY (?!--from)(.*) \S+$/gm))
    for (const file of files.split(" ")) assert.ok(existsSync(join(root, file)), file);
  const { scripts } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  for (const [, script = ""] of dockerfile.matchAll(/npm run ([\w:]+)/g)) assert.ok(scripts[script], script);
});
