import type { Usage } from "../protocol/facts/message.ts";

/** US dollars per million tokens. Cache prices default to the price of input. */
export type Price = { input: number; output: number; cacheRead?: number; cacheWrite?: number };

/** Prices by provider/model. */
export type Prices = Readonly<Record<string, Price>>;

/** List prices of the default models, as published in October 2026. Of everything else only the person knows what they pay. */
const listed: Prices = {
  "anthropic/claude-sonnet-5-5": { input: 2, output: 10, cacheRead: 0.2, cacheWrite: 2.5 },
  // Up to 272,000 tokens of input, which is where Sage makes room; above that OpenAI asks for more.
  "openai/gpt-6.1-sol": { input: 2, output: 10, cacheRead: 0.1, cacheWrite: 2.5 },
};

/** Undefined when nobody knows the price: a guess would be taken for a bill. */
export function costOf(usage: Usage, model: string, prices: Prices = {}): number | undefined {
  const price = priceOf(model, prices);
  if (!price) return undefined;
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage;
  const { input, output, cacheRead = input, cacheWrite = input } = price;
  const fresh = inputTokens - cacheReadTokens - cacheWriteTokens;
  return (
    (fresh * input + cacheReadTokens * cacheRead + cacheWriteTokens * cacheWrite + outputTokens * output) / 1_000_000
  );
}

/** The person's own price, or the list price. */
export function priceOf(model: string, prices: Prices = {}): Price | undefined {
  return ownPrice(prices, model) ?? ownPrice(listed, model);
}

function ownPrice(prices: Prices, model: string): Price | undefined {
  return Object.hasOwn(prices, model) ? prices[model] : undefined;
}
