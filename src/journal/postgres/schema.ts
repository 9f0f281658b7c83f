/** Version of these tables; a newer one is refused, an older one is brought up. */
export const FORMAT = 1;

/**
 * Tables and functions of the ledger. A barrier is one round trip, so what belongs to a commit is a function: it locks the session,
 * compares the epoch, numbers, chains the hashes, writes, and tells who listens. Who appends does not know the newest hash, so it is
 * made here. `data` is text: `jsonb` refuses `\u0000` and rewrites what was hashed.
 */
export const schema = `
CREATE SCHEMA IF NOT EXISTS sage;
CREATE TABLE IF NOT EXISTS sage.journal(one boolean PRIMARY KEY DEFAULT true CHECK (one), id text NOT NULL, format int NOT NULL);
CREATE TABLE IF NOT EXISTS sage.session(
  id text COLLATE "C" PRIMARY KEY, place text NOT NULL, cwd text NOT NULL, title text NOT NULL DEFAULT '',
  at bigint NOT NULL, last_at bigint NOT NULL,
  open smallint NOT NULL DEFAULT 0, -- 1: a turn is open; 2: none is, and a message waits for one
  epoch int NOT NULL DEFAULT 0, process text, job text, attempt int, seq bigint NOT NULL DEFAULT 0, head text NOT NULL,
  batch int NOT NULL DEFAULT 0, batch_numbers bigint[] NOT NULL DEFAULT '{}', batch_before bigint NOT NULL DEFAULT 0);
CREATE INDEX IF NOT EXISTS session_last ON sage.session(last_at DESC);
CREATE TABLE IF NOT EXISTS sage.fact(
  session text COLLATE "C" NOT NULL, seq bigint NOT NULL, key text COLLATE "C" NOT NULL, type text NOT NULL, at bigint NOT NULL,
  data text NOT NULL, hash text NOT NULL, PRIMARY KEY(session, seq), UNIQUE(session, key));
CREATE TABLE IF NOT EXISTS sage.long(
  session text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, data text NOT NULL, PRIMARY KEY(session, key));
CREATE TABLE IF NOT EXISTS sage.ask(
  session text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, seq bigint NOT NULL, at bigint NOT NULL, PRIMARY KEY(session, key));
CREATE INDEX IF NOT EXISTS ask_at ON sage.ask(at);
CREATE TABLE IF NOT EXISTS sage.process(
  id text PRIMARY KEY, lock int NOT NULL, place text NOT NULL, loop int NOT NULL, address text, since timestamptz NOT NULL DEFAULT now());

CREATE OR REPLACE FUNCTION sage.link(head text, key text, type text, at bigint, data text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT translate(rtrim(encode(sha256(convert_to(head || E'\\n' || key || E'\\n' || type || E'\\n' || at || E'\\n' || data, 'UTF8')), 'base64'), '='), '+/', '-_')
$$;

-- Writes one fact below a session that is locked, and gives the session as it is then; its row is written by the caller.
CREATE OR REPLACE FUNCTION sage.put(s sage.session, k text, t text, a bigint, d text, l text, ends text) RETURNS sage.session LANGUAGE plpgsql AS $$
BEGIN
  s.seq := s.seq + 1;
  s.head := sage.link(s.head, k, t, a, d);
  s.last_at := a;
  INSERT INTO sage.fact VALUES(s.id, s.seq, k, t, a, d, s.head);
  IF l IS NOT NULL THEN INSERT INTO sage.long VALUES(s.id, k, l); END IF;
  IF t = 'input.requested' THEN INSERT INTO sage.ask VALUES(s.id, k, s.seq, a); END IF;
  IF ends IS NOT NULL THEN DELETE FROM sage.ask WHERE session = s.id AND key = ends; END IF;
  IF t = 'turn.begun' THEN s.open := 1; END IF;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION sage.keep(s sage.session) RETURNS void LANGUAGE sql AS $$
  UPDATE sage.session SET title = s.title, last_at = s.last_at, open = s.open, seq = s.seq, head = s.head,
    batch = s.batch, batch_numbers = s.batch_numbers, batch_before = s.batch_before WHERE id = s.id
$$;

CREATE OR REPLACE FUNCTION sage.commit_facts(
  session_id text, e int, number int, keys text[], types text[], ats bigint[], datas text[], longs text[], ends text[],
  unheard boolean, knew bigint, OUT numbers bigint[], OUT before bigint) LANGUAGE plpgsql AS $$
DECLARE s sage.session; n int;
BEGIN
  SELECT * INTO s FROM sage.session WHERE id = session_id FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'session-unknown' USING ERRCODE = 'SG001'; END IF;
  IF s.epoch <> e THEN RAISE EXCEPTION 'lease-lost' USING ERRCODE = 'SG002'; END IF;
  IF s.batch = number THEN numbers := s.batch_numbers; before := s.batch_before; RETURN; END IF;
  before := s.seq;
  numbers := '{}';
  FOR n IN 1 .. coalesce(array_length(keys, 1), 0) LOOP
    -- Somebody may have answered since: their answer stands.
    IF types[n] = 'input.resolved' AND EXISTS (SELECT 1 FROM sage.fact f WHERE f.session = session_id AND f.key = keys[n]) THEN
      numbers := numbers || 0::bigint;
      CONTINUE;
    END IF;
    s := sage.put(s, keys[n], types[n], ats[n], datas[n], longs[n], ends[n]);
    numbers := numbers || s.seq;
    -- Whoever ends the turn may not have heard the newest message: then somebody looks again, and may find nothing to do.
    IF types[n] = 'turn.ended' THEN s.open := CASE WHEN unheard OR before > knew THEN 2 ELSE 0 END; END IF;
  END LOOP;
  s.batch := number; s.batch_numbers := numbers; s.batch_before := before;
  PERFORM sage.keep(s);
  PERFORM pg_notify('sage_fact', before || ' ' || s.seq || ' ' || session_id);
END $$;

CREATE OR REPLACE FUNCTION sage.append_fact(
  session_id text, k text, t text, a bigint, d text, l text, ends text, title_of_session text,
  OUT won boolean, OUT before bigint, OUT seq bigint, OUT owner text, OUT at_place text, OUT had_type text, OUT had_at bigint, OUT had_data text) LANGUAGE plpgsql AS $$
DECLARE s sage.session; had sage.fact;
BEGIN
  SELECT * INTO s FROM sage.session WHERE id = session_id FOR UPDATE;
  IF NOT FOUND THEN RAISE EXCEPTION 'session-unknown' USING ERRCODE = 'SG001'; END IF;
  owner := s.process;
  at_place := s.place;
  before := s.seq;
  SELECT * INTO had FROM sage.fact f WHERE f.session = session_id AND f.key = k;
  IF FOUND THEN
    won := false; seq := had.seq; had_type := had.type; had_at := had.at;
    had_data := coalesce((SELECT x.data FROM sage.long x WHERE x.session = session_id AND x.key = k), had.data);
    RETURN;
  END IF;
  s := sage.put(s, k, t, a, d, l, ends);
  IF t = 'user.said' THEN
    IF s.open = 0 THEN s.open := 2; END IF;
    IF s.title = '' THEN s.title := title_of_session; END IF;
  ELSIF title_of_session IS NOT NULL THEN s.title := title_of_session;
  END IF;
  PERFORM sage.keep(s);
  won := true; seq := s.seq;
  PERFORM pg_notify('sage_fact', before || ' ' || s.seq || ' ' || session_id);
END $$;
`;
