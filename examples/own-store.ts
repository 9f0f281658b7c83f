// A store of your own: anything that implements Store. This one counts the facts that its turns write.
import { memoryStore, SageAgentSDK, scripted, type Store } from "sage-agent";

function counting(inner: Store): Store & { written(): number } {
  let facts = 0;
  return {
    ...inner,
    commit(session, epoch, batch) {
      facts += batch.length;
      return inner.commit(session, epoch, batch);
    },
    written: () => facts,
  };
}

const store = counting(memoryStore());
const sage = new SageAgentSDK({ model: scripted([{ text: "Hello." }]), store });
const outcome = await sage.run("Say hello");
console.log(outcome.text, store.written() > 0 ? "Facts were written." : "Nothing was written.");
for (const { step, text, usage } of sage.steps(outcome.session)) console.log(step, text, usage.outputTokens, "tokens");
await sage.close();
