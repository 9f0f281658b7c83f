import { extractText, getDocumentProxy } from "unpdf";

/** The text of a PDF, page by page. */
export async function pdfText(body: Uint8Array): Promise<string> {
  const document = await getDocumentProxy(new Uint8Array(body), { verbosity: 0 });
  const { totalPages, text } = await extractText(document, { mergePages: false });
  if (text.every((page) => page.trim() === ""))
    return `(This PDF of ${totalPages} pages holds no text: it may be a scan.)`;
  return text.map((page, n) => `(page ${n + 1} of ${totalPages})\n${page.trim()}`).join("\n\n");
}
