// Zod, in a file of its own: it is loaded only for schemas that are not ours.
export { z } from "zod";
