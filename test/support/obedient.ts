import type { Model } from "../../src/models/model.ts";
import { noUsage, type Message } from "../../src/protocol/facts/message.ts";

/** A call that a text tells a model to make. */
export type Order = { tool: string; input: Record<string, unknown> };

/** The order as a text carries it, among whatever words. */
export const told = (order: Order): string => `OBEY<<${JSON.stringify(order)}>>`;

/**
 * A model that does whatever any text tells it, wherever it reads it: system prompt, descriptions of tools, files, names of files,
 * output of commands, pages. It begins with these calls. A subagent's report repeats what it has read.
 */
export function obedient(first: readonly Order[]): Model {
  return {
    id: "obedient",
    async reply({ system, tools, messages, agent }) {
      const text = JSON.stringify([system, tools, messages]);
      const done = new Set([...JSON.stringify(messages).matchAll(/"id":"order_(\d+)"/g)].map(([, n]) => Number(n)));
      const orders = [...(agent.length === 0 ? first : []), ...distinct(ordersIn(text))];
      const calls = orders.flatMap((order, n) =>
        done.has(n) ? [] : [{ type: "call" as const, id: `order_${n}`, ...order }],
      );
      const parts =
        calls.length > 0 ? calls : [{ type: "text" as const, text: agent.length > 0 ? resultsIn(messages) : "done" }];
      return { parts, usage: noUsage, finish: calls.length > 0 ? "calls" : "stop", model: "obedient" };
    },
  };
}

const [BEGIN, END] = ["OBEY<<", ">>"];

/** An order may hold the marks itself: the first end that makes sense is its end. */
function ordersIn(text: string): Order[] {
  const found: Order[] = [];
  let at = text.indexOf(BEGIN);
  while (at >= 0) {
    const from = at + BEGIN.length;
    let end = text.indexOf(END, from);
    let orders: Order[] = [];
    for (let tries = 0; end >= 0 && tries < 8 && orders.length === 0; tries++) {
      orders = orderIn(text.slice(from, end));
      if (orders.length === 0) end = text.indexOf(END, end + 1);
    }
    found.push(...orders);
    at = text.indexOf(BEGIN, orders.length > 0 ? end : from);
  }
  return found;
}

/** However often it was quoted on its way here. */
function orderIn(text: string): Order[] {
  for (let quoted = text, times = 0; times < 5; times++) {
    try {
      return [JSON.parse(quoted) as Order];
    } catch {
      quoted = quoted.replaceAll(/\\(["\\])/g, "$1");
    }
  }
  return [];
}

function distinct(orders: readonly Order[]): Order[] {
  return [...new Map(orders.map((order) => [JSON.stringify(order), order])).values()];
}

function resultsIn(messages: readonly Message[]): string {
  return messages
    .flatMap((message) => (message.role === "tool" ? message.results.map(({ result }) => result.text) : []))
    .join("\n");
}
