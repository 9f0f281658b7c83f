import { edit } from "../../src/tools/edit.ts";
import { read } from "../../src/tools/read.ts";
import { write } from "../../src/tools/write.ts";

export const refusedBy = (tool: typeof read | typeof write | typeof edit, input: object) =>
  !tool.inputSchema.safeParse(input).success;
