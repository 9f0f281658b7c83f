import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../../scripts/page.ts";
import type { served } from "../../support/served.ts";

export const people = {
  Lin: { ids: ["account:lin"], roles: ["approver" as const] },
  Kai: { ids: ["account:kai", "proxy:kai@example.org"], roles: ["approver" as const] },
};

/** Files of the page, built for this version of Sage or another. */
export async function builtPage(version?: string): Promise<Map<string, Buffer>> {
  const dir = mkdtempSync(join(tmpdir(), "sage-page-"));
  await buildPage(dir, version === undefined ? {} : { version });
  const read = (file: string) =>
    [file, readFileSync(join(dir, file === "index.html" ? file : join("assets", file)))] as const;
  const files = new Map([read("index.html"), ...readdirSync(join(dir, "assets")).map(read)]);
  rmSync(dir, { recursive: true, force: true });
  return files;
}

/** Somebody's browser, let in by a link. */
export async function enter(
  browser: Browser,
  { url }: Pick<Awaited<ReturnType<typeof served>>, "url">,
  key: string,
  until = ".link.open",
): Promise<Page & { complaints: string[] }> {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 } });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${url}/#k=${key}`);
  await page.waitForSelector(until);
  return Object.assign(page, { complaints });
}

export async function allow(page: Page): Promise<void> {
  await page.waitForSelector("[data-choice=once]:not([aria-disabled=true])");
  await page.waitForTimeout(600);
  await page.click("[data-choice=once]");
  await page.waitForTimeout(450);
  await page.getByRole("button", { name: "Yes, allow once" }).click();
}
