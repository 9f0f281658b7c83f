import { randomUUID } from "node:crypto";
import type { ClientBase, Pool } from "pg";
import { reason, type Reason, SageError } from "../../protocol/reasons/reason.ts";
import { addressOf, inTransaction } from "./pool.ts";
import type { Asks } from "./cells.ts";
import { explained } from "./error.ts";
import { rolesOf } from "./schema/grants.ts";
import { FORMAT, LIVING, REVISION, schema } from "./schema/schema.ts";

type Head = { id: string; format: number; revision: number };

/** No such table or schema, or no permission to read it. */
const missing: ReadonlySet<string | undefined> = new Set(["42P01", "3F000", "42501"]);

/**
 * Gives the id of the journal when its tables and functions fit this program. Makes them where they are missing; of several that come at
 * once, one does. Older functions are made anew by a login that owns everything, and are the business of `sage engine prepare` where
 * workers and gateways have roles: whoever has one may not make anything, and new functions need their grants.
 */
export async function prepare(pool: Pool, note?: (why: Reason) => void): Promise<string> {
  const where = addressOf(pool);
  try {
    const found = (await headOf(pool)) ?? (await inTransaction(pool, makeTables));
    const head = found.revision < REVISION && !(await hasRoles(pool)) ? await inTransaction(pool, makeTables) : found;
    const why = misfit(head, where);
    if (why?.code === "functions-newer") note?.(why);
    else if (why) throw new SageError("config-invalid", why);
    return head.id;
  } catch (error) {
    if ((error as { code?: string }).code === "42501")
      throw new SageError("config-invalid", unprepared(pool), { cause: error });
    throw explained(where, error);
  }
}

/** This login may not make what is missing. */
export function unprepared(pool: Pool): Reason<"engine-unprepared"> {
  return reason("engine-unprepared", { path: addressOf(pool) });
}

type Misfit = Reason<"journal-newer"> | Reason<"functions-newer"> | Reason<"functions-older">;

/** Says how the database differs from what this program knows, if it does. A newer one serves this program too, unless its tables are newer. */
export async function misfitOf(asks: Asks, path: string): Promise<Misfit | undefined> {
  const head = await headOf(asks);
  return head && misfit(head, path);
}

function misfit({ format, revision }: Head, path: string): Misfit | undefined {
  if (format > FORMAT) return reason("journal-newer", { path, format, knows: FORMAT });
  if (revision > REVISION) return reason("functions-newer", { path, revision, knows: REVISION });
  if (revision < REVISION) return reason("functions-older", { path, revision, needs: REVISION });
  return undefined;
}

/** A journal without the column is older than every revision. */
const HEAD = "SELECT id, format, coalesce((to_jsonb(j) ->> 'revision')::int, 0) AS revision FROM sage.journal j";

async function headOf(asks: Asks): Promise<Head | undefined> {
  try {
    return (await asks.query<Head>(HEAD)).rows[0];
  } catch (error) {
    if (missing.has((error as { code?: string }).code)) return undefined;
    throw error; // the server is away: that says nothing about tables
  }
}

async function hasRoles(pool: Pool): Promise<boolean> {
  const { rows: names } = await pool.query<{ name: string }>("SELECT current_database() AS name");
  const { worker, gateway } = rolesOf(names[0]?.name ?? "");
  const found = await pool.query("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname IN ($1,$2)", [worker, gateway]);
  return found.rows.length > 0;
}

/** Makes tables and functions in the caller's transaction. Functions that are there are made anew, unless a newer Sage was quicker. */
export async function makeTables(client: ClientBase): Promise<Head> {
  await client.query("SELECT pg_advisory_xact_lock($1, 0)", [LIVING]);
  const { rows: there } = await client.query<{ made: boolean }>(
    "SELECT to_regclass('sage.journal') IS NOT NULL AS made",
  );
  const [before] = there[0]?.made ? (await client.query<Head>(HEAD)).rows : [];
  if (before && before.revision > REVISION) return before;
  await client.query(schema);
  await client.query(
    "INSERT INTO sage.journal(id, format, revision) VALUES($1,$2,$3) ON CONFLICT (one) DO UPDATE SET revision = excluded.revision",
    [randomUUID(), FORMAT, REVISION],
  );
  const { rows } = await client.query<Head>(HEAD);
  return rows[0] ?? { id: "", format: FORMAT, revision: REVISION };
}
