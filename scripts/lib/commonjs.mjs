/** The package for `require` where ES modules cannot be required: Jest, and what resolves as it does. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** `isoflat.cjs` of isoflat.js and all it imports, and the same types for it. */
export async function writeCommonJs(folder) {
  // It is there only when the package's tools are installed, which is not when this script is read.
  const { build } = await import("esbuild");
  await build({
    entryPoints: [join(folder, "isoflat.js")],
    outfile: join(folder, "isoflat.cjs"),
    bundle: true,
    format: "cjs",
    platform: "node",
    target: "node20",
    // Where files are required they are there: no texts in place of them.
    define: {
      "import.meta.url": "address",
      "import.meta.env": "true",
      "import.meta.env.PROD": "true",
      "import.meta.env.SSR": "false",
    },
    banner: { js: 'const address = require("node:url").pathToFileURL(__filename).href;' },
    logLevel: "warning",
  });
  for (const name of ["isoflat", "files"]) {
    const text = readFileSync(join(folder, `${name}.d.ts`), "utf8");
    writeFileSync(join(folder, `${name}.d.cts`), text.replace(/from "\.\/(isoflat|files)\.js"/g, 'from "./$1.cjs"'));
  }
}
