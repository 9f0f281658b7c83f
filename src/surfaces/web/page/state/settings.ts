import type { Signal } from "@preact/signals";
import type { LooseResponse } from "../../../../protocol/facts/answer.ts";
import type { CommandReply } from "../../../../protocol/host/host.ts";
import { attempt } from "../../../../base/attempt.ts";
import type { Shelf } from "./drafts.ts";

export const colours = ["system", "light", "dark"] as const;
export type Colours = (typeof colours)[number];

/** A device as a list shows it. `own`: this browser. */
export type ListedDevice = {
  id: string;
  name: string;
  owner: string;
  at: number;
  seen: number;
  own?: boolean;
  passkeys?: number;
};

/** Choices of this browser. They are all that it keeps besides its key. */
export type Settings = {
  colour: Signal<Colours>;
  paint(colour: Colours): void;
  switchLanguage(): void;
  /** `ask`: the browser may be asked for leave; `on`: it has been given; `off`: it cannot be had. */
  notifications: Signal<"ask" | "on" | "off">;
  notify(): void;
  devices: {
    /** Undefined where this host does not tell. */
    list(): Promise<readonly ListedDevice[] | undefined>;
    remove(id: string): Promise<void>;
    /** A link that lets one further device of this person in. */
    invite(): Promise<string | undefined>;
    addPasskey(): Promise<CommandReply | { ok: true }>;
    /** Answers with a passkey. Undefined where the person has none for this address, or needs none. */
    sign(response: LooseResponse): Promise<CommandReply<"respond"> | undefined>;
  };
  /** This device forgets the host, and the host this device. */
  leave(): void;
};

/** The browser's own storage of this origin. One that keeps nothing, as in a private window, is no error. */
export const storage: Shelf = {
  get(name) {
    return attempt(() => localStorage.getItem(name) ?? undefined);
  },
  put(name, value) {
    try {
      if (value === undefined) localStorage.removeItem(name);
      else localStorage.setItem(name, value);
    } catch {
      // It is kept as long as the page is open.
    }
  },
  names() {
    return attempt(() => Object.keys(localStorage)) ?? [];
  },
};
