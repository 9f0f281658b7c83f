import { mkdirSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { buildPage } from "../scripts/page.ts";
import { chromiumPath, fakeSite, launch, openTab } from "../test/surfaces/web/browser.ts";
import { fact, session, snapshot, watched } from "../test/surfaces/web/examples.ts";
import { manyTurns } from "../test/surfaces/web/many-turns.ts";
import { median, type Row } from "./measure.ts";

const rounds = 7;
const deltas = 40;

/** The page in a browser: its size, the time until it is of use, and a word that streams into a long session. */
export async function page(dir: string): Promise<Row[]> {
  mkdirSync(dir, { recursive: true });
  const { first } = await buildPage(join(dir, "web"));
  const size: Row = { figure: "page, first load after gzip", unit: "kB", sage: first / 1_000, aim: { atMost: 60 } };
  if (chromiumPath === undefined) return [size];
  const browser = await launch();
  try {
    await using site = await fakeSite();
    const bare = createServer((_, response) => response.end("<!doctype html><title>bare</title>"));
    await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));
    const usable = await loads(browser, site.url, "h1");
    const empty = await loads(browser, `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`, "html");
    bare.close();
    bare.closeAllConnections();
    const [long, short] = [await deltaMs(browser, site.url, 1_333), await deltaMs(browser, site.url, 1)];
    return [
      size,
      {
        ...{ figure: "page usable, on this machine", unit: "ms", sage: usable, aim: { atMost: 400 } },
        floor: { name: "an empty page", value: empty },
      },
      {
        ...{ figure: "a word into a session of 4,000 items", unit: "ms", sage: long, aim: { atMost: 50 } },
        floor: { name: "the same into an empty one", value: short },
      },
    ];
  } finally {
    await browser.close();
  }
}

async function loads(browser: Browser, url: string, selector: string): Promise<number> {
  const took: number[] = [];
  for (let n = 0; n < rounds; n++) {
    const context = await browser.newContext();
    const tab = await context.newPage();
    const started = performance.now();
    await tab.goto(url, { waitUntil: "commit" });
    await tab.waitForSelector(selector, { state: "attached" });
    took.push(performance.now() - started);
    await context.close();
  }
  return median(took);
}

/** From a delta's arrival to the end of the work that it makes, until it is in the page. */
async function deltaMs(browser: Browser, url: string, turns: number): Promise<number> {
  const tab = await openTab(browser, url, { at: "#/s/s1" });
  await tab.inbox(snapshot([], [session("s1", "long", { state: "running", pending: 0 })]));
  const last = fact("s1", "said/x", "user.said", { text: "the last one", by: "you", surface: "web" });
  await tab.watch("s1", ...watched(manyTurns(turns)), { type: "fact", fact: last });
  await tab.page.waitForSelector("text=the last one");
  const took = await words(tab.page);
  await tab.close();
  return median(took.slice(5));
}

function words(tab: Page): Promise<number[]> {
  return tab.evaluate<number[]>(`(async () => {
    const took = [];
    for (let n = 0; n < ${deltas}; n++) {
      const text = "word" + n + " ";
      const started = performance.now();
      fake.watch("s1", { type: "delta", delta: { session: "s1", key: "t9999/0/model", attempt: 0, n, kind: "text", text } });
      while (!document.querySelector(".transcript > li:last-child")?.textContent.includes(text.trim())) await new Promise((done) => setTimeout(done));
      document.body.offsetHeight;
      took.push(performance.now() - started);
      await new Promise((done) => requestAnimationFrame(done));
    }
    return took;
  })()`);
}
