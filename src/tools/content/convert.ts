import type { Worker } from "node:worker_threads";

/** A page to be made into text. */
type Conversion = { kind: "html"; text: string; url: string } | { kind: "pdf"; body: Uint8Array };

type Outcome = { text: string } | { problem: string };

const TIMEOUT_MS = 20_000;
const MEMORY_MB = 512;
/** Memory that the thread may take beside its heap, where what is unpacked lies, before it is ended. */
const OUTSIDE_MB = 1_024;
const POLL_MS = 50;

// Built-in modules by name: an `import` would join this file to others in the bundle, and the thread would have to load them.
const threads = process.getBuiltinModule("node:worker_threads");

/** Makes text of a page in its own thread: anybody's page may keep a parser busy or fill its memory, and must not take us along. */
export function convert(
  conversion: Conversion,
  signal: AbortSignal,
  { patienceMs = TIMEOUT_MS, memoryMb = MEMORY_MB, outsideMb = OUTSIDE_MB } = {},
): Promise<string> {
  const worker = new threads.Worker(new URL(import.meta.url), {
    workerData: { sageConverts: conversion },
    resourceLimits: { maxOldGenerationSizeMb: memoryMb },
    env: {},
    execArgv: [],
    stdout: true,
    stderr: true,
  });
  const late = AbortSignal.timeout(patienceMs);
  const full = new AbortController();
  const before = process.memoryUsage.rss();
  const watch = setInterval(() => {
    if (process.memoryUsage.rss() - before > (memoryMb + outsideMb) * 1024 * 1024)
      full.abort(new Error("the page takes too much memory"));
  }, POLL_MS);
  return ended(worker, AbortSignal.any([signal, late, full.signal]))
    .catch((error: unknown) => {
      if (late.aborted && !signal.aborted)
        throw new Error(`the page could not be read within ${patienceMs / 1000} seconds`, { cause: error });
      throw error;
    })
    .finally(() => {
      clearInterval(watch);
      void worker.terminate();
    });
}

function ended(worker: Worker, signal: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const abort = () => reject(signal.reason as Error);
    if (signal.aborted) return abort();
    signal.addEventListener("abort", abort, { once: true });
    worker.on("message", (outcome: Outcome) =>
      "text" in outcome ? resolve(outcome.text) : reject(new Error(outcome.problem)),
    );
    worker.on("error", (error) => reject(new Error(`the page could not be read: ${error.message}`)));
    worker.on("exit", () => reject(new Error("the page could not be read")));
  });
}

/** The other half: what runs in the thread. */
async function serve(conversion: Conversion): Promise<void> {
  const outcome: Outcome = await convertedText(conversion).then(
    (text) => ({ text }),
    (error: unknown) => ({ problem: `the page could not be read: ${(error as Error).message}` }),
  );
  threads.parentPort?.postMessage(outcome);
}

async function convertedText(conversion: Conversion): Promise<string> {
  if (conversion.kind === "html") return (await import("./html.ts")).toMarkdown(conversion.text, conversion.url);
  return pdfText(conversion.body);
}

/** The text of a PDF, page by page. */
async function pdfText(body: Uint8Array): Promise<string> {
  const { extractText, getDocumentProxy } = await import("unpdf"); // loaded with the first PDF
  const document = await getDocumentProxy(new Uint8Array(body), { verbosity: 0 });
  const { totalPages, text } = await extractText(document, { mergePages: false });
  if (text.every((page) => page.trim() === ""))
    return `(This PDF of ${totalPages} pages holds no text: it may be a scan.)`;
  return text.map((page, n) => `(page ${n + 1} of ${totalPages})\n${page.trim()}`).join("\n\n");
}

const given = threads.isMainThread ? undefined : (threads.workerData as { sageConverts?: Conversion } | undefined);
if (given?.sageConverts) void serve(given.sageConverts);
