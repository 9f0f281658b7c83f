export * from "./error.ts";
export * from "./fact.ts";
export * from "./host.ts";
export * from "./message.ts";
export * from "./options.ts";
export * from "./outcome.ts";
export * from "./permission.ts";
export * from "./request.ts";
