// A model of your own: one function from messages to a whole reply. It handles its own retries, keys and addresses.
import { noUsage, SageAgentSDK, type Model } from "sage-agent";

const counting: Model = {
  id: "own/counting",
  async reply({ messages }, scope) {
    scope.signal.throwIfAborted(); // pass the signal to everything that waits, such as fetch
    const last = messages.findLast((message) => message.role === "user");
    const words = last?.text.split(/\s+/).length ?? 0;
    const text = `You used ${words} words.`;
    scope.text(text); // stream it piece by piece; only the reply below counts
    return { parts: [{ type: "text", text }], usage: noUsage, finish: "stop", model: counting.id };
  },
};

const sage = new SageAgentSDK({ model: counting });
console.log((await sage.run("How many words are these?")).text);
await sage.close();
