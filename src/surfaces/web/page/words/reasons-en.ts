export { sentence } from "../../../../texts/shared/sentence.ts";
