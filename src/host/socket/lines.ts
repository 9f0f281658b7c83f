import type { RemoteHost } from "../../remote/client.ts";

/** Connections to other processes, by their id. The caller leaves with `release`. */
export type Lines = (process: string) => { host: Promise<RemoteHost>; release(): void };

/** Shares a connection to each process: made for its first user, closed after the last. */
export function createLines(dial: (process: string) => Promise<RemoteHost>): Lines {
  const lines = new Map<string, { host: Promise<RemoteHost>; users: number }>();
  return (process) => {
    let line = lines.get(process);
    if (!line) {
      const host = dial(process);
      lines.set(process, (line = { host, users: 0 }));
      const forget = () => {
        if (lines.get(process)?.host === host) lines.delete(process);
      };
      host.then(({ over }) => over.addEventListener("abort", forget), forget);
    }
    const mine = line;
    mine.users++;
    return {
      host: mine.host,
      release() {
        if (--mine.users > 0) return;
        if (lines.get(process) === mine) lines.delete(process);
        mine.host.then((host) => host.close()).catch(() => {});
      },
    };
  };
}
