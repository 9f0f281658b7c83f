/** Limits of a model. `output`: tokens of one reply. `budget`: thinking is told how long it may be, else the model decides. */
type Claude = { output: number; temperature: boolean; budget: boolean; isKnown: boolean };

const newest: Claude = { output: 128_000, temperature: false, budget: false, isKnown: true };

/** Claude models by a pattern of their name; the first that fits counts. */
const claudes: readonly [RegExp, Claude][] = [
  [/claude-(sonnet|opus|haiku)-5-5|claude-fable-5/, newest],
  [/claude-(sonnet|opus)-5|claude-opus-4-[78]/, { ...newest, budget: true }],
  [/claude-(sonnet|opus)-4-6/, { ...newest, budget: true, temperature: true }],
  [
    /claude-(sonnet|opus|haiku)-4-5|claude-sonnet-4[-@]/,
    { output: 64_000, temperature: true, budget: true, isKnown: true },
  ],
  [/claude-opus-4[-@]/, { output: 32_000, temperature: true, budget: true, isKnown: true }],
  [/claude-3-haiku/, { output: 4_096, temperature: true, budget: true, isKnown: true }],
  [/claude-(instant|v?[23])([-.:]|$)/, { output: 4_096, temperature: true, budget: true, isKnown: false }],
  [/claude-/, { ...newest, budget: true, isKnown: false }],
];

/** Servers that only speak Anthropic's format have models of other names, and limits that nobody knows. */
export function claudeOf(modelId: string): Claude {
  const other: Claude = { output: 4_096, temperature: true, budget: true, isKnown: false };
  return claudes.find(([name]) => name.test(modelId))?.[1] ?? other;
}

/** Earlier ones refuse to be told to think. */
export function thinksAtAll(modelId: string): boolean {
  return !/claude-(instant|v?2|3-(haiku|opus|sonnet|5))/.test(modelId);
}
