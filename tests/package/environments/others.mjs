/** Environments whose tools are installed for them: `npm run environments`. Each list of cells shares a project. */

import assert from "node:assert/strict";
import { createServer } from "node:net";
import { outcome, outcomeOf } from "./chrome.mjs";
import { nodeModule, viteBuild, viteServer } from "./common.mjs";
import { isDrawn, small } from "./plots.mjs";
import { check, files, page } from "./program.mjs";

/** A port for servers that do not look for one. */
async function freePort() {
  const server = createServer();
  await new Promise((resolve) => server.listen(0, resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A Node of its own, by the package of that name in the registry. */
const node = (major) => ({
  tools: { node: String(major) },
  cells: [
    [
      `Node ${major}, import`,
      async (project) => {
        const said = await nodeModule(project, [project.at("node_modules", ".bin", "node")]);
        assert.match(said, new RegExp(`in Node ${major}$`));
        return said;
      },
    ],
    [`Node ${major}, require`, async (project) => check(await project.bin("node", "print.cjs"))],
  ],
});

function vite(major) {
  const program = (project) => project.at("node_modules", "vite", "bin", "vite.js");
  return {
    tools: { vite: String(major) },
    cells: [
      [`Vite ${major}, build`, (project) => viteBuild(project, program(project), "page.js")],
      [`Vite ${major}, build, a Worker`, (project) => viteBuild(project, program(project), "works.js")],
      [`Vite ${major}, development server`, (project) => viteServer(project, program(project), "page.js")],
      [`Vite ${major}, development server, a Worker`, (project) => viteServer(project, program(project), "works.js")],
    ],
  };
}

async function webpacked(project, script) {
  const name = `webpack-${script.replace(".js", "")}`;
  await project.bin("webpack", "--mode", "production", "--entry", `./${script}`, "--output-path", project.at(name));
  project.write({ [`${name}/index.html`]: page("./main.js") });
  return check((await outcomeOf(project.at(name))).outcome);
}

const webpack = {
  tools: { webpack: "5", "webpack-cli": "7" },
  cells: [
    ["webpack 5", (project) => webpacked(project, "page.js")],
    ["webpack 5, a Worker", (project) => webpacked(project, "works.js")],
    [
      "webpack 5, for Node",
      async (project) => {
        const folder = project.at("webpack-node");
        const how = ["--mode", "production", "--target", "node20", "--entry", "./bundled.js", "--output-path", folder];
        await project.bin("webpack", ...how);
        project.write({ "webpack-node/package.json": '{ "type": "commonjs" }' });
        return check(await project.node("webpack-node/main.js"));
      },
    ],
  ],
};

async function parceled(project, script) {
  const name = `parcel-${script.replace(".js", "")}`;
  project.write({ [`${name}.html`]: page(`./${script}`) });
  await project.bin("parcel", "build", `${name}.html`, "--no-cache", "--dist-dir", name);
  return check((await outcomeOf(project.at(name), `${name}.html`)).outcome);
}

const parcel = {
  tools: { parcel: "2" },
  cells: [
    ["Parcel 2", (project) => parceled(project, "page.js")],
    ["Parcel 2, a Worker", (project) => parceled(project, "works.js")],
    [
      // It reads no `exports`.
      "Parcel 2, isoflat/plots and isoflat/inline",
      async (project) => {
        const whole = 'import { Network } from "isoflat/inline";\nglobalThis.Network = Network;\n';
        project.write({ "drawn.js": small + whole, "drawn.html": page("./drawn.js") });
        await project.bin("parcel", "build", "drawn.html", "--no-cache", "--dist-dir", "parcel-drawn");
        return isDrawn(project.at("parcel-drawn"), "drawn.html");
      },
    ],
    [
      "Parcel 2, development server",
      async (project) => {
        project.write({ "served.html": page("./page.js") });
        const server = await project.serve(
          "parcel",
          "serve",
          "served.html",
          "--no-cache",
          "--port",
          String(await freePort()),
        );
        try {
          return check((await outcome(`${server.address}/served.html`)).outcome);
        } finally {
          server.end();
        }
      },
    ],
  ],
};

const jestTest = (environment) => `/** @jest-environment ${environment} */
const { eigenvalue } = require("./eigenvalue.cjs");
test("isoflat", async () => console.log(await eigenvalue()));
`;
async function jested(project, environment) {
  project.write({ [`${environment}.test.cjs`]: jestTest(environment) });
  return check(await project.bin("jest", "--testMatch", `**/${environment}.test.cjs`));
}

const jest = {
  tools: { jest: "30", "jest-environment-jsdom": "30" },
  cells: [
    ["Jest 30", (project) => jested(project, "node")],
    ["Jest 30, jsdom", (project) => jested(project, "jsdom")],
  ],
};

const vitest = {
  tools: { vitest: "4", jsdom: "26" },
  cells: [
    [
      "Vitest 4, jsdom",
      async (project) => {
        project.write({
          "isoflat.test.js":
            'import { eigenvalue } from "./eigenvalue.js";\ntest("isoflat", async () => console.log(await eigenvalue()));\n',
        });
        return check(await project.bin("vitest", "run", "--globals", "--environment", "jsdom"));
      },
    ],
  ],
};

const deno = {
  tools: { deno: "2" },
  cells: [
    ["Deno 2", async (project) => check(await project.bin("deno", "run", "-A", "print.js"))],
    [
      "Deno 2, without any permission",
      async (project) => check(await project.bin("deno", "run", "--no-prompt", "print.js")),
    ],
  ],
};

const bun = {
  tools: { bun: "1" },
  cells: [
    ["Bun 1", async (project) => check(await project.bin("bun", "run", "print.js"))],
    ["Bun 1, require", async (project) => check(await project.bin("bun", "run", "print.cjs"))],
    [
      "Bun 1, test",
      async (project) => {
        project.write({
          "isoflat.test.js":
            'import { test } from "bun:test";\nimport { eigenvalue } from "./eigenvalue.js";\ntest("isoflat", async () => console.log(await eigenvalue()));\n',
        });
        return check(await project.bin("bun", "test"));
      },
    ],
    [
      "bun build",
      async (project) => {
        await project.bin("bun", "build", "page.js", "--outdir", "bun-browser");
        project.write({ "bun-browser/index.html": page("./page.js") });
        return check((await outcomeOf(project.at("bun-browser"))).outcome);
      },
    ],
    [
      "bun build, for Node",
      async (project) => {
        await project.bin("bun", "build", "print.js", "--target", "node", "--outdir", "bun-node");
        return check(await project.node("bun-node/print.js"));
      },
    ],
    [
      "bun build --compile",
      async (project) => {
        await project.bin("bun", "build", "print.js", "--compile", "--outfile", "compiled");
        return check(await project.output(project.at("compiled")));
      },
    ],
  ],
};

/** A page that computes on the server, and one that does in the browser. */
const nextFiles = {
  "app/layout.js":
    'export default function Layout({ children }) {\n  return <html lang="en"><body>{children}</body></html>;\n}\n',
  "app/server/page.js": `import { eigenvalue } from "../../eigenvalue.js";
export const dynamic = "force-dynamic";
export default async function Page() {
  return <pre>{await eigenvalue()}</pre>;
}
`,
  "app/api/route.js": `import { eigenvalue } from "../../eigenvalue.js";
export const dynamic = "force-dynamic";
export async function GET() {
  return new Response(await eigenvalue());
}
`,
  "app/client/page.js": `"use client";
import { useEffect } from "react";
import { eigenvalue } from "../../eigenvalue.js";
export default function Page() {
  useEffect(() => {
    eigenvalue().then((value) => (globalThis.outcome = value), (error) => (globalThis.outcome = String(error?.stack ?? error)));
  }, []);
  return <p>isoflat</p>;
}
`,
};

const nextCells = (bundler, flag) => {
  const development = async (project) => {
    project.write(nextFiles);
    const server = await project.serve("next", "dev", "--port", String(await freePort()), ...flag);
    try {
      for (const path of ["/server", "/api"]) {
        check((await (await fetch(`${server.address}${path}`)).text()).replaceAll("&quot;", '"'));
      }
      return check((await outcome(`${server.address}/client`)).outcome);
    } finally {
      server.end();
    }
  };
  let server;
  const start = async (project) => {
    if (server) return server;
    project.write(nextFiles);
    await project.bin("next", "build", ...flag);
    server = await project.serve("next", "start", "--port", "0");
    return server;
  };
  const answer = async (project, path) => {
    const { address } = await start(project);
    const response = await fetch(`${address}${path}`);
    return check((await response.text()).replaceAll("&quot;", '"'));
  };
  return [
    [`Next 16 (${bundler}), a server's component`, (project) => answer(project, "/server")],
    [`Next 16 (${bundler}), a route's handler`, (project) => answer(project, "/api")],
    [
      `Next 16 (${bundler}), a client's component`,
      async (project) => {
        const { address } = await start(project);
        try {
          return check((await outcome(`${address}/client`)).outcome);
        } finally {
          server.end();
          server = undefined;
        }
      },
    ],
    [`Next 16 (${bundler}), development server`, development],
  ];
};

const next = (bundler, flag) => ({
  tools: { next: "16", react: "19", "react-dom": "19" },
  cells: nextCells(bundler, flag),
});

const workerd = {
  tools: { wrangler: "4" },
  cells: [
    [
      "Cloudflare's Workers",
      async (project) => {
        project.write({
          "worker-entry.js":
            'import { eigenvalue } from "./eigenvalue.js";\nexport default { async fetch() {\n  try { return new Response(await eigenvalue()); } catch (error) { return new Response(String(error.stack)); }\n} };\n',
        });
        const how = ["--compatibility-date", "2025-09-01", "--port", "0", "--ip", "127.0.0.1", "--local"];
        let said;
        for (const flags of [[], ["--compatibility-flags", "nodejs_compat"]]) {
          const server = await project.serve("wrangler", "dev", "worker-entry.js", ...how, ...flags);
          try {
            // There is no Worker in a Worker.
            said = check(await (await fetch(server.address)).text(), "worker_unavailable");
          } finally {
            server.end();
          }
        }
        return said;
      },
    ],
  ],
};

const kitFiles = {
  "vite.config.js":
    'import adapter from "@sveltejs/adapter-node";\nimport { sveltekit } from "@sveltejs/kit/vite";\nexport default { plugins: [sveltekit({ adapter: adapter() })] };\n',
  "src/app.html": '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n',
  "src/routes/eigenvalue.js": files()["eigenvalue.js"],
  "src/routes/server/+server.js":
    'import { eigenvalue } from "../eigenvalue.js";\nexport const GET = async () => new Response(await eigenvalue());\n',
  "src/routes/client/+page.svelte":
    '<script>\n  import { onMount } from "svelte";\n  import { eigenvalue } from "../eigenvalue.js";\n  onMount(() => eigenvalue().then((value) => (globalThis.outcome = value), (error) => (globalThis.outcome = String(error))));\n</script>\n<p>isoflat</p>\n',
};

async function kit(serve) {
  const server = await serve();
  try {
    check(await (await fetch(`${server.address}/server`)).text());
    return check((await outcome(`${server.address}/client`)).outcome);
  } finally {
    server.end();
  }
}

const sveltekit = {
  tools: {
    "@sveltejs/kit": "latest",
    "@sveltejs/adapter-node": "latest",
    "@sveltejs/vite-plugin-svelte": "latest",
    svelte: "5",
    vite: "8",
    // Its builds want a newer Node than the oldest that isoflat runs in.
    node: "24",
  },
  cells: [
    [
      "SvelteKit, development server",
      (project) => {
        project.write(kitFiles);
        return kit(() => project.serve("vite", "dev", "--port", "0"));
      },
    ],
    [
      "SvelteKit, built",
      async (project) => {
        project.write(kitFiles);
        await project.bin("vite", "build");
        return kit(() => project.serve("vite", "preview", "--port", "0"));
      },
    ],
  ],
};

export const others = [
  node(20),
  node(22),
  node(24),
  vite(5),
  vite(6),
  vite(7),
  webpack,
  parcel,
  jest,
  vitest,
  deno,
  bun,
  next("Turbopack", []),
  next("webpack", ["--webpack"]),
  sveltekit,
  workerd,
];
