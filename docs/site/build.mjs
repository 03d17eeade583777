/**
 * The documentation as a static site, `node docs/site/build.mjs FOLDER`: the guides, and the reference that TypeDoc makes of the package's
 * types. Needs pkg/. It loads nothing from elsewhere and has relative links alone, so it is served from any folder.
 */

import { copyFileSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Application, Converter, KindRouter, PageEvent, ReflectionKind } from "typedoc";
import { hasElements, writeArticle } from "./article.mjs";
import { withMath } from "./math.mjs";

const here = (path) => fileURLToPath(new URL(path, import.meta.url));
const out = process.argv[2];

/** In the order in which they are read. */
const GUIDES = ["flat", "trust", "pytorch", "notebooks", "plots", "bundlers", "cluster", "theory"];

const guideOf = (name) => here(`../guides/${name}.md`);
const titleOf = (name) => /^title: (.+)$/m.exec(readFileSync(guideOf(name), "utf8"))?.[1];

/** Addresses that people can read, and that stay when a guide's title is said better: guides/flat.html, classes/Engine.html. */
class Addresses extends KindRouter {
  getIdealBaseName(reflection) {
    if (reflection.kind !== ReflectionKind.Document) return super.getIdealBaseName(reflection).replace(IN_MODULE, "/");
    return `guides/${GUIDES.find((name) => titleOf(name) === reflection.name)}`;
  }
}

/** What the package's modules are called beside the guides: itself, and what one imports besides. */
const [MODULE, PLOTS] = ["Reference", "Plots"];
const IN_MODULE = new RegExp(`/(${MODULE}|${PLOTS})\\.`);

/** The names by which people look for things: a default export is called what everybody calls it. */
function named({ project }) {
  const modules = project.children.filter(({ kind }) => kind === ReflectionKind.Module);
  for (const module of modules) {
    const init = module.children.find(({ name }) => name === "default");
    module.name = init ? MODULE : PLOTS;
    if (!init) continue;
    init.name = "init";
    for (const signature of init.signatures) signature.name = "init";
  }
}

/** As strict as the lab's (www/vite.config.ts): pages bring it themselves, for servers that send no headers. */
const POLICY = [
  "default-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "object-src 'none'",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** What stands for the lab's address in TypeDoc's options, which knows no links that lead out of its site. */
const LAB = "lab:";

/** The lab's colours and type, as its theme.css says them. */
function palette() {
  const css = readFileSync(here("../../www/src/style/theme.css"), "utf8");
  const [, body] = /^:root,\n\.on-paper \{\n([\s\S]*?)^\}/m.exec(css) ?? [];
  if (!body?.includes("--paper")) throw new Error("theme.css says no colours where the documentation looks for them");
  return `:root {\n${body}}\n`;
}

/** Exactly one place. */
function replaced(text, what, by) {
  if (text.split(what).length !== 2)
    throw new Error(`TypeDoc's pages have not one ${what}: see to docs/site/build.mjs`);
  return text.replace(what, () => by);
}

const INLINE = /<script>document\.documentElement\.dataset\.theme[\s\S]*?<\/script>/;

const EXAMPLE = /(<h4 [^>]*id="example[^"]*">Example<a .*?<\/a><\/h4>)(<pre>[\s\S]*?<\/pre>)/g;

/** Examples that are no whole programs say what they begin with. */
const introduced = (html, base) =>
  html.replace(EXAMPLE, (_, heading, code) => {
    const isWhole = /^import (init\b|.*\binitSync\b)/m.test(code.replace(/<[^>]*>/g, ""));
    const begins = `<p class="begins">Behind <a href="${base}index.html#what-the-examples-begin-with">these lines</a>:</p>`;
    return `${heading}${isWhole ? "" : begins}${code}`;
  });

/** A heading is one level below the one that it belongs to, whatever size it is written in. */
function levelled(html) {
  const above = [];
  return html.replace(/<h([1-6])\b/g, (heading, size) => {
    while (above.length > 0 && above.at(-1) >= size) above.pop();
    above.push(size);
    return above.length === Number(size) ? heading : `${heading} aria-level="${above.length}"`;
  });
}

/** What parts of a page are, for those who hear it. */
const LANDMARKS = {
  '<div class="col-content">': '<div class="col-content" role="main">',
  '<div class="col-sidebar">':
    '<div class="col-sidebar" role="complementary" aria-label="Of this page, and other pages">',
  '<nav id="tsd-sidebar-links" class="tsd-navigation">':
    '<nav id="tsd-sidebar-links" class="tsd-navigation" aria-label="The lab">',
  '<nav class="tsd-navigation">': '<nav class="tsd-navigation" aria-label="Guides and reference">',
};

/** A page that keeps the policy, without a script of its own; it knows where the lab is. */
function finished(html, url) {
  const base = "../".repeat(url.split("/").length - 1);
  const [inline] = INLINE.exec(html) ?? [];
  const policy = `<meta http-equiv="Content-Security-Policy" content="${POLICY}"/>`;
  const theme = `<script src="${base}assets/theme.js"></script>`;
  let page = replaced(html, inline, "");
  page = replaced(page, '<meta charset="utf-8"/>', `<meta charset="utf-8"/>${policy}${theme}`);
  if (hasElements(html))
    page = replaced(page, "</head>", `<script type="module" src="${base}assets/article.js"></script></head>`);
  for (const [part, by] of Object.entries(LANDMARKS)) page = replaced(page, part, by);
  page = levelled(introduced(page, base));
  // A link from a guide to the reference begins with a space, which would be underlined.
  page = page.replace(/(<a href="[^"]*" class="tsd-kind-[\w-]+">) /g, "$1");
  return page.replaceAll(`"${LAB}"`, `"${base || "./"}../"`);
}

/** A guide that nobody has put into the order would be on no page. */
function checkGuides() {
  const there = readdirSync(here("../guides")).sort().join();
  const known = ["index", ...GUIDES]
    .map((name) => `${name}.md`)
    .sort()
    .join();
  if (there !== known) throw new Error(`docs/guides/ has ${there}, and docs/site/build.mjs knows ${known}`);
  for (const name of GUIDES) if (!titleOf(name)) throw new Error(`docs/guides/${name}.md says no title`);
}

async function build() {
  checkGuides();
  writeFileSync(join(out, "..", "docs-style.css"), palette() + readFileSync(here("style.css"), "utf8"));
  const app = await Application.bootstrap({
    name: "isoflat",
    entryPoints: [here("../../pkg/isoflat.d.ts"), here("../../pkg/plots/plots.d.ts")],
    tsconfig: here("tsconfig.json"),
    readme: here("../guides/index.md"),
    projectDocuments: GUIDES.map(guideOf),
    out,
    cleanOutputDir: true,
    customCss: join(out, "..", "docs-style.css"),
    favicon: here("../../www/public/icon.svg"),
    navigationLinks: { "The lab": LAB },
    headings: { readme: false },
    visibilityFilters: {},
    router: "addresses",
    sort: ["kind", "source-order"],
    groupOrder: ["Documents", "Modules", "Classes", "Functions", "Interfaces", "Type Aliases", "*"],
    // What can be called before what it takes and gives.
    kindSortOrder: [
      "Document",
      "Module",
      "Class",
      "Function",
      "Interface",
      "TypeAlias",
      "Constructor",
      "Property",
      "Method",
    ],
    // What is written here is no source file of whoever reads it, and no address of one is known.
    disableSources: true,
    hideGenerator: true,
    excludePrivate: true,
    // What elements have of every element stands elsewhere.
    excludeExternals: true,
    includeHierarchySummary: false,
    // `tsc` has checked the types, for what uses them.
    skipErrorChecking: true,
    treatWarningsAsErrors: true,
    validation: { notExported: true, invalidLink: true, rewrittenLink: true, unusedMergeModuleWith: true },
    highlightLanguages: ["js", "ts", "json", "sh", "python", "html"],
    lightHighlightTheme: "github-light-high-contrast",
    darkHighlightTheme: "github-dark-high-contrast",
    markdownItLoader: withMath,
    logLevel: "Warn",
  });
  app.renderer.defineRouter("addresses", Addresses);
  app.converter.on(Converter.EVENT_RESOLVE_BEGIN, named);
  app.renderer.on(PageEvent.END, (page) => {
    page.contents = finished(page.contents, page.url);
  });
  const project = await app.convert();
  if (!project) throw new Error("TypeDoc could not read the package's types");
  await app.generateOutputs(project);
  if (app.logger.hasErrors() || app.logger.hasWarnings()) throw new Error("TypeDoc had something to complain of");
  await writeArticle(join(out, "assets"));
  copyFileSync(here("theme.js"), join(out, "assets", "theme.js"));
  // One choice of the theme for the lab and its documentation.
  const main = join(out, "assets", "main.js");
  let script = readFileSync(main, "utf8");
  for (const call of ["getItem", "setItem"])
    script = replaced(script, `${call}("tsd-theme"`, `${call}("isoflat.theme"`);
  writeFileSync(main, script);
}

await build();
