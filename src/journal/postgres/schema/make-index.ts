/**
 * Makes an index where it is missing. `CREATE INDEX IF NOT EXISTS` locks the table before it looks, and would wait for workers that wait
 * for it: functions are made anew while they write.
 */
export const index = (name: string, on: string): string =>
  `DO $$ BEGIN IF to_regclass('sage.${name}') IS NULL THEN CREATE INDEX ${name} ON sage.${on}; END IF; END $$;`;
