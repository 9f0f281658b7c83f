export { sentence } from "../../../texts/reasons.ts";
