// Writes docs/settings.schema.json, for editors that complete settings files. Run with `npm run schema`.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { settingsSchema } from "../src/config/settings/settings.ts";

writeFileSync(
  join(import.meta.dirname, "../docs/settings.schema.json"),
  `${JSON.stringify(settingsSchema(), undefined, 2)}\n`,
);
