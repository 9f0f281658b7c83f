import { join } from "node:path";

/** Environment of tests: no key, proxy or setting of the person at the keyboard decides whether one passes. */
export function isolated(home: string): NodeJS.ProcessEnv {
  const personal = /^(ANTHROPIC|OPENAI|SAGE|XDG)_|^(https?|all|no)_proxy$/i;
  return {
    ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !personal.test(name))),
    NODE_ENV: "test",
    // Halves the time a test file needs to load what another has loaded before.
    NODE_COMPILE_CACHE: join(home, "compiled"),
    HOME: home,
    USERPROFILE: home,
    SAGE_HOME: join(home, ".sage"),
  };
}
