// The bare agent as anybody would write it. node bare-agent.mjs <baseURL> <task>
import { spawn } from "node:child_process";
import { fsyncSync, openSync, writeSync } from "node:fs";
import { Agent, request } from "node:http";
import { run } from "./bare-loop.mjs";

await run({ spawn, fsyncSync, openSync, writeSync, Agent, request }, process.argv.slice(2));
