/** One frame of the long connection. */
export type Frame = {
  seqId: number;
  logId: number;
  service: number;
  /** 0 control, 1 data. */
  method: number;
  headers: Record<string, string>;
  payload?: Buffer;
};

export function encodeFrame({ seqId, logId, service, method, headers, payload }: Frame): Buffer {
  return Buffer.concat([
    // Written also when they are 0: whoever reads them takes them for required.
    ...[seqId, logId, service, method].map((value, n) => Buffer.concat([tag(n + 1, 0), varint(value)])),
    ...Object.entries(headers).map(([key, value]) => bytes(5, Buffer.concat([text(1, key), text(2, value)]))),
    ...(payload ? [bytes(8, payload)] : []),
  ]);
}

export function decodeFrame(buffer: Buffer): Frame {
  const frame: Frame = { seqId: 0, logId: 0, service: 0, method: 0, headers: {} };
  for (const { field, value, content } of fields(buffer)) {
    if (field === 1) frame.seqId = value;
    else if (field === 2) frame.logId = value;
    else if (field === 3) frame.service = value;
    else if (field === 4) frame.method = value;
    else if (field === 8) frame.payload = content;
    else if (field === 5) {
      const pair = [...fields(content)].map((part) => part.content.toString("utf8"));
      frame.headers[pair[0] ?? ""] = pair[1] ?? "";
    }
  }
  return frame;
}

function* fields(buffer: Buffer): Generator<{ field: number; value: number; content: Buffer }> {
  let at = 0;
  const next = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = buffer[at++];
      if (byte === undefined) throw new Error("a frame ends in the middle of a number");
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  while (at < buffer.length) {
    const head = next();
    const [field, wire] = [head >> 3, head & 7];
    if (wire === 0) yield { field, value: next(), content: Buffer.alloc(0) };
    else if (wire === 2) {
      const length = next();
      yield { field, value: 0, content: buffer.subarray(at, (at += length)) };
    } else throw new Error(`a frame has wire type ${wire}`);
  }
}

function varint(value: number): Buffer {
  const out: number[] = [];
  let rest = BigInt(value);
  do {
    out.push(Number(rest & 0x7fn) | (rest > 0x7fn ? 0x80 : 0));
    rest >>= 7n;
  } while (rest > 0n);
  return Buffer.from(out);
}

const tag = (field: number, wire: number) => varint((field << 3) | wire);
const bytes = (field: number, content: Buffer) => Buffer.concat([tag(field, 2), varint(content.length), content]);
const text = (field: number, value: string) => bytes(field, Buffer.from(value, "utf8"));
