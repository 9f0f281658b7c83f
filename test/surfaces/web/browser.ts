import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, describe } from "node:test";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../../../scripts/page.ts";
import type { InputRequest } from "../../../src/protocol/facts/request.ts";
import type { Command, InboxEvent, SessionSummary, WatchEvent } from "../../../src/protocol/host/host.ts";
import { guardHeaders } from "../../../src/surfaces/web/headers.ts";
import { bashRequest, session, snapshot } from "./examples.ts";

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

/** The page on a host that the test plays, behind a server that knows files only, under the policy of the real one. */
export async function fakeSite(): Promise<{ url: string } & AsyncDisposable> {
  const dir = mkdtempSync(join(tmpdir(), "sage-page-"));
  await buildPage(join(dir, "web"), { entry: join(import.meta.dirname, "fake/main.ts") });
  const server = createServer((request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://host");
    const file = join(dir, "web", pathname === "/" ? "index.html" : pathname);
    if (!existsSync(file)) return void response.writeHead(404).end();
    response.writeHead(200, { "content-type": types[extname(file)] ?? "", ...guardHeaders });
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
  close(): Promise<void>;
  complaints: string[];
  inbox(event: InboxEvent): Promise<void>;
  watch(session: string, ...events: WatchEvent[]): Promise<void>;
  fake<T>(what: string): Promise<T>;
};

export type TabOptions = { at?: string; lang?: "en" | "zh"; dark?: boolean; phone?: boolean };

/** Tabs that somebody has closed. A fresh one takes a process of its own, and a second of a processor. */
const spare = new WeakMap<Browser, Page[]>();

export async function openTab(browser: Browser, url: string, options: TabOptions = {}): Promise<Tab> {
  const { at = "", lang = "en", dark = false, phone = false } = options;
  const tabs = spare.get(browser) ?? [];
  spare.set(browser, tabs);
  const page = tabs.pop() ?? (await (await browser.newContext({ deviceScaleFactor: 1 })).newPage());
  await page.setViewportSize(phone ? { width: 390, height: 844 } : { width: 1280, height: 800 });
  await page.emulateMedia({ colorScheme: dark ? "dark" : "light" });
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
    complaints,
    async close() {
      page.removeAllListeners();
      await page.evaluate("localStorage.clear()");
      await page.goto("about:blank");
      tabs.push(page);
    },
    inbox: (event) => page.evaluate(`fake.inbox(${JSON.stringify(event)})`),
    watch: (session, ...events) =>
      page.evaluate(`fake.watch(${[session, ...events].map((one) => JSON.stringify(one)).join(", ")})`),
    fake: (what) => page.evaluate(`fake.${what}`),
  };
}

export type FakeHost = {
  sessions: SessionSummary[];
  tab(options?: TabOptions): Promise<Tab>;
  /** A tab that has heard of these requests. */
  open(requests?: InputRequest[], options?: TabOptions): Promise<Tab>;
  sent(tab: Tab, ...types: Command["type"][]): Promise<Command[]>;
  /** Waits until a button can be pressed. */
  lifted(tab: Tab, selector: string): Promise<unknown>;
};

/** One browser and one build of the page, for the tests of a suite. */
export function browserAndSite(): { browser(): Browser; site(): Awaited<ReturnType<typeof fakeSite>> } {
  let browser: Browser;
  let site: Awaited<ReturnType<typeof fakeSite>>;
  before(async () => {
    [browser, site] = await Promise.all([launch(), fakeSite()]);
  });
  after(async () => {
    await browser?.close();
    await site?.[Symbol.asyncDispose]();
  });
  return { browser: () => browser, site: () => site };
}

/** Tests of the page on a host that they play: one browser, and one build of the page. */
export function onFakeHost(name: string, define: (host: FakeHost) => void): void {
  describe(name, { skip: noBrowser }, () => {
    const here = browserAndSite();
    const sessions = [session("s1", "Fix the parser"), session("s2", "Set up storage")];
    const tab = (options?: TabOptions) => openTab(here.browser(), here.site().url, options);
    define({
      sessions,
      tab,
      async open(requests = [bashRequest("npm run build")], options = {}) {
        const opened = await tab(options);
        await opened.inbox(snapshot(requests, sessions));
        return opened;
      },
      sent: async (from, ...types) =>
        (await from.fake<Command[]>("sent")).filter(({ type }) => types.length === 0 || types.includes(type)),
      lifted: ({ page }, selector) => page.waitForSelector(`${selector}:not([aria-disabled=true])`),
    });
  });
}
