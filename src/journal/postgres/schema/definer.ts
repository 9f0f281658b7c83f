/** A function with its owner's rights. Names are looked up in the catalogue alone, where no caller can put anything. */

export const definer = (language: "sql" | "plpgsql"): string =>
  `LANGUAGE ${language} SECURITY DEFINER SET search_path = pg_catalog, pg_temp`;

/** `CREATE INDEX IF NOT EXISTS` locks before it looks, and would deadlock with workers: functions are replaced while they write. */
export const index = (name: string, on: string): string =>
  `DO $$ BEGIN IF to_regclass('sage.${name}') IS NULL THEN CREATE INDEX ${name} ON sage.${on}; END IF; END $$;`;
