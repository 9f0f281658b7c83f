/**
 * A function that runs as the owner of the journal, whoever calls it. Names are looked up in the catalogue alone, and in no schema that
 * the caller could put something into.
 */

export const definer = (language: "sql" | "plpgsql"): string =>
  `LANGUAGE ${language} SECURITY DEFINER SET search_path = pg_catalog, pg_temp`;

/**
 * Makes an index where it is missing. `CREATE INDEX IF NOT EXISTS` locks the table before it looks, and would wait for workers that wait
 * for it: functions are made anew while they write.
 */
export const index = (name: string, on: string): string =>
  `DO $$ BEGIN IF to_regclass('sage.${name}') IS NULL THEN CREATE INDEX ${name} ON sage.${on}; END IF; END $$;`;
