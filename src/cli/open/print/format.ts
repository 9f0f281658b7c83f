export const formats = ["text", "json", "stream-json"] as const;
export type Format = (typeof formats)[number];
