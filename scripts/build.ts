// npm run build: dist/, which `sage` and `import "sage-agent"` start.
import { join } from "node:path";
import { build } from "./release/build.ts";

build(join(import.meta.dirname, "../dist")).then(
  (files) => {
    for (const { file, size } of files) console.log(`${`dist/${file}`.padEnd(40)} ${Math.ceil(size / 1024)} kB`);
  },
  (error: Error) => {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  },
);
