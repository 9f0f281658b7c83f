/**
 * A function that runs as the owner of the journal, whoever calls it. Names are looked up in the catalogue alone, and in no schema that
 * the caller could put something into.
 */
export const definer = (language: "sql" | "plpgsql"): string =>
  `LANGUAGE ${language} SECURITY DEFINER SET search_path = pg_catalog, pg_temp`;
