import { DatabaseSync } from "node:sqlite";

/** Time to read a journal at all: opened, every fact fetched and parsed, nothing made of them. In ms. */
export function bareRead(file: string): number {
  const started = performance.now();
  const db = new DatabaseSync(file);
  const rows = db.prepare("SELECT key, data FROM fact ORDER BY seq").all() as { key: string; data: string }[];
  const facts = new Map(rows.map(({ key, data }) => [key, JSON.parse(data) as unknown]));
  db.close();
  if (facts.size !== rows.length) throw new Error(`${file} has a key twice`);
  return performance.now() - started;
}
