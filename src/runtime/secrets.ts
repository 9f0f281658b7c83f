const SECRET_NAME = /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL/i;
const SHORTEST = 8;

/** What children inherit: the environment without names that look like secrets, and without Sage's own. */
export function childEnv(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(
    Object.entries(env).filter(([name]) => !SECRET_NAME.test(name) && !/^(SAGE|ANTHROPIC|OPENAI)_/.test(name)),
  );
}

/** Takes the values of secret variables out of text. Very short ones stay: replacing them would eat ordinary words. */
export function redactor(env: NodeJS.ProcessEnv): (text: string) => string {
  const secrets = Object.entries(env)
    .filter(([name, value]) => SECRET_NAME.test(name) && value !== undefined && value.length >= SHORTEST)
    .flatMap(([name, value = ""]) => spellings(value).map((spelling) => ({ name, spelling })))
    .sort((a, b) => b.spelling.length - a.spelling.length);
  if (secrets.length === 0) return (text) => text;
  return (text) =>
    secrets.reduce(
      (clean, { name, spelling }) =>
        clean.includes(spelling) ? clean.replaceAll(spelling, `[secret: ${name}]`) : clean,
      text,
    );
}

function spellings(value: string): string[] {
  return [...new Set([value, Buffer.from(value).toString("base64"), encodeURIComponent(value)])];
}
