const codes = { SIGTERM: 143, SIGHUP: 129 } as const;

/** Being told to go is as safe as being killed: nothing is resolved, and another process may go on. */
export function onLeave(leave: () => Promise<unknown>): void {
  for (const [signal, code] of Object.entries(codes)) {
    process.once(signal, () => {
      void leave().finally(() => process.exit(code));
    });
  }
}
