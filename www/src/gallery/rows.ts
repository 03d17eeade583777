/** The rows of docs/papers/README.md: what was run of the papers, with its verdict. That file is where they are kept, and what the page shows. */

const VERDICTS = ["agrees in part", "agrees", "differs", "cannot say", "not run"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface Row {
  /** Of the paper and of what is run again: `rangamani-table-2`. */
  id: string;
  /** As the paper calls it: `Table 2`. */
  name: string;
  what: string;
  /** What the paper found. */
  paper: string;
  /** What was found here. */
  here: string;
  /** Null where none was run, or the lab does it live. */
  command: string | null;
  /** How long that took, or where it runs. */
  time: string;
  verdict: Verdict;
  /** The verdict's reason; none is asked for where all agrees. */
  why: string;
  /** Paragraphs and lists with the rest: settings, spreads, what explains a difference. */
  more: string[];
}

export interface Paper {
  id: string;
  authors: string;
  title: string;
  year: string;
  rows: Row[];
  /** What is said below the table. */
  notes: string[];
}

const HEAD = ["", "what", "paper", "here", "command, time", "verdict"];
/** As above: an empty cell would be one that was forgotten. */
const THE_SAME = /^the same\b/;

class Fault extends Error {
  constructor(place: string, said: string) {
    super(`docs/papers/README.md, ${place}: ${said}`);
  }
}

export function readPapers(markdown: string): Paper[] {
  const [, ...sections] = markdown.split(/^## /m);
  const papers = sections.map(paperOf);
  const ids = papers.flatMap(({ rows }) => rows.map(({ id }) => id));
  const twice = ids.find((id, index) => ids.indexOf(id) !== index);
  if (twice) throw new Fault(twice, "there are two rows of that name");
  return papers;
}

function paperOf(section: string): Paper {
  const [above = "", ...below] = section.split(/^### /m);
  const [heading = "", ...lines] = above.split("\n");
  const [, authors = "", title = "", year = ""] = /^(.+), \*(.+)\* \((\d{4})\)$/.exec(heading) ?? [];
  if (!authors) throw new Fault(heading, "a section begins with authors, *title* (year)");
  const id = slug(authors.split(/[\s,]/)[0] ?? "");
  const tables = lines.filter((line) => line.startsWith("|"));
  const [head = [], , ...body] = tables.map(cellsOf);
  if (head.join("|") !== HEAD.join("|")) throw new Fault(heading, `its table has the columns ${HEAD.join(", ")}`);
  const rows: Row[] = [];
  for (const cells of body) rows.push(rowOf(cells, id, rows.at(-1)));
  for (const text of below) {
    const [name = "", ...more] = text.split("\n");
    const row = rows.find((one) => one.name === name);
    if (!row) throw new Fault(`${id}, ${name}`, "there is no row of that name to say more of");
    row.more = paragraphsOf(more);
  }
  return { id, authors, title, year, rows, notes: paragraphsOf(lines.filter((line) => !line.startsWith("|"))) };
}

/** Without tables and drawings: the lab has drawings of its own. */
const paragraphsOf = (lines: string[]): string[] =>
  lines
    .join("\n")
    .split(/\n{2,}/)
    .flatMap((text) => (/^\s*(!\[|\||$)/.test(text) ? [] : text.trim()));

const cellsOf = (line: string): string[] =>
  line
    .trim()
    .slice(1, -1)
    .split("|")
    .map((cell) => cell.trim());

function rowOf(cells: string[], paper: string, before: Row | undefined): Row {
  const [name = "", what = "", found = "", here = "", how = "", judged = ""] = cells;
  const place = `${paper}, ${name}`;
  const fault = (said: string): never => {
    throw new Fault(place, said);
  };
  if (cells.length !== HEAD.length) fault(`it has ${cells.length} cells, not ${HEAD.length}`);
  if ([name, what, found, here].includes("")) fault("a cell is empty");
  const verdict = VERDICTS.find((one) => judged === one || judged.startsWith(`${one}:`)) ?? null;
  if (verdict === null) throw new Fault(place, `its verdict is none of ${VERDICTS.join(", ")}`);
  const why = judged.slice(verdict.length + 1).trim();
  if (why === "" && verdict !== "agrees") fault("its verdict has no reason");
  if ((how === "") !== (verdict === "not run")) fault("a row has a command or says that it was not run");
  const [, command = null, rest = ""] = /^`([^`]+)`[,;]?\s*(.*)$/.exec(how) ?? [];
  const isSame = THE_SAME.test(how);
  if (isSame && !before) fault("there is no row above that it could be the same as");
  return {
    id: `${paper}-${slug(name)}`,
    name,
    what,
    paper: found,
    here,
    command: isSame ? (before?.command ?? null) : command,
    time: isSame ? (before?.time ?? "") : command === null ? how : rest,
    verdict,
    why,
    more: [],
  };
}

const slug = (text: string): string =>
  text
    .normalize("NFD")
    .toLowerCase()
    .replace(/['’]s\b|\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");

export function counted(papers: Paper[]): { verdict: Verdict; count: number }[] {
  const order: Verdict[] = ["agrees", "agrees in part", "differs", "cannot say", "not run"];
  const all = papers.flatMap(({ rows }) => rows);
  return order.map((verdict) => ({ verdict, count: all.filter((row) => row.verdict === verdict).length }));
}
