/**
 * A program that prints from what it reads: it opens no file, runs no command and looks at no variable that it inherits. What
 * stands in texts and patterns counts as well, since where those end is not looked for.
 */
export function isPrintingAwk(program: string): boolean {
  if (program.length > longest || /\\\r?\n/.test(program) || reaching.test(program)) return false;
  // Before anything is printed, the sign compares; after that it may be a redirection.
  if (/print[^]*>/.test(program)) return false;
  return !program.replaceAll("||", "").includes("|");
}

const longest = 500;
const reaching = /system|getline|ARGV|ARGC|ARGIND|ENVIRON|PROCINFO|SYMTAB|FUNCTAB|@|\binclude\b|\bload\b/;
