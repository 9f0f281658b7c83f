import { REMOVED } from "../../store/housekeeping.ts";
import { definer } from "./definer.ts";

/** Functions for whole sessions, which gateways and people's commands have, and workers have not. */
export const wholeSessions = `
-- A new session at the place of the one that it is copied from; false where there is one of that name.
CREATE OR REPLACE FUNCTION sage.copy_session(
  session_id text, from_id text, folder text, a bigint, keys text[], types text[], ats bigint[], datas text[], longs text[]) RETURNS boolean ${definer("plpgsql")} AS $$
BEGIN
  INSERT INTO sage.session(id, place, cwd, at, last_at, head)
    VALUES(session_id, coalesce((SELECT s.place FROM sage.session s WHERE s.id = from_id), ''), folder, a, a, session_id) ON CONFLICT DO NOTHING;
  IF NOT FOUND THEN RETURN false; END IF;
  PERFORM sage.write_batch(session_id, 0, 1, keys, types, ats, datas, longs, false, 0, false);
  RETURN true;
END $$;

-- Adds to the record of deleted sessions.
CREATE OR REPLACE FUNCTION sage.note_removed(k text, a bigint, d text, l text) RETURNS void ${definer("plpgsql")} AS $$
BEGIN
  INSERT INTO sage.session(id, place, cwd, at, last_at, head) VALUES('${REMOVED}', '', '', a, a, '${REMOVED}') ON CONFLICT DO NOTHING;
  PERFORM sage.write_one('${REMOVED}', k, 'session.removed', a, d, l, NULL, false);
END $$;

-- Says why it did not, if so.
CREATE OR REPLACE FUNCTION sage.remove_session(session_id text, up_to bigint, k text, a bigint, d text, l text) RETURNS text ${definer("plpgsql")} AS $$
DECLARE s sage.session := sage.locked(session_id);
BEGIN
  IF EXISTS (SELECT 1 FROM sage.process p WHERE p.id = s.process) THEN RETURN 'owned'; END IF;
  IF EXISTS (SELECT 1 FROM sage.ask q WHERE q.session = session_id) THEN RETURN 'waits'; END IF;
  IF s.seq <> up_to THEN RETURN 'changed'; END IF;
  PERFORM sage.note_removed(k, a, d, l);
  DELETE FROM sage.fact WHERE session = session_id;
  DELETE FROM sage.long WHERE session = session_id;
  DELETE FROM sage.session WHERE id = session_id;
  -- Whoever keeps a list looks, and finds it gone.
  PERFORM pg_notify('sage_fact', '0 0 ' || session_id);
  RETURN '';
END $$;

-- Forgets deletions before a moment, and chains the others anew.
CREATE OR REPLACE FUNCTION sage.forget_removed(moment bigint) RETURNS int ${definer("plpgsql")} AS $$
DECLARE s sage.session; f sage.fact; gone int;
BEGIN
  SELECT * INTO s FROM sage.session WHERE id = '${REMOVED}' FOR UPDATE;
  DELETE FROM sage.fact x WHERE x.session = '${REMOVED}' AND x.at < moment;
  GET DIAGNOSTICS gone = ROW_COUNT;
  IF gone = 0 THEN RETURN 0; END IF;
  DELETE FROM sage.long x WHERE x.session = '${REMOVED}' AND NOT EXISTS (SELECT 1 FROM sage.fact y WHERE y.session = x.session AND y.key = x.key);
  s.head := '${REMOVED}';
  FOR f IN SELECT * FROM sage.fact x WHERE x.session = '${REMOVED}' ORDER BY x.seq LOOP
    s.head := sage.link(s.head, f.key, f.type, f.at, f.data);
    UPDATE sage.fact x SET hash = s.head WHERE x.session = f.session AND x.seq = f.seq;
  END LOOP;
  PERFORM sage.keep(s);
  RETURN gone;
END $$;
`;
