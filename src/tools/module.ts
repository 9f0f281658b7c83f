import type { z } from "./definition/zod.ts";
import type { SubagentDefinition } from "../protocol/subagent.ts";
import type { Tool } from "./definition/tool.ts";

/** Parts that a module adds: tools beside the built-in ones, and types of subagents. */
export type ModuleParts = { tools?: readonly Tool[]; agents?: readonly SubagentDefinition[] };

/** The default export of a module that settings name. A function is given `z` for schemas, so that the file needs no package. */
export type SageModule = ModuleParts | ((sage: { z: typeof z }) => ModuleParts | Promise<ModuleParts>);
