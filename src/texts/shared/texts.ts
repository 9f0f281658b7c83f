import { en } from "./en.ts";
import { inBoth } from "../language.ts";
import { zh } from "./zh.ts";

/** Texts of every surface. */
export type Texts = typeof en;

export const texts = inBoth<Texts>(en, zh);
