/** The parts of an upload by their names. */
export function partsOf(body: Buffer, contentType: string): Map<string, Buffer> {
  const boundary = /boundary="?([^";]+)"?/.exec(contentType)?.[1];
  const parts = new Map<string, Buffer>();
  if (boundary === undefined) return parts;
  const mark = Buffer.from(`--${boundary}`);
  for (let at = body.indexOf(mark); at >= 0;) {
    const from = at + mark.length + 2;
    const next = body.indexOf(mark, from);
    if (next < 0) break;
    const split = body.indexOf("\r\n\r\n", from);
    const name = /name="([^"]*)"/.exec(body.subarray(from, split).toString("utf8"))?.[1];
    if (name !== undefined) parts.set(name, body.subarray(split + 4, next - 2));
    at = next;
  }
  return parts;
}
