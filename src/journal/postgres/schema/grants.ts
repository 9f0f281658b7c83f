import { createHash } from "node:crypto";

/** Names of the two roles of a database. Logins are put into one of them; neither is a login itself. */
export type Roles = { worker: string; gateway: string };

/** Tables that everybody reads. */
const tables = ["journal", "session", "fact", "long", "ask", "process", "login", "enforcer"];

/** Functions that both may call. */
const shared = ["take", "release", "register", "unregister", "bury", "make_queue", "gateways"];
const ofWorkers = ["worker_commit", "worker_append", "worker_beat"];
const ofGateways = [
  "gateway_beat",
  "commit_facts",
  "append_fact",
  "create_session",
  "lock_session",
  "move_session",
  "copy_session",
  "remove_session",
  "forget_removed",
];
/** The memory of surfaces holds the keys of devices: no worker reads it. */
const memory = [
  "gateway_looks",
  "gateway_leaves",
  "surface_hold",
  "surface_leave",
  "surface_read",
  "surface_write",
  "surface_change",
];

const MAX_NAME_LENGTH = 63;

/** Roles belong to the whole server: those of one database have its name, so that a worker of one is nobody in another. */
export function rolesOf(database: string): Roles {
  const named = (part: string) => {
    const name = `sage_${part}_${database}`;
    if (Buffer.byteLength(name) <= MAX_NAME_LENGTH) return name;
    return `sage_${part}_${createHash("sha256").update(database).digest("hex").slice(0, 32)}`;
  };
  return { worker: named("worker"), gateway: named("gateway") };
}

/** Quotes a name for SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Grants and revokes for both roles. Workers may not change a queue's description: its text becomes part of others' statements. */
export function grants({ worker, gateway }: Roles): string {
  const [ofWorker, ofGateway] = [quoted(worker), quoted(gateway)];
  const both = `${ofWorker}, ${ofGateway}`;
  const inSage = (names: readonly string[]) => names.map((name) => `sage.${name}`).join(", ");
  const execute = (names: readonly string[], whom: string) => `GRANT EXECUTE ON ROUTINE ${inSage(names)} TO ${whom};`;
  return `
REVOKE ALL ON SCHEMA sage, pgboss FROM PUBLIC, ${both};
REVOKE ALL ON ALL TABLES IN SCHEMA sage, pgboss FROM PUBLIC, ${both};
REVOKE ALL ON ALL ROUTINES IN SCHEMA sage FROM PUBLIC, ${both};
GRANT USAGE ON SCHEMA sage, pgboss TO ${both};
GRANT SELECT ON ${inSage(tables)} TO ${both};
${execute(shared, both)}
${execute(ofWorkers, both)}
${execute([...ofGateways, ...memory], ofGateway)}
GRANT SELECT ON sage.door TO ${ofGateway};
GRANT SELECT ON ALL TABLES IN SCHEMA pgboss TO ${both};
GRANT INSERT, UPDATE, DELETE ON pgboss.job, pgboss.job_common, pgboss.job_dependency TO ${both};
DO $$ BEGIN EXECUTE (
  SELECT 'GRANT UPDATE (' || string_agg(quote_ident(column_name), ', ') || ${literal(`) ON pgboss.queue TO ${both}`)}
    FROM information_schema.columns WHERE table_schema = 'pgboss' AND table_name = 'queue' AND data_type <> 'text'); END $$;
GRANT UPDATE (cron_on, bam_on, flow_on, reindex_on, monitor_backoff_on) ON pgboss.version TO ${both};
`;
}

function literal(text: string): string {
  return `'${text.replaceAll("'", "''")}'`;
}
