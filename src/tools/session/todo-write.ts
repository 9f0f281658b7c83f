import * as z from "../../base/z.ts";
import { describe } from "../definition/describe.ts";
import type { Tool } from "../definition/tool.ts";

const inputSchema = z.strictObject({
  todos: z.array(
    z.strictObject({
      content: z.string().min(1).describe("What to do"),
      status: z.enum(["pending", "in_progress", "completed"]),
    }),
  ),
});

type Input = z.infer<typeof inputSchema>;

/** Fields that lists of other agents have beside these two. */
const extras = ["activeForm", "id", "priority"];

function withoutExtras(todo: unknown): unknown {
  if (typeof todo !== "object" || todo === null) return todo;
  return Object.fromEntries(Object.entries(todo).filter(([name]) => !extras.includes(name)));
}

const marks = { pending: "[ ]", in_progress: "[>]", completed: "[x]" };

export const todoWrite: Tool<Input> = {
  name: "TodoWrite",
  description: describe("session/todo-write"),
  inputSchema,
  adapt({ todos, ...rest }) {
    return { ...rest, todos: Array.isArray(todos) ? todos.map(withoutExtras) : todos };
  },
  effect: "reads",
  checkPermissions: () => ({ behavior: "allow", reason: "changes nothing but the agent's own list" }),
  execute: async ({ todos }) => ({
    ok: true,
    text: todos.map(({ content, status }) => `${marks[status]} ${content}`).join("\n") || "(the list is empty)",
  }),
};
