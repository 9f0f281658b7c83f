// npm run build: dist/, which `sage` and `import "sage-agent"` start.
import { join } from "node:path";
import { build } from "./release/build.ts";

build(join(import.meta.dirname, "../dist")).then(
  (files) => {
    const bytes = files.reduce((sum, { size }) => sum + size, 0);
    console.log(`dist/: ${files.length} files of code, ${Math.ceil(bytes / 1024)} kB`);
  },
  (error: Error) => {
    console.error(`build: ${error.message}`);
    process.exitCode = 1;
  },
);
