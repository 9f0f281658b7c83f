// Zod, in a file of its own: it is loaded only for schemas that are not ours.
/** @ts-ignore A program without zod reads this type as well: z is any there. */
export { z } from "zod";
