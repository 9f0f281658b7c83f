/** The changelog with everything unreleased under this version, and nothing unreleased. */
export function releaseChangelog(text: string, version: string, date: string): string {
  const heading = /^## \[Unreleased\]\n/m.exec(text);
  if (!heading) throw new Error("CHANGELOG.md has no section [Unreleased]");
  if (text.includes(`\n## [${version}]`)) throw new Error(`CHANGELOG.md has a section ${version} already`);
  const after = heading.index + heading[0].length;
  const next = text.indexOf("\n## ", after);
  if (text.slice(after, next < 0 ? undefined : next).trim() === "")
    throw new Error("CHANGELOG.md says nothing under [Unreleased]");
  return `${text.slice(0, after)}\n## [${version}] - ${date}\n${text.slice(after)}`;
}
