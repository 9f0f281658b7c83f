import type { CliTexts } from "../../../texts/commands/cli.ts";
import { usage } from "../../process/flags.ts";

export const destinations = ["local", "project", "user"] as const;
export type Destination = (typeof destinations)[number];

/** The value of --to. */
export function destinationOf(given: string | undefined, t: CliTexts): Destination | undefined {
  const found = destinations.find((one) => one === given);
  if (given !== undefined && !found) throw usage(t.expected("--to", t.oneOf(destinations), given));
  return found;
}
