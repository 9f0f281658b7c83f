import { PgBoss } from "pg-boss";
import type { ClientBase, Pool } from "pg";
import { addressOf } from "../../journal/postgres/address.ts";
import { definer } from "../../journal/postgres/definer.ts";
import { grants, quoted, rolesOf, type Roles } from "../../journal/postgres/grants.ts";
import { makeTables, misfitOf } from "../../journal/postgres/tables.ts";
import { inTransaction } from "../../journal/postgres/transaction.ts";
import { errorBecause } from "../../texts/error.ts";
import { queues } from "./dispatch.ts";

export type Logins = Partial<Roles> & {
  /** Places whose sessions the worker's login runs; none: every place. Without it, they stay as they are. */
  places?: readonly string[];
};

export type Prepared = {
  roles: Roles;
  /** Logins that were made. They have no password yet. */
  made: string[];
  /** The worker's login may do more than workers may. */
  beyond?: Beyond;
  /** Anybody may put functions where others find them: a worker could have a gateway run its own. */
  isOpen: boolean;
};

/** Rights with which a worker's login could answer for people, at every place. */
export type Beyond = "owner" | "gateway";

/** A login was given places, and has rights that places do not limit. */
export class NotLimited extends Error {
  readonly beyond: Beyond;
  constructor(beyond: Beyond) {
    super("places do not limit this login");
    this.beyond = beyond;
  }
}

/** A login that may not make roles, or not give them. */
export class MayNotMakeRoles extends Error {
  readonly roles: Roles;
  constructor(roles: Roles, cause: unknown) {
    super("this login may not make roles", { cause });
    this.roles = roles;
  }
}

/**
 * Makes a database ready for workers and gateways that may not make anything in it themselves: tables, functions, queues, and two roles.
 * Can be run again, and is after an update.
 */
export async function prepareEngine(url: string, pool: Pool, logins: Logins = {}): Promise<Prepared> {
  // Older functions must not come in the place of newer ones, which others need.
  const why = await misfitOf(pool, addressOf(pool));
  if (why && why.code !== "functions-older") throw errorBecause("config-invalid", why);
  const boss = new PgBoss({ connectionString: url, max: 2, supervise: false, schedule: false });
  boss.on("error", () => {});
  await boss.start(); // makes its tables, or brings them up
  await boss.stop({ graceful: false, close: true });
  return inTransaction(pool, async (client) => {
    await makeTables(client);
    const roles = rolesOf(await databaseOf(client));
    const made = await makeRoles(client, roles, logins);
    const beyond = logins.worker === undefined ? undefined : await beyondOf(client, logins.worker, roles);
    if (beyond && logins.places && logins.places.length > 0) throw new NotLimited(beyond);
    if (logins.worker !== undefined && logins.places) await bind(client, logins.worker, logins.places);
    await client.query(queueMaker);
    await client.query(grants(roles));
    const { rows } = await client.query<{ open: boolean }>(openSchema, [roles.worker]);
    return { roles, made, ...(beyond && { beyond }), isOpen: rows[0]?.open === true };
  });
}

async function databaseOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
  return rows[0]?.name ?? "";
}

/** Gives the logins that were made. */
async function makeRoles(client: ClientBase, roles: Roles, logins: Logins): Promise<string[]> {
  const made: string[] = [];
  const missing = async (name: string) =>
    (await client.query("SELECT 1 FROM pg_catalog.pg_roles WHERE rolname=$1", [name])).rows.length === 0;
  try {
    for (const part of ["worker", "gateway"] as const) {
      if (await missing(roles[part])) await client.query(`CREATE ROLE ${quoted(roles[part])} NOLOGIN`);
      const login = logins[part];
      if (login === undefined) continue;
      if (await missing(login)) {
        await client.query(`CREATE ROLE ${quoted(login)} LOGIN`);
        made.push(login);
      }
      const isMember = "SELECT pg_has_role($1::name, $2::name, 'MEMBER') AS is";
      const { rows } = await client.query<{ is: boolean }>(isMember, [login, roles[part]]);
      if (!rows[0]?.is) await client.query(`GRANT ${quoted(roles[part])} TO ${quoted(login)}`);
    }
  } catch (error) {
    if ((error as { code?: string }).code === "42501") throw new MayNotMakeRoles(roles, error);
    throw error;
  }
  return made;
}

async function beyondOf(client: ClientBase, login: string, { gateway }: Roles): Promise<Beyond | undefined> {
  const { rows } = await client.query<{ owns: boolean; speaks: boolean }>(
    `SELECT pg_has_role($1::name, nspowner, 'MEMBER') AS owns, pg_has_role($1::name, $2::name, 'MEMBER') AS speaks
      FROM pg_catalog.pg_namespace WHERE nspname = 'sage'`,
    [login, gateway],
  );
  if (rows[0]?.owns) return "owner";
  return rows[0]?.speaks ? "gateway" : undefined;
}

async function bind(client: ClientBase, login: string, places: readonly string[]): Promise<void> {
  await client.query("DELETE FROM sage.login WHERE name=$1::name", [login]);
  await client.query("INSERT INTO sage.login(name, place) SELECT DISTINCT $1::name, unnest($2::text[])", [
    login,
    places,
  ]);
}

const openSchema =
  "SELECT bool_or(has_schema_privilege($1, oid, 'CREATE')) AS open FROM pg_catalog.pg_namespace WHERE nspname = 'public'";

/** Makes the queues of a place for logins that may not make any. */
export const queueMaker = `
CREATE OR REPLACE FUNCTION sage.make_queue(queue text, notified boolean) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  IF queue !~ '^(turn|due)[.][A-Za-z0-9_-]{1,40}$' THEN RAISE EXCEPTION 'not the name of a queue' USING ERRCODE = '22023'; END IF;
  PERFORM pgboss.create_queue(queue, CASE split_part(queue, '.', 1)
    WHEN 'turn' THEN '${JSON.stringify(queues.turn)}'::jsonb ELSE '${JSON.stringify(queues.due)}'::jsonb END || jsonb_build_object('notify', notified));
END $$;
REVOKE ALL ON ROUTINE sage.make_queue FROM PUBLIC;
`;
