// A model of your own: one function from messages to a whole reply. Retries, keys and addresses are its own business.
import { noUsage, SageAgentSDK, type Model } from "sage-agent";

const counting: Model = {
  id: "own/counting",
  async reply({ messages }, scope) {
    scope.signal.throwIfAborted(); // pass the signal on to whatever waits, such as fetch
    const last = messages.findLast((message) => message.role === "user");
    const words = last?.text.split(/\s+/).length ?? 0;
    const text = `You used ${words} words.`;
    scope.text(text); // as it comes, piece by piece; what counts is the reply below
    return { parts: [{ type: "text", text }], usage: noUsage, finish: "stop", model: counting.id };
  },
};

const sage = new SageAgentSDK({ model: counting });
console.log((await sage.run("How many words are these?")).text);
await sage.close();
