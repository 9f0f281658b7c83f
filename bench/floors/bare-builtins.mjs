// The same, without the facades that `import` makes of built-in modules: the one of node:http alone loads undici.
import { run } from "./bare-loop.mjs";

const modules = ["node:child_process", "node:fs", "node:http"].map((name) => process.getBuiltinModule(name));
const [{ spawn }, { fsyncSync, openSync, writeSync }, { Agent, request }] = modules;
await run({ spawn, fsyncSync, openSync, writeSync, Agent, request }, process.argv.slice(2));
