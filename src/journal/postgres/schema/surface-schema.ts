import { definer, index } from "./definer.ts";

/** The name of locks that say "this gateway lives". */
export const GATEWAY_LIVES = 8;

/**
 * Tables for what surfaces remember, and for the gateways. A surface that one gateway holds (a bot) is written under the number of that hold; one that
 * all of them write (devices) is written on the version that the writer has seen. Both lock the row of the surface, so whoever takes a hold
 * reads everything that was written under the last one. Times are the server's: machines need not agree on theirs. Gateways alone may call
 * what runs as the owner.
 */
export const surfaceSchema = `
CREATE TABLE IF NOT EXISTS sage.gateway(
  id text PRIMARY KEY, lock int, host text NOT NULL, since timestamptz NOT NULL DEFAULT now(), until timestamptz NOT NULL);
CREATE TABLE IF NOT EXISTS sage.surface(
  name text COLLATE "C" PRIMARY KEY, version bigint NOT NULL DEFAULT 0, gateway text, number int NOT NULL DEFAULT 0);
CREATE TABLE IF NOT EXISTS sage.memory(
  surface text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL, expires timestamptz, PRIMARY KEY(surface, key));
${index("memory_expires", "memory(surface, expires)")}

-- Nobody holds the surface, or whoever does is gone: its time is over, or (by_lock) the server has let go of its lock.
CREATE OR REPLACE FUNCTION sage.is_free(s sage.surface, by_lock boolean) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE g sage.gateway;
BEGIN
  IF s.gateway IS NULL THEN RETURN true; END IF;
  SELECT * INTO g FROM sage.gateway WHERE id = s.gateway;
  IF NOT FOUND OR g.until < clock_timestamp() THEN RETURN true; END IF;
  IF NOT by_lock OR g.lock IS NULL THEN RETURN false; END IF;
  RETURN NOT EXISTS (SELECT 1 FROM pg_locks l WHERE l.locktype = 'advisory' AND l.classid = ${GATEWAY_LIVES} AND l.objid = g.lock AND l.granted
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()));
END $$;

-- The gateway lives for so long again, and learns how these surfaces stand.
CREATE OR REPLACE FUNCTION sage.gateway_looks(
  gateway_id text, own_lock int, machine text, lease_ms int, by_lock boolean, names text[])
  RETURNS TABLE(name text, version bigint, number int, holder text, free boolean) ${definer("plpgsql")} AS $$
BEGIN
  DELETE FROM sage.gateway g WHERE g.until < clock_timestamp() - interval '1 minute' AND g.id <> gateway_id;
  INSERT INTO sage.gateway AS g VALUES(gateway_id, own_lock, machine, now(), clock_timestamp() + lease_ms * interval '1 ms')
    ON CONFLICT (id) DO UPDATE SET lock = own_lock, until = excluded.until;
  INSERT INTO sage.surface(name) SELECT unnest(names) ON CONFLICT DO NOTHING;
  RETURN QUERY SELECT s.name, s.version, s.number, s.gateway, sage.is_free(s, by_lock) FROM sage.surface s WHERE s.name = ANY(names);
END $$;

-- The number of the new hold; null where somebody else has it.
CREATE OR REPLACE FUNCTION sage.surface_hold(surface_name text, gateway_id text, by_lock boolean) RETURNS int ${definer("plpgsql")} AS $$
DECLARE s sage.surface;
BEGIN
  SELECT * INTO s FROM sage.surface WHERE name = surface_name FOR UPDATE;
  IF NOT FOUND OR NOT (s.gateway IS NOT DISTINCT FROM gateway_id OR sage.is_free(s, by_lock)) THEN RETURN NULL; END IF;
  UPDATE sage.surface SET gateway = gateway_id, number = s.number + 1 WHERE name = surface_name;
  RETURN s.number + 1;
END $$;

CREATE OR REPLACE FUNCTION sage.surface_leave(surface_name text, held int) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  UPDATE sage.surface SET gateway = NULL WHERE name = surface_name AND number = held;
  IF FOUND THEN PERFORM pg_notify('sage_surface', surface_name); END IF;
END $$;

CREATE OR REPLACE FUNCTION sage.gateway_leaves(gateway_id text) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  UPDATE sage.surface SET gateway = NULL WHERE gateway = gateway_id;
  DELETE FROM sage.gateway WHERE id = gateway_id;
  PERFORM pg_notify('sage_surface', '');
END $$;

CREATE OR REPLACE FUNCTION sage.surface_read(surface_name text)
  RETURNS TABLE(version bigint, key text, value text, left_ms float8) ${definer("sql")} AS $$
  SELECT s.version, m.key, m.value, extract(epoch FROM m.expires - clock_timestamp())::float8 * 1000
    FROM sage.surface s LEFT JOIN sage.memory m ON m.surface = s.name AND (m.expires IS NULL OR m.expires > clock_timestamp())
    WHERE s.name = surface_name
$$;

-- A value that is null deletes; a time that is null is for ever.
CREATE OR REPLACE FUNCTION sage.remember(surface_name text, keys text[], vals text[], ttls float8[]) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM sage.memory m WHERE m.surface = surface_name AND m.expires <= clock_timestamp();
  DELETE FROM sage.memory m USING unnest(keys, vals) AS u(k, v) WHERE m.surface = surface_name AND m.key = k AND v IS NULL;
  INSERT INTO sage.memory AS m SELECT surface_name, k, v, clock_timestamp() + t * interval '1 ms' FROM unnest(keys, vals, ttls) AS u(k, v, t)
    WHERE v IS NOT NULL ON CONFLICT (surface, key) DO UPDATE SET value = excluded.value, expires = excluded.expires;
END $$;

CREATE OR REPLACE FUNCTION sage.surface_write(surface_name text, held int, keys text[], vals text[], ttls float8[]) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  PERFORM 1 FROM sage.surface WHERE name = surface_name AND number = held AND gateway IS NOT NULL FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'hold-lost' USING ERRCODE = 'SG003'; END IF;
  PERFORM sage.remember(surface_name, keys, vals, ttls);
END $$;

-- The version that there is now; null where somebody else was quicker.
CREATE OR REPLACE FUNCTION sage.surface_change(surface_name text, seen bigint, keys text[], vals text[], ttls float8[]) RETURNS bigint ${definer("plpgsql")} AS $$
BEGIN
  INSERT INTO sage.surface(name) VALUES(surface_name) ON CONFLICT DO NOTHING;
  UPDATE sage.surface SET version = seen + 1 WHERE name = surface_name AND version = seen;
  IF NOT FOUND THEN RETURN NULL; END IF;
  PERFORM sage.remember(surface_name, keys, vals, ttls);
  PERFORM pg_notify('sage_surface', surface_name);
  RETURN seen + 1;
END $$;

CREATE OR REPLACE FUNCTION sage.gateways() RETURNS TABLE(id text, host text, since timestamptz, holds text[]) ${definer("sql")} AS $$
  SELECT g.id, g.host, g.since, array(SELECT s.name FROM sage.surface s WHERE s.gateway = g.id ORDER BY 1) FROM sage.gateway g
    WHERE g.until > clock_timestamp() ORDER BY g.since, g.id
$$;
`;
