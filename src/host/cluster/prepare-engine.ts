import { PgBoss } from "pg-boss";
import type { ClientBase, Pool } from "pg";
import { addressOf, inTransaction } from "../../journal/postgres/pool.ts";
import { definer } from "../../journal/postgres/schema/definer.ts";
import { grants, quoted, rolesOf, type Roles } from "../../journal/postgres/schema/grants.ts";
import { makeTables, misfitOf } from "../../journal/postgres/tables.ts";
import { queues } from "./dispatch.ts";
import { SageError } from "../../protocol/reasons/reason.ts";

type Logins = Partial<Roles> & {
  /** Places whose sessions the worker's login runs; none: every place. Without it, they stay as they are. */
  places?: readonly string[];
};

type Prepared = {
  roles: Roles;
  /** Logins that were made. They have no password yet. */
  made: string[];
  /** A worker's login may do more than workers may. */
  beyond?: Beyond;
  /** The schema is writable for everybody: a worker could plant a function that a gateway then runs. */
  isOpen: boolean;
};

/** A login with which a worker could answer for people, and why: owner, gateway, foreign rights, or a group that no place binds. */
type Beyond = { login: string; as: "owner" | "gateway" | "rights" | "group" };

/** A login has places, and rights that places do not limit. */
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

/** Prepares a database whose programs may make nothing themselves: tables, functions, queues, two roles. Repeatable, also after updates. */
export async function prepareEngine(url: string, pool: Pool, logins: Logins = {}): Promise<Prepared> {
  // Older functions must not come in the place of newer ones, which others need.
  const why = await misfitOf(pool, addressOf(pool));
  if (why && why.code !== "functions-older") throw new SageError("config-invalid", why);
  const boss = new PgBoss({ connectionString: url, max: 2, supervise: false, schedule: false });
  boss.on("error", () => {});
  await boss.start(); // makes its tables, or brings them up
  await boss.stop({ graceful: false, close: true });
  return inTransaction(pool, async (client) => {
    await makeTables(client);
    const roles = rolesOf(await databaseOf(client));
    const made = await makeRoles(client, roles, logins);
    if (logins.worker !== undefined && logins.places) await bind(client, logins.worker, logins.places);
    await client.query(queueMaker);
    await client.query(grants(roles));
    const beyond = await beyondOf(client, roles, logins);
    if (beyond?.isBound) throw new NotLimited(beyond);
    const { rows } = await client.query<{ open: boolean }>(openSchema, [roles.worker]);
    return {
      roles,
      made,
      ...(beyond && { beyond: { login: beyond.login, as: beyond.as } }),
      isOpen: rows[0]?.open === true,
    };
  });
}

async function databaseOf(client: ClientBase): Promise<string> {
  const { rows } = await client.query<{ name: string }>("SELECT current_database() AS name");
  return rows[0]?.name ?? "";
}

/** Returns the logins it created. */
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

/** The first of the workers' logins that may do more than workers may: the one that was named, or one that becomes a gateway's now. */
async function beyondOf(client: ClientBase, roles: Roles, { worker, gateway }: Logins) {
  const { rows } = await client.query<Beyond & { isBound: boolean }>(beyondWorkers, [
    roles.worker,
    roles.gateway,
    worker ?? null,
    gateway ?? null,
  ]);
  return rows[0];
}

async function bind(client: ClientBase, login: string, places: readonly string[]): Promise<void> {
  await client.query("DELETE FROM sage.login WHERE name=$1::name", [login]);
  await client.query("INSERT INTO sage.login(name, place) SELECT DISTINCT $1::name, unnest($2::text[])", [
    login,
    places,
  ]);
}

/** Whatever SET ROLE reaches counts. Before 16 makers of roles could enter any; roles with the server's files or programs can do all. */
const beyondWorkers = `
WITH named AS (
  SELECT oid, rolname, rolcanlogin, EXISTS (SELECT 1 FROM sage.login l WHERE l.name = rolname) AS bound FROM pg_catalog.pg_roles r
    WHERE rolname = $3::name
      OR rolname <> $4::name AND NOT rolsuper AND pg_has_role(oid, $1::name, 'MEMBER') AND pg_has_role(oid, $4::name, 'MEMBER')
      OR rolname = $4::name AND EXISTS (SELECT 1 FROM pg_catalog.pg_auth_members m WHERE m.member = r.oid
        AND m.roleid = (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = $1::name))),
found AS (
  SELECT rolname, bound, CASE
    WHEN pg_has_role(named.oid, (SELECT nspowner FROM pg_catalog.pg_namespace WHERE nspname = 'sage'), 'MEMBER') THEN 'owner'
    WHEN pg_has_role(named.oid, $2::name, 'MEMBER') THEN 'gateway'
    WHEN EXISTS (SELECT 1 FROM pg_catalog.pg_roles r WHERE pg_has_role(named.oid, r.oid, 'MEMBER') AND (
      r.rolcreaterole AND current_setting('server_version_num')::int < 160000
      OR r.rolname IN ('pg_execute_server_program', 'pg_read_server_files', 'pg_write_server_files')
      OR EXISTS (SELECT 1 FROM pg_catalog.pg_database d WHERE d.datname = current_database() AND d.datdba = r.oid)
      OR EXISTS (SELECT 1 FROM pg_catalog.pg_namespace n WHERE n.nspname IN ('sage', 'pgboss', 'public')
        AND has_schema_privilege(r.oid, n.oid, 'CREATE') AND NOT has_schema_privilege($1::name, n.oid, 'CREATE'))
      OR EXISTS (SELECT 1 FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace,
          unnest(ARRAY['SELECT', 'INSERT', 'UPDATE', 'DELETE', 'TRUNCATE', 'TRIGGER']) AS may
        WHERE n.nspname IN ('sage', 'pgboss') AND c.relkind IN ('r', 'p', 'v')
          AND has_table_privilege(r.oid, c.oid, may) AND NOT has_table_privilege($1::name, c.oid, may))
      OR EXISTS (SELECT 1 FROM pg_catalog.pg_proc f JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace WHERE n.nspname = 'sage'
        AND has_function_privilege(r.oid, f.oid, 'EXECUTE') AND NOT has_function_privilege($1::name, f.oid, 'EXECUTE')))) THEN 'rights'
    WHEN bound AND NOT rolcanlogin THEN 'group' END AS beyond
  FROM named)
SELECT rolname AS login, beyond AS "as", bound AS "isBound" FROM found WHERE beyond IS NOT NULL ORDER BY bound DESC, rolname LIMIT 1`;

const openSchema =
  "SELECT bool_or(has_schema_privilege($1, oid, 'CREATE')) AS open FROM pg_catalog.pg_namespace WHERE nspname = 'public'";

/** Creates the queues of a place on behalf of logins that may not. */
export const queueMaker = `
CREATE OR REPLACE FUNCTION sage.make_queue(queue text, notified boolean) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  IF queue !~ '^(turn|due)[.][A-Za-z0-9_-]{1,40}$' THEN RAISE EXCEPTION 'not the name of a queue' USING ERRCODE = '22023'; END IF;
  PERFORM pgboss.create_queue(queue, CASE split_part(queue, '.', 1)
    WHEN 'turn' THEN '${JSON.stringify(queues.turn)}'::jsonb ELSE '${JSON.stringify(queues.due)}'::jsonb END || jsonb_build_object('notify', notified));
END $$;
REVOKE ALL ON ROUTINE sage.make_queue FROM PUBLIC;
`;
