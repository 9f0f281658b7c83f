import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import type { Page } from "playwright-core";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

type Violation = { id: string; nodes: { html: string; failureSummary: string }[] };

/** Nobody who hears the page or uses it by keys alone is left out, as far as a program can tell. */
export async function accessible(page: Page, name: string): Promise<void> {
  if (!(await page.evaluate("'axe' in globalThis"))) await page.evaluate(axe);
  const violations = await page.evaluate<Violation[]>(
    "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations)",
  );
  assert.deepEqual(
    violations.map(({ id, nodes }) => [
      name,
      id,
      ...nodes.map(({ html, failureSummary }) => `${html}: ${failureSummary}`),
    ]),
    [],
  );
}
