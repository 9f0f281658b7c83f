import type { FactType } from "../../../protocol/facts/fact.ts";
import {
  callModeEnd,
  carriedSaidPattern,
  movedKeys,
  permitResolvedPattern,
  resolvedKey,
  runKeyPattern,
  titleKey,
  workspaceKey,
} from "../../../protocol/key.ts";
import { MARK } from "../../database/row.ts";

/** Writers of a fact: `run` (never in a person's name), `either` (looked at when a run writes it), `person` (through a gateway). */
const writers: Readonly<Record<FactType, "run" | "either" | "person">> = {
  "session.opened": "person",
  "session.removed": "person",
  "workspace.made": "either",
  "session.titled": "either",
  "session.moved": "person",
  "model.chosen": "person",
  "mode.chosen": "either",
  "session.rewound": "person",
  "rewind.ended": "run",
  "turn.begun": "run",
  "guest.joined": "run",
  "guest.parked": "run",
  "answer.delivered": "run",
  "answer.undelivered": "run",
  "user.said": "either",
  "message.withdrawn": "person",
  "model.replied": "run",
  "calls.judged": "run",
  "input.requested": "run",
  "input.approved": "person",
  "input.reminded": "either",
  "input.escalated": "either",
  "time.moved": "either",
  "input.resolved": "either",
  "inquiry.made": "person",
  "inquiry.replied": "run",
  "call.started": "run",
  "call.finished": "run",
  "call.unknown": "run",
  "state.changed": "run",
  "context.compacted": "run",
  "rule.added": "either",
  "rule.removed": "either",
  "draft.saved": "person",
  "turn.interrupted": "either",
  "reply.interrupted": "run",
  "turn.ended": "run",
};

const ofRuns = Object.entries(writers).flatMap(([type, writer]) => (writer === "run" ? [`'${type}'`] : []));
/** Facts that a worker writes one by one, whether it runs the session or not. All others come in commits, under its epoch. */
const singly: readonly FactType[] = [
  ...(["user.said", "session.titled", "input.resolved"] as const),
  ...(["input.reminded", "input.escalated", "time.moved"] as const),
];
const end = resolvedKey("");
const asked = `left(k, ${-end.length})`;
/** Escapes of characters that PostgreSQL cannot hold: NUL, and halves of a pair. An even number of backslashes before one is text. */
const unfit = String.raw`(?<!\\)((?:\\\\)*)\\u(?:0000|[dD][89a-fA-F][0-9a-fA-F]{2})`;
/** A literal that means the same whatever the caller has set. */
const literal = (text: string) => `E'${text.replaceAll("\\", "\\\\")}'`;

/**
 * Checks what a worker writes: a function that raises SG004 at everything it may not. A text is looked at as whoever reads it will understand it:
 * where its data is long, at that; with every escape resolved; and not at all where a name stands in it twice. What cannot be understood is
 * refused. A run follows what people said, so some of its facts repeat their names: each of those has to follow from an answer that is
 * there, and that a gateway has written.
 */
export const checks = `
CREATE OR REPLACE FUNCTION sage.refuse(t text, k text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN RAISE EXCEPTION 'worker-may-not' USING ERRCODE = 'SG004', DETAIL = t || ' ' || k; END $$;

-- The text that readers of the fact will parse; nothing where its two halves do not fit.
CREATE OR REPLACE FUNCTION sage.text_of(d text, l text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN l IS NULL THEN CASE WHEN NOT starts_with(d, '${MARK}') THEN d END
    ELSE CASE WHEN d = '${MARK}' || sage.digest(l) THEN l END END
$$;

-- As JSON. Characters that PostgreSQL cannot hold are replaced: no name or value that is compared has any.
CREATE OR REPLACE FUNCTION sage.parsed(d text, l text) RETURNS json LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE whole text := sage.text_of(d, l); j json;
BEGIN
  IF position(${literal("\\u")} IN whole) > 0 THEN whole := regexp_replace(whole, ${literal(unfit)}, ${literal("\\1?")}, 'g'); END IF;
  j := whole::json;
  IF json_typeof(j) = 'object' AND sage.is_plain(j) AND sage.is_plain(j -> 'response') THEN RETURN j; END IF;
  RETURN NULL;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN RETURN NULL;
END $$;

-- No name stands in it twice.
CREATE OR REPLACE FUNCTION sage.is_plain(j json) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN json_typeof(j) = 'object' THEN (SELECT count(*) = count(DISTINCT name) FROM json_object_keys(j) name) ELSE true END
$$;

CREATE OR REPLACE FUNCTION sage.has_only(j json, names text[]) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT NOT EXISTS (SELECT 1 FROM json_object_keys(j) name WHERE name <> ALL(names))
$$;

CREATE OR REPLACE FUNCTION sage.facts_of(session_id text, t text) RETURNS TABLE(key text, said json) LANGUAGE sql STABLE AS $$
  SELECT f.key, sage.parsed(f.data, x.data) FROM sage.fact f LEFT JOIN sage.long x ON x.session = f.session AND x.key = f.key
    WHERE f.session = session_id AND f.type = t
$$;

-- A person has said yes to the request with this key, or to a call of it once more. A worker cannot write such an answer.
CREATE OR REPLACE FUNCTION sage.was_answered(session_id text, k text) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT EXISTS (SELECT 1 FROM sage.facts_of(session_id, 'input.resolved') f WHERE f.key = k || '${end}'
    AND f.said ->> 'outcome' = 'answered' AND f.said -> 'response' ->> 'type' IN ('granted','answers'))
$$;

-- A verdict that stands in a person's name follows from an answer: to a request of this call, or to the one that it names.
CREATE OR REPLACE FUNCTION sage.is_allowed(session_id text, k text, verdict json) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE earlier text := verdict -> 'reason' -> 'args' ->> 'request'; call text := regexp_replace(k, '[^/]*$', '');
BEGIN
  IF verdict ->> 'allowedBy' IS DISTINCT FROM 'person' THEN RETURN true; END IF;
  IF verdict -> 'reason' ->> 'code' = 'approved-earlier' THEN
    RETURN starts_with(earlier, session_id || '/') AND sage.was_answered(session_id, substr(earlier, length(session_id) + 2));
  END IF;
  RETURN EXISTS (SELECT 1 FROM sage.facts_of(session_id, 'input.resolved') f WHERE starts_with(f.key, call)
    AND substr(f.key, length(call) + 1) ~ '${permitResolvedPattern}' AND f.said ->> 'outcome' = 'answered' AND f.said -> 'response' ->> 'type' = 'granted');
END $$;

-- The mode comes with a yes to a plan, a request of the same call; without a word on it, the plan is carried out asking.
CREATE OR REPLACE FUNCTION sage.is_mode_given(session_id text, k text, j json) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT right(k, ${callModeEnd.length}) = '${callModeEnd}' AND EXISTS (SELECT 1
    FROM (SELECT left(k, ${1 - callModeEnd.length}) AS call) c, sage.facts_of(session_id, 'input.resolved') f
    JOIN sage.facts_of(session_id, 'input.requested') r ON f.key = r.key || '${end}'
    WHERE starts_with(f.key, c.call) AND substr(f.key, length(c.call) + 1) ~ '${permitResolvedPattern}'
      AND r.said -> 'why' ->> 'code' = 'plan-waits' AND f.said ->> 'by' = j ->> 'by' AND f.said ->> 'outcome' = 'answered'
      AND f.said -> 'response' ->> 'type' = 'granted' AND coalesce(f.said -> 'response' ->> 'mode', 'ask') = j ->> 'mode')
$$;

CREATE OR REPLACE FUNCTION sage.is_same_rule(a json, b json) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT a ->> 'rule' = b ->> 'rule' AND a ->> 'behavior' IS NOT DISTINCT FROM b ->> 'behavior' AND a ->> 'destination' IS NOT DISTINCT FROM b ->> 'destination'
$$;

-- A person gave this rule with a yes, or took it back, more often than runs have written it down: each time counts once.
-- Few of thousands of answers hold rules: those alone are parsed, each once, for the session is locked meanwhile.
CREATE OR REPLACE FUNCTION sage.is_rule_left(session_id text, t text, names text, j json) RETURNS boolean LANGUAGE sql STABLE AS $$
  WITH answers AS MATERIALIZED (SELECT sage.parsed(f.data, x.data) AS said FROM sage.fact f LEFT JOIN sage.long x ON x.session = f.session AND x.key = f.key
    WHERE f.session = session_id AND f.type = 'input.resolved' AND strpos(coalesce(x.data, f.data), '"' || names || '"') > 0)
  SELECT (SELECT count(*) FROM answers f, json_array_elements(f.said -> 'response' -> names) given
    WHERE f.said ->> 'by' = j ->> 'by' AND f.said ->> 'outcome' = 'answered' AND f.said -> 'response' ->> 'type' = 'granted' AND sage.is_same_rule(given, j))
    > (SELECT count(*) FROM sage.facts_of(session_id, t) f
      WHERE f.key ~ '${runKeyPattern}' AND f.said ->> 'by' = j ->> 'by' AND sage.is_same_rule(f.said, j))
$$;

-- An end that nobody gave: it grants nothing, and is in nobody's name.
CREATE OR REPLACE FUNCTION sage.is_unasked(session_id text, j json, request json) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
DECLARE who text := j ->> 'by'; surface text := j ->> 'surface'; response json := j -> 'response'; kind text := response ->> 'type';
BEGIN
  IF NOT sage.has_only(j, ARRAY['requestId','by','surface','at','outcome','reason','response']) THEN RETURN false; END IF;
  CASE j ->> 'outcome'
  WHEN 'timed_out' THEN
    -- Silence gives what was said when the request was made, and is never a yes.
    RETURN who = 'deadline' AND surface = 'deadline' AND (response IS NULL OR kind = 'denied' OR (kind IN ('answers','text')
      AND request ->> 'kind' <> 'permission'
      AND response::jsonb - 'requestId' = (request -> 'deadline' -> 'policy' -> 'default')::jsonb - 'requestId'));
  WHEN 'answered' THEN RETURN who = 'auto' AND kind = 'denied';
  WHEN 'declined', 'cancelled', 'no_surface' THEN RETURN response IS NULL AND who IN ('sage','policy','auto');
  WHEN 'superseded' THEN
    RETURN response IS NULL AND (who IN ('sage','agent')
      OR (who = surface AND EXISTS (SELECT 1 FROM sage.facts_of(session_id, 'guest.joined') f WHERE f.said ->> 'agent' = who))
      OR (surface = 'rule' AND EXISTS (SELECT 1 FROM sage.facts_of(session_id, 'rule.added') f
        WHERE f.said ->> 'by' = who AND f.said ->> 'rule' = j -> 'reason' -> 'args' ->> 'rule')));
  ELSE RETURN false;
  END CASE;
END $$;

CREATE OR REPLACE FUNCTION sage.check_worker(session_id text, k text, t text, d text, l text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE j json; good boolean; request json;
BEGIN
  IF t IN (${ofRuns.join(",")}) THEN
    good := k ~ '${runKeyPattern}' AND right(k, ${end.length}) <> '${end}' AND sage.is_json(sage.text_of(d, l));
    IF t = 'input.requested' AND good THEN
      -- Whoever answers names the request by its id: it must not be that of another.
      j := sage.parsed(d, l);
      good := j ->> 'id' = session_id || '/' || k AND j ->> 'session' = session_id;
    END IF;
    IF t = 'calls.judged' AND good THEN
      j := sage.parsed(d, l);
      good := json_typeof(j -> 'verdicts') = 'array'
        AND NOT EXISTS (SELECT 1 FROM json_array_elements(j -> 'verdicts') verdict WHERE NOT sage.is_allowed(session_id, k, verdict));
    END IF;
  ELSE
    j := sage.parsed(d, l);
    CASE t
    WHEN 'input.resolved' THEN
      request := (SELECT sage.parsed(f.data, x.data) FROM sage.fact f LEFT JOIN sage.long x ON x.session = f.session AND x.key = f.key
        WHERE f.session = session_id AND f.key = ${asked} AND f.type = 'input.requested');
      good := right(k, ${end.length}) = '${end}' AND request IS NOT NULL AND j ->> 'requestId' = session_id || '/' || ${asked}
        AND sage.is_unasked(session_id, j, request);
    WHEN 'input.reminded', 'input.escalated' THEN
      good := starts_with(k, substr(t, 7) || '/') AND starts_with(j ->> 'requestId', session_id || '/');
    WHEN 'time.moved' THEN
      -- Up to now, by the server's clock: it ends nothing, and grants nothing.
      good := k ~ '^${movedKeys.from}[0-9]{1,16}$' AND k = '${movedKeys.from}' || (j ->> 'to') AND sage.has_only(j, ARRAY['from','to']) AND (j ->> 'from')::numeric < (j ->> 'to')::numeric
        AND (j ->> 'to')::numeric <= extract(epoch FROM clock_timestamp()) * 1000 + 1000;
    WHEN 'workspace.made' THEN
      -- Of a session that was opened on that remote. A clone has the session's name: no other folder of a machine is handed to an agent so.
      good := k = '${workspaceKey}' AND sage.has_only(j, ARRAY['cwd','from','commit']) AND starts_with(j ->> 'cwd', '/')
        AND starts_with(right(j ->> 'cwd', length(session_id) + 8), '/' || session_id || '-') AND j ->> 'cwd' ~ '-[0-9a-f]{6}$'
        AND EXISTS (SELECT 1 FROM sage.facts_of(session_id, 'session.opened') f WHERE f.said ->> 'cwd' = j ->> 'from' AND starts_with(j ->> 'from', 'git+'));
    WHEN 'session.titled' THEN good := k = '${titleKey("auto")}' AND j ->> 'by' = 'auto' AND j ->> 'surface' = 'runtime';
    WHEN 'user.said' THEN
      good := k ~ '${carriedSaidPattern}' AND sage.has_only(j, ARRAY['text','by','surface']) AND j ->> 'by' = 'sage' AND j ->> 'surface' = 'update';
    WHEN 'turn.interrupted' THEN
      good := k ~ '${runKeyPattern}' AND j ->> 'to' = 'pause' AND j ->> 'by' = 'sage' AND j ->> 'surface' = 'refusals';
    WHEN 'mode.chosen' THEN good := k ~ '${runKeyPattern}' AND sage.is_mode_given(session_id, k, j);
    WHEN 'rule.added' THEN good := k ~ '${runKeyPattern}' AND sage.is_rule_left(session_id, t, 'rules', j);
    WHEN 'rule.removed' THEN good := k ~ '${runKeyPattern}' AND sage.is_rule_left(session_id, t, 'removeRules', j);
    ELSE good := false;
    END CASE;
  END IF;
  IF good IS NOT TRUE THEN PERFORM sage.refuse(t, k); END IF;
END $$;

-- Everything else that a worker writes is fenced by the epoch of a commit.
CREATE OR REPLACE FUNCTION sage.check_single(session_id text, k text, t text, d text, l text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF t NOT IN (${singly.map((type) => `'${type}'`).join(",")}) THEN PERFORM sage.refuse(t, k); END IF;
  PERFORM sage.check_worker(session_id, k, t, d, l);
END $$;

CREATE OR REPLACE FUNCTION sage.is_json(d text) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
  PERFORM d::json;
  RETURN d IS NOT NULL;
EXCEPTION WHEN data_exception OR program_limit_exceeded THEN RETURN false;
END $$;
`;
