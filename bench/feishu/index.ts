// npm run bench:feishu                    200 chats, 20 messages a second, for ten minutes
// npm run bench:feishu -- --seconds 60    a quick look
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { load } from "./load.ts";

const { values } = parseArgs({
  options: {
    chats: { type: "string", default: "200" },
    rate: { type: "string", default: "20" },
    seconds: { type: "string", default: "600" },
  },
});
const [chats, perSecond, seconds] = [Number(values.chats), Number(values.rate), Number(values.seconds)];
const before = loadavg()[0] ?? 0;
const { said, clicked, finished, turns, ran, refused, waits, heap } = await load({ chats, perSecond, seconds });

const sorted = waits.toSorted((a, b) => a - b);
const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? NaN;
const mean = (some: readonly number[]) => some.reduce((sum, one) => sum + one, 0) / some.length;
const third = Math.ceil(heap.length / 3);
const [middle, last] = [mean(heap.slice(third, 2 * third)), mean(heap.slice(2 * third))];
const lost = said - Math.min(clicked, finished, turns, ran);
console.log(
  [
    `${chats} chats, ${perSecond} messages a second, ${seconds} s; load ${before.toFixed(1)} before, ${(loadavg()[0] ?? 0).toFixed(1)} after`,
    `messages ${said} of ${perSecond * seconds}, clicks ${clicked}, cards finished ${finished}, turns ended ${turns}, calls run ${ran}, lost ${lost}`,
    `clicks acknowledged: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms (goal: p99 below 1000)`,
    `heap after collection: ${middle.toFixed(1)} MB in the second third, ${last.toFixed(1)} MB in the last (goal: at most a tenth more)`,
    ...[...new Set(refused)].slice(0, 5).map((why) => `refused: ${why}`),
  ].join("\n"),
);
process.exitCode =
  said > 0.95 * perSecond * seconds && lost === 0 && refused.length === 0 && at(0.99) < 1_000 && last < middle * 1.1
    ? 0
    : 1;
