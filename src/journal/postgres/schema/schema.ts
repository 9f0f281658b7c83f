import { resolvedKey } from "../../../protocol/key.ts";
import { checks } from "./checks.ts";
import { definer, index } from "./definer.ts";
import { surfaceSchema } from "./surface-schema.ts";
import { wholeSessions } from "./whole-sessions.ts";

/** Version of these tables; a newer one is refused. Raised where an older program would do harm. */
export const FORMAT = 1;
/** Raised with each change below (a test sees to it), so a newer program says what to update. Functions serve older programs, too. */
export const REVISION = 6;
/** The name of locks that say "I live". */
export const LIVING = 7;

/**
 * Tables and functions of the ledger. A barrier is one round trip, so what belongs to a commit is a function: it locks the session,
 * compares the epoch, numbers, chains the hashes, writes, and tells who listens. Who appends does not know the newest hash, so it is
 * made here. `data` is text: `jsonb` refuses `\u0000` and rewrites what was hashed.
 *
 * Nobody but the owner writes to a table: all others have functions that run as the owner (`definer`), each granted to whoever may do
 * what it does (`grants.ts`). What a worker writes is looked at first (`checks.ts`).
 */
export const schema = `
CREATE SCHEMA IF NOT EXISTS sage;
CREATE TABLE IF NOT EXISTS sage.journal(one boolean PRIMARY KEY DEFAULT true CHECK (one), id text NOT NULL, format int NOT NULL);
ALTER TABLE sage.journal ADD COLUMN IF NOT EXISTS revision int NOT NULL DEFAULT 0;
CREATE TABLE IF NOT EXISTS sage.session(
  id text COLLATE "C" PRIMARY KEY, place text NOT NULL, cwd text NOT NULL, title text NOT NULL DEFAULT '',
  at bigint NOT NULL, last_at bigint NOT NULL,
  open smallint NOT NULL DEFAULT 0, -- 1: a turn is open; 2: none is, and a message waits for one
  loop int NOT NULL DEFAULT 0, -- version of the loop that began the newest turn
  epoch int NOT NULL DEFAULT 0, process text, job text, attempt int, seq bigint NOT NULL DEFAULT 0, head text NOT NULL,
  batch int NOT NULL DEFAULT 0, batch_numbers bigint[] NOT NULL DEFAULT '{}', batch_before bigint NOT NULL DEFAULT 0);
${index("session_last", "session(last_at DESC)")}
CREATE TABLE IF NOT EXISTS sage.fact(
  session text COLLATE "C" NOT NULL, seq bigint NOT NULL, key text COLLATE "C" NOT NULL, type text NOT NULL, at bigint NOT NULL,
  data text NOT NULL, hash text NOT NULL, PRIMARY KEY(session, seq), UNIQUE(session, key));
CREATE TABLE IF NOT EXISTS sage.long(
  session text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, data text NOT NULL, PRIMARY KEY(session, key));
CREATE TABLE IF NOT EXISTS sage.ask(
  session text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, PRIMARY KEY(session, key));
${index("ask_at", "ask(at)")}
CREATE TABLE IF NOT EXISTS sage.process(
  id text PRIMARY KEY, lock int NOT NULL, place text NOT NULL, loop int NOT NULL, address text, since timestamptz NOT NULL DEFAULT now(),
  login name NOT NULL DEFAULT session_user, beat timestamptz NOT NULL DEFAULT now());
-- Keys by which gateways enter at the address of a process. Workers write theirs, and read none.
CREATE TABLE IF NOT EXISTS sage.door(
  process text PRIMARY KEY REFERENCES sage.process(id) ON DELETE CASCADE, key text NOT NULL);

-- When somebody enforced the deadlines of a place last, by the server's clock; '' stands for gateways.
CREATE TABLE IF NOT EXISTS sage.enforcer(place text PRIMARY KEY, at bigint NOT NULL);

-- Places whose sessions a login runs. One that is not in here runs those of every place.
CREATE TABLE IF NOT EXISTS sage.login(name name NOT NULL, place text NOT NULL, PRIMARY KEY(name, place));

CREATE OR REPLACE FUNCTION sage.digest(t text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT translate(rtrim(encode(sha256(convert_to(t, 'UTF8')), 'base64'), '='), '+/', '-_')
$$;

CREATE OR REPLACE FUNCTION sage.link(head text, key text, type text, at bigint, data text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT sage.digest(head || E'\\n' || key || E'\\n' || type || E'\\n' || at || E'\\n' || data)
$$;

-- Writes one fact below a session that is locked, and gives the session as it is then; its row is written by the caller.
CREATE OR REPLACE FUNCTION sage.put(s sage.session, k text, t text, a bigint, d text, l text) RETURNS sage.session LANGUAGE plpgsql AS $$
BEGIN
  s.seq := s.seq + 1;
  s.head := sage.link(s.head, k, t, a, d);
  s.last_at := a;
  INSERT INTO sage.fact VALUES(s.id, s.seq, k, t, a, d, s.head);
  IF l IS NOT NULL THEN INSERT INTO sage.long VALUES(s.id, k, l); END IF;
  IF t = 'input.requested' THEN INSERT INTO sage.ask VALUES(s.id, k, s.seq, a); END IF;
  IF t = 'input.resolved' THEN DELETE FROM sage.ask WHERE session = s.id AND key = left(k, ${-resolvedKey("").length}); END IF;
  IF t = 'turn.begun' THEN s.open := 1; s.loop := coalesce((coalesce(l, d)::json ->> 'loop')::int, 0); END IF;
  IF t = 'workspace.made' THEN s.cwd := sage.parsed(d, l) ->> 'cwd'; END IF;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION sage.keep(s sage.session) RETURNS void LANGUAGE sql AS $$
  UPDATE sage.session SET title = s.title, cwd = s.cwd, last_at = s.last_at, open = s.open, loop = s.loop, seq = s.seq, head = s.head,
    batch = s.batch, batch_numbers = s.batch_numbers, batch_before = s.batch_before WHERE id = s.id
$$;

CREATE OR REPLACE FUNCTION sage.locked(session_id text) RETURNS sage.session LANGUAGE plpgsql AS $$
DECLARE s sage.session;
BEGIN
  SELECT * INTO s FROM sage.session WHERE id = session_id FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'session-unknown' USING ERRCODE = 'SG001'; END IF;
  RETURN s;
END $$;

-- False for the process of another login.
CREATE OR REPLACE FUNCTION sage.is_own(process_id text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.id = process_id AND p.login <> session_user)
$$;

CREATE OR REPLACE FUNCTION sage.serves(at_place text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT NOT EXISTS (SELECT 1 FROM sage.login l WHERE l.name = session_user)
    OR EXISTS (SELECT 1 FROM sage.login l WHERE l.name = session_user AND l.place = at_place)
$$;

CREATE OR REPLACE FUNCTION sage.check_place(at_place text) RETURNS void LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF NOT sage.serves(at_place) THEN RAISE EXCEPTION 'login-not-for-place' USING ERRCODE = 'SG005', DETAIL = at_place; END IF;
END $$;
${checks}
CREATE OR REPLACE FUNCTION sage.write_batch(
  session_id text, e int, number int, keys text[], types text[], ats bigint[], datas text[], longs text[],
  unheard boolean, knew bigint, by_worker boolean, OUT numbers bigint[], OUT before bigint) LANGUAGE plpgsql AS $$
DECLARE s sage.session := sage.locked(session_id); n int;
BEGIN
  IF s.epoch IS DISTINCT FROM e OR (by_worker AND NOT sage.is_own(s.process)) THEN RAISE EXCEPTION 'lease-lost' USING ERRCODE = 'SG002'; END IF;
  IF by_worker THEN PERFORM sage.check_place(s.place); END IF;
  IF s.batch = number THEN numbers := s.batch_numbers; before := s.batch_before; RETURN; END IF;
  before := s.seq;
  numbers := '{}';
  FOR n IN 1 .. coalesce(array_length(keys, 1), 0) LOOP
    IF by_worker THEN PERFORM sage.check_worker(session_id, keys[n], types[n], datas[n], longs[n]); END IF;
    -- Somebody may have answered since: their answer stands.
    IF types[n] = 'input.resolved' AND EXISTS (SELECT 1 FROM sage.fact f WHERE f.session = session_id AND f.key = keys[n]) THEN
      numbers := numbers || 0::bigint;
      CONTINUE;
    END IF;
    s := sage.put(s, keys[n], types[n], ats[n], datas[n], longs[n]);
    numbers := numbers || s.seq;
    -- Whoever ends the turn may not have heard the newest message: then somebody looks again, and may find nothing to do.
    IF types[n] = 'turn.ended' THEN s.open := CASE WHEN unheard OR before > knew THEN 2 ELSE 0 END; END IF;
  END LOOP;
  s.batch := number; s.batch_numbers := numbers; s.batch_before := before;
  PERFORM sage.keep(s);
  PERFORM pg_notify('sage_fact', before || ' ' || s.seq || ' ' || session_id);
END $$;

CREATE OR REPLACE FUNCTION sage.write_one(
  session_id text, k text, t text, a bigint, d text, l text, title_of_session text, by_worker boolean,
  OUT won boolean, OUT before bigint, OUT seq bigint, OUT owner text, OUT at_place text, OUT had_type text, OUT had_at bigint, OUT had_data text) LANGUAGE plpgsql AS $$
DECLARE s sage.session := sage.locked(session_id); had sage.fact;
BEGIN
  IF by_worker THEN
    -- Time stood still for everybody: whoever resumes says so, also of a session that another one has taken meanwhile.
    IF t <> 'time.moved' AND NOT sage.is_own(s.process) THEN RAISE EXCEPTION 'lease-lost' USING ERRCODE = 'SG002'; END IF;
    PERFORM sage.check_place(s.place);
    PERFORM sage.check_single(session_id, k, t, d, l);
    title_of_session := CASE t WHEN 'session.titled' THEN sage.parsed(d, l) ->> 'title' END;
  END IF;
  owner := s.process;
  at_place := s.place;
  before := s.seq;
  SELECT * INTO had FROM sage.fact f WHERE f.session = session_id AND f.key = k;
  IF FOUND THEN
    won := false; seq := had.seq; had_type := had.type; had_at := had.at;
    had_data := coalesce((SELECT x.data FROM sage.long x WHERE x.session = session_id AND x.key = k), had.data);
    RETURN;
  END IF;
  s := sage.put(s, k, t, a, d, l);
  IF t = 'user.said' THEN
    IF s.open = 0 THEN s.open := 2; END IF;
    IF s.title = '' THEN s.title := coalesce(title_of_session, ''); END IF;
  ELSIF title_of_session IS NOT NULL THEN s.title := title_of_session;
  END IF;
  PERFORM sage.keep(s);
  won := true; seq := s.seq;
  PERFORM pg_notify('sage_fact', before || ' ' || s.seq || ' ' || session_id);
END $$;

-- Functions of gateways: they may write everything that people say.
CREATE OR REPLACE FUNCTION sage.commit_facts(
  session_id text, e int, number int, keys text[], types text[], ats bigint[], datas text[], longs text[],
  unheard boolean, knew bigint, OUT numbers bigint[], OUT before bigint) ${definer("sql")} AS $$
  SELECT * FROM sage.write_batch(session_id, e, number, keys, types, ats, datas, longs, unheard, knew, false)
$$;

CREATE OR REPLACE FUNCTION sage.append_fact(
  session_id text, k text, t text, a bigint, d text, l text, title_of_session text,
  OUT won boolean, OUT before bigint, OUT seq bigint, OUT owner text, OUT at_place text, OUT had_type text, OUT had_at bigint, OUT had_data text) ${definer("sql")} AS $$
  SELECT * FROM sage.write_one(session_id, k, t, a, d, l, title_of_session, false)
$$;

CREATE OR REPLACE FUNCTION sage.create_session(session_id text, at_place text, folder text, a bigint, d text, l text) RETURNS boolean ${definer("plpgsql")} AS $$
BEGIN
  INSERT INTO sage.session(id, place, cwd, at, last_at, head) VALUES(session_id, at_place, folder, a, a, session_id) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM sage.write_batch(session_id, 0, 1, ARRAY['session'], ARRAY['session.opened'], ARRAY[a], ARRAY[d], ARRAY[l], false, 0, false);
  RETURN true;
END $$;

-- Until the transaction ends.
CREATE OR REPLACE FUNCTION sage.lock_session(session_id text) RETURNS void ${definer("plpgsql")} AS $$
BEGIN PERFORM 1 FROM sage.session WHERE id = session_id FOR UPDATE; END $$;

CREATE OR REPLACE FUNCTION sage.move_session(session_id text, to_place text) RETURNS boolean ${definer("plpgsql")} AS $$
BEGIN
  UPDATE sage.session s SET place = to_place, process = NULL, epoch = epoch + 1
    WHERE id = session_id AND (process IS NULL OR NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.id = s.process));
  RETURN FOUND;
END $$;

${wholeSessions}
-- Functions of workers.
CREATE OR REPLACE FUNCTION sage.worker_commit(
  session_id text, e int, number int, keys text[], types text[], ats bigint[], datas text[], longs text[],
  unheard boolean, knew bigint, OUT numbers bigint[], OUT before bigint) ${definer("sql")} AS $$
  SELECT * FROM sage.write_batch(session_id, e, number, keys, types, ats, datas, longs, unheard, knew, true)
$$;

CREATE OR REPLACE FUNCTION sage.worker_append(
  session_id text, k text, t text, a bigint, d text, l text, title_of_session text,
  OUT won boolean, OUT before bigint, OUT seq bigint, OUT owner text, OUT at_place text, OUT had_type text, OUT had_at bigint, OUT had_data text) ${definer("sql")} AS $$
  SELECT * FROM sage.write_one(session_id, k, t, a, d, l, title_of_session, true)
$$;

-- Gives the epoch, or nothing where somebody else has the session, its open turn is of a newer loop than this process knows, or its place is not this login's.
CREATE OR REPLACE FUNCTION sage.take(session_id text, process_id text, job_id text, job_attempt int, at_place text, knows int) RETURNS int ${definer("sql")} AS $$
  UPDATE sage.session s SET process = process_id, epoch = epoch + 1, batch = 0, job = job_id, attempt = job_attempt
    WHERE id = session_id AND (at_place IS NULL OR place = at_place) AND (knows IS NULL OR open <> 1 OR loop <= knows) AND sage.is_own(process_id) AND sage.serves(s.place) AND
      (process IS NULL OR process = process_id OR (job = job_id AND attempt < job_attempt) OR NOT EXISTS (SELECT 1 FROM sage.process p WHERE p.id = s.process))
    RETURNING epoch
$$;

CREATE OR REPLACE FUNCTION sage.release(session_id text, e int, knew bigint) RETURNS boolean ${definer("plpgsql")} AS $$
BEGIN
  UPDATE sage.session SET process = NULL, open = CASE WHEN open = 2 THEN 0 ELSE open END
    WHERE id = session_id AND epoch = e AND seq <= knew AND sage.is_own(process) AND sage.serves(place);
  RETURN FOUND;
END $$;

CREATE OR REPLACE FUNCTION sage.note_beat(at_place text) RETURNS void LANGUAGE sql AS $$
  INSERT INTO sage.enforcer AS e VALUES(at_place, floor(extract(epoch FROM clock_timestamp()) * 1000))
    ON CONFLICT (place) DO UPDATE SET at = greatest(e.at, excluded.at)
$$;

CREATE OR REPLACE FUNCTION sage.gateway_beat() RETURNS void ${definer("sql")} AS $$ SELECT sage.note_beat('') $$;

-- None while the place has no open request with a moment at which something happens, and (opens) is about to have none.
CREATE OR REPLACE FUNCTION sage.worker_beat(at_place text, opens boolean) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  PERFORM sage.check_place(at_place);
  IF at_place <> '' AND (opens OR EXISTS (SELECT 1 FROM sage.ask a JOIN sage.session s ON s.id = a.session AND s.place = at_place JOIN sage.fact f USING (session, key)
    LEFT JOIN sage.long l USING (session, key) WHERE coalesce(l.data, f.data) ~ '"(deadline|remind)":')) THEN PERFORM sage.note_beat(at_place); END IF;
END $$;

-- True when it was not in the list. Its lock has another number after every connection; where there are no locks it says that it lives.
CREATE OR REPLACE FUNCTION sage.register(
  process_id text, number int, at_place text, loop_version int, reached_at text, door_key text, beats boolean) RETURNS boolean ${definer("plpgsql")} AS $$
BEGIN
  PERFORM sage.check_place(at_place);
  INSERT INTO sage.process(id, lock, place, loop, address) VALUES(process_id, number, at_place, loop_version, reached_at) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN
    UPDATE sage.process SET lock = number, beat = now() WHERE id = process_id AND login = session_user AND (beats OR lock <> number);
    RETURN false;
  END IF;
  IF door_key IS NOT NULL THEN INSERT INTO sage.door(process, key) VALUES(process_id, door_key); END IF;
  RETURN true;
END $$;

CREATE OR REPLACE FUNCTION sage.unregister(process_id text) RETURNS void ${definer("sql")} AS $$
  DELETE FROM sage.process WHERE id = process_id AND login = session_user
$$;

-- Takes processes out of the list whose lock nobody holds, and gives what they had; where there are no locks, those that have been silent for so long.
CREATE OR REPLACE FUNCTION sage.bury(process_id text, silent_ms int) RETURNS TABLE(session text, place text, job text, attempt int) ${definer("sql")} AS $$
  WITH dead AS (DELETE FROM sage.process p WHERE p.id <> process_id AND NOT EXISTS (
    SELECT 1 FROM pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database()
      WHERE l.locktype = 'advisory' AND l.classid = ${LIVING} AND l.objid = p.lock AND l.granted) AND (silent_ms IS NULL OR p.beat < now() - silent_ms * interval '1 millisecond') RETURNING p.id)
  SELECT s.id, s.place, s.job, s.attempt FROM sage.session s WHERE s.process IN (SELECT id FROM dead)
$$;
${surfaceSchema}
-- PostgreSQL lets everybody call a new function.
REVOKE ALL ON ALL ROUTINES IN SCHEMA sage FROM PUBLIC;
`;
