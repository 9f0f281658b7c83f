import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { test } from "node:test";
import type { Page } from "playwright-core";
import { fakeSite, launch, noBrowser, openTab } from "./browser.ts";
import { fill, overflow, places } from "./full.ts";

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

/** Every page in a language, on phone and desk, light and dark; and one that is away. Nothing runs past the right edge. */
export function everyPage(lang: "en" | "zh"): void {
  test(`axe finds nothing on any page: ${lang}, phone and desk, light and dark`, { skip: noBrowser }, async () => {
    const browser = await launch();
    await using site = await fakeSite();
    for (const phone of [true, false]) {
      const tab = await openTab(browser, site.url, { lang, phone });
      await fill(tab);
      for (const at of places) {
        await tab.page.evaluate(`location.hash = ${JSON.stringify(at)}`);
        await tab.page.waitForTimeout(400);
        for (const width of phone ? [360, 420, 390] : []) {
          await tab.page.setViewportSize({ width, height: 844 });
          assert.deepEqual(await overflow(tab.page), [], `${at} ${lang}, ${width} wide`);
        }
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.page.emulateMedia({ colorScheme });
          await accessible(tab.page, `${at} ${lang} ${phone ? "phone" : "desk"} ${colorScheme}`);
        }
      }
      await tab.fake("link('lost')");
      await accessible(tab.page, `away ${lang}`);
      assert.deepEqual(tab.complaints, []);
    }
    await browser.close();
  });
}
