//! Results as a page: one file, with nothing from elsewhere, light or dark as the reader has it.

use serde_json::Value;

use super::invocation::Invocation;
use super::svg;
use super::view::{Block, Cell, Mark, Table, blocks};

const STYLE: &str = "\
:root { color-scheme: light dark; --text: #1c2024; --quiet: #60646c; --line: #d9d9e0; --ground: #fcfcfd; --accent: #0b68cb; \
--good: #18794e; --bad: #ce2c31; --unsure: #8a5a00 }\n\
@media (prefers-color-scheme: dark) { :root { --text: #edeef0; --quiet: #b0b4ba; --line: #363a3f; --ground: #111113; \
--accent: #70b8ff; --good: #3dd68c; --bad: #ff9592; --unsure: #ffca16 } }\n\
body { margin: 0 auto; padding: 1rem; max-width: 60rem; font: 1rem/1.5 system-ui, sans-serif; color: var(--text); background: var(--ground) }\n\
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin: 2rem 0 .5rem }\n\
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem } dt { color: var(--quiet) } dd { margin: 0; overflow-wrap: anywhere }\n\
.wide { overflow-x: auto } table { border-collapse: collapse; font-variant-numeric: tabular-nums }\n\
th, td { padding: .25rem .75rem .25rem 0; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap }\n\
th:first-child, td:first-child { text-align: left; white-space: normal; min-width: 9rem } th { color: var(--quiet); font-weight: 500 }\n\
.good { color: var(--good) } .bad { color: var(--bad); font-weight: 600 } .unsure { color: var(--unsure) }\n\
svg { width: 100%; height: auto; max-width: 44rem } svg text { fill: var(--quiet); font: 11px system-ui, sans-serif }\n\
.axis { stroke: var(--line) } .curve { fill: none; stroke: var(--accent); stroke-width: 1.5 } .dot { fill: var(--accent) } .here { fill: none; stroke: #fff; stroke-width: 1.5 }\n\
ul, footer { color: var(--quiet) } li { overflow-wrap: anywhere }\n";

/// A command's result as a page.
pub fn page(invocation: &Invocation, result: &Value) -> String {
    let command = invocation.command.name();
    let of = result["model"]["files"][0].as_str().unwrap_or_default();
    let title = format!("isoflat {command}: {of}");
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, \
         initial-scale=1\">\n<title>{0}</title>\n<style>\n{STYLE}</style>\n<h1>{0}</h1>\n",
        escaped(&title)
    );
    for block in blocks(invocation, result) {
        out += &block_html(&block);
    }
    out += &format!("<footer><p>isoflat {}</p></footer>\n</html>\n", env!("CARGO_PKG_VERSION"));
    out
}

/// Text as HTML, wherever it stands.
pub(super) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out += "&amp;",
            '<' => out += "&lt;",
            '>' => out += "&gt;",
            '"' => out += "&quot;",
            '\'' => out += "&#39;",
            c if c.is_control() => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

fn block_html(block: &Block) -> String {
    match block {
        Block::Facts(facts) => {
            let fact =
                |(name, value): &(String, String)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(name), escaped(value));
            format!("<dl>\n{}</dl>\n", facts.iter().map(fact).collect::<String>())
        }
        Block::Table(table) => table_html(table),
        Block::Text(text) => format!("<p>{}</p>\n", escaped(text)),
        Block::Notes(notes) => {
            let note = |note: &String| format!("<li>{}</li>\n", escaped(note));
            format!("<ul>\n{}</ul>\n", notes.iter().map(note).collect::<String>())
        }
        Block::Plot(plot) => format!("<h2>{}</h2>\n{}", escaped(&plot.title), svg::plot(plot)),
        Block::Heat(heat) => format!("<h2>{}</h2>\n{}", escaped(&heat.title), svg::heat(heat)),
    }
}

fn table_html(table: &Table) -> String {
    let head: String = table.columns.iter().map(|head| format!("<th scope=\"col\">{}</th>", escaped(head))).collect();
    let cell = |cell: &Cell| {
        let class = match cell.mark {
            Mark::Plain => "",
            Mark::Good => " class=\"good\"",
            Mark::Bad => " class=\"bad\"",
            Mark::Unsure => " class=\"unsure\"",
        };
        format!("<td{class}>{}</td>", escaped(&cell.text))
    };
    let row = |row: &Vec<Cell>| format!("<tr>{}</tr>\n", row.iter().map(cell).collect::<String>());
    let rows: String = table.rows.iter().map(row).collect();
    format!(
        "<h2>{}</h2>\n<div class=\"wide\"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody>\n</table></div>\n",
        escaped(&table.title)
    )
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{escaped, page};
    use crate::cli::{Command, Invocation};

    #[test]
    fn nothing_that_files_say_is_markup() {
        assert_eq!(escaped("<a href=\"x\" b='y'>&\x07"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;\u{fffd}");
        let evil = "<script>alert(1)</script>\"'&";
        let result = json!({
            "model": { "files": [evil], "format": evil, "network": evil, "parameters": 3, "notes": [evil] },
            "data": { "files": [evil], "samples": 5, "loss": evil, "notes": [evil] },
            "backend": { "adapter": evil, "precision": evil },
            "title": evil,
            "dimension": 3,
            "names": [evil],
            "table": { "cells": [{ "measure": evil, "transformation": 0, "verdict": "changed", "agrees": false, "reason": evil }] },
            "eigenvalues": { "top": [{ "value": 1.0, "residual": 1e-9, "converged": true }], "bottom": [] },
            "density": { "grid": [0.0, 1.0], "density": [1.0, 2.0] },
            "landscape": { "s": [0.0, 1.0], "t": [0.0, 1.0], "loss": [1.0, 2.0, null, 4.0], "center": 1.0 },
            "directions": [evil],
            "training": { "history": [{ "epoch": evil, "loss": 1.0 }], "space": evil, "warning": evil },
            "written": { "file": evil, "bytes": 5 },
            "report": { "transformed": [{ "type": evil, "loss": 1.0 }], "loss": 1.0 },
            "sections": [{ "section": evil, "finished": false }],
        });
        for command in Command::ALL {
            let found = page(&Invocation::new(command), &result);
            assert!(!found.contains("<script") && !found.contains("'&"), "{command:?}: {found}");
            assert!(found.contains("&lt;script&gt;"), "{command:?}");
            assert!(!found.contains("src=") && !found.contains("http"), "{command:?} loads something");
            assert!(!found.contains("NaN") && !found.contains("inf"), "{command:?}: {found}");
        }
    }
}
