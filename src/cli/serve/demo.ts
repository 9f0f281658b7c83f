import { join } from "node:path";
import type { Model } from "../../models/model.ts";
import { scripted } from "../../models/scripted.ts";
import { demoTexts } from "../../texts/commands/demo.ts";
import type { Lang } from "../../texts/language.ts";
import { type DemoWorld, demoScript, demoWorld } from "../open/demo-script.ts";

/** Replies that a session of the demo may have after its script has ended. */
const FURTHER = 200;

export type ServedDemo = DemoWorld & { task: string; model(): Promise<Model> };

/** A home, a project and a model for people who have none: everything is real but the model, and gone afterwards. */
export function openDemo(env: NodeJS.ProcessEnv, lang: Lang): ServedDemo {
  const t = demoTexts(lang);
  const world = demoWorld(t, env);
  const further = Array.from({ length: FURTHER }, () => ({ text: t.over }));
  return {
    ...world,
    env: { ...world.env, SAGE_HOME: join(world.dir, "home") },
    task: t.task,
    model: async () => scripted(demoScript(t, 600, { further }), "demo"),
  };
}
