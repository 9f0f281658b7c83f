/** Opens no file, runs nothing, reads no inherited variable. Texts and patterns count, for nobody looks where they end. */
export function isPrintingAwk(program: string): boolean {
  if (program.length > longest || /\\\r?\n/.test(program) || reaching.test(program)) return false;
  // Before anything is printed, the sign compares; after that it may be a redirection.
  if (/print[^]*>/.test(program)) return false;
  return !program.replaceAll("||", "").includes("|");
}

const longest = 500;
const reaching = /system|getline|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@|\binclude\b|\bload\b/;
