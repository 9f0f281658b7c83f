/**
 * Memory of a surface across restarts: which messages it has seen, which card belongs to which request. Small, durable, the
 * surface's own, and never a copy of what the journal knows. Synchronous: when a call returns, it is on disk. Values are
 * plain JSON.
 */
export interface SurfaceStore {
  get(key: string): unknown;
  /** Without a time it stays until it is deleted. */
  set(key: string, value: unknown, options?: { ttlMs?: number }): void;
  /** False when there was nothing. */
  delete(key: string): boolean;
  /** In the order of their keys. */
  list(prefix: string): { key: string; value: unknown }[];
  /** True for the first who asks within the time, and for nobody else. */
  claim(key: string, ttlMs: number): boolean;
  /** All of it or nothing of it: a claim together with what it is for. */
  atomically<T>(work: () => T): T;
}

/** Memory of several processes. Reads are of what was last seen; changes are made on the newest, so a second one sees the first. */
export interface SharedStore extends Pick<SurfaceStore, "get" | "list"> {
  /** All of it or nothing of it. `work` runs again when somebody else was quicker. Rejects where nothing can be written. */
  change<T>(work: (store: SurfaceStore) => T): Promise<T>;
  /** Reads what others have changed since the last look. */
  refresh(): Promise<void>;
  /** False: after too long without contact, other processes may have changed it. */
  isCurrent(): boolean;
}
