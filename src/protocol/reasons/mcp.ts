/** Reasons of the MCP room: why a server does not count or does not answer, and why it asks. */
export type McpReasonArgs = {
  // Servers in settings.
  "server-form": {};
  "server-kind": { kind: string };

  // Servers that run, or should.
  "server-changed": { path: string };
  "server-not-started": { problem: string };
  "server-late": { limitMs: number };
  "server-ended": { code: number | string; output: string };
  "server-flooded": { limitMb: number };
  "server-login": { server: string };
  "address-insecure": { url: string };
  "servers-awaited": { servers: readonly string[] };

  // Elicitation.
  elicits: { server: string; tool: string; message: string };
  "elicitation-moot": { server: string };
  "elicitation-died": {};
  "elicitation-secret": { server: string; field: string };
  "field-unfit": { question: string; expected: FieldForm };
  "field-missing": { question: string };
};

/** Values that a field of a form takes. */
export type FieldForm = {
  type: "string" | "number" | "integer";
  least?: number;
  most?: number;
  format?: "email" | "uri" | "date" | "date-time";
};
