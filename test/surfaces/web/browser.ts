import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import type { Browser, BrowserContext, Page } from "playwright-core";
import { buildPage } from "../../../scripts/page.ts";
import type { InboxEvent, WatchEvent } from "../../../src/protocol/index.ts";

export const chromiumPath = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(
  existsSync,
);
export const noBrowser = chromiumPath === undefined && "no Chromium on this machine: the page was not looked at";

export async function launch(): Promise<Browser> {
  const { chromium } = await import("playwright-core");
  if (chromiumPath === undefined) throw new Error("no Chromium");
  return chromium.launch({ executablePath: chromiumPath, args: ["--no-sandbox", "--disable-gpu"] });
}

const types: Record<string, string> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
};

/** The policy of the real server: whatever the page cannot do there it cannot do here. */
export const policy =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

/** The page on a host that the test plays, behind a server that knows files only. */
export async function fakeSite(): Promise<{ url: string } & AsyncDisposable> {
  const dir = mkdtempSync(join(tmpdir(), "sage-page-"));
  await buildPage(join(dir, "web"), { entry: join(import.meta.dirname, "fake/main.ts") });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const file = join(dir, "web", pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "", "content-security-policy": policy });
    response.end(readFileSync(file));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    async [Symbol.asyncDispose]() {
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

/** One tab, and what the browser complained about in it. */
export type Tab = {
  page: Page;
  context: BrowserContext;
  complaints: string[];
  inbox(event: InboxEvent): Promise<void>;
  watch(session: string, ...events: WatchEvent[]): Promise<void>;
  fake<T>(what: string): Promise<T>;
};

export type TabOptions = { at?: string; lang?: "en" | "zh"; dark?: boolean; phone?: boolean };

export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { at = "", lang = "en", dark = false, phone = false } = options;
  const context = await browser.newContext({
    viewport: phone ? { width: 390, height: 844 } : { width: 1280, height: 800 },
    colorScheme: dark ? "dark" : "light",
    hasTouch: phone,
    deviceScaleFactor: 1,
  });
  const page = await context.newPage();
  const complaints: string[] = [];
  page.on("console", (message) => complaints.push(message.text()));
  page.on("pageerror", (error) => complaints.push(String(error)));
  page.on("request", (request) => {
    if (!request.url().startsWith(url)) complaints.push(`asked for ${request.url()}`);
  });
  await page.goto(`${url}?lang=${lang}${at}`);
  await page.waitForSelector("main");
  return {
    page,
    context,
    complaints,
    inbox: (event) => page.evaluate(`fake.inbox(${JSON.stringify(event)})`),
    watch: (session, ...events) =>
      page.evaluate(`fake.watch(${[session, ...events].map((one) => JSON.stringify(one)).join(", ")})`),
    fake: (what) => page.evaluate(`fake.${what}`),
  };
}
