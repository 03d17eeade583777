//! Results as text: tables that are aligned, and at most 100 columns wide.

use serde_json::Value;

use super::help::wrapped;
use super::invocation::Invocation;
use super::number::number;
use super::view::{Block, Heat, Mark, Table, blocks};

/// Longest line.
const WIDTH: usize = 100;
/// The first column is cut down to this, where that is needed.
const NARROWEST: usize = 24;
const GAP: &str = "  ";

/// A command's result as text, in colours if the terminal wants them.
pub fn text(invocation: &Invocation, result: &Value, colour: bool) -> String {
    let parts = blocks(invocation, result);
    let parts = parts.iter().map(|block| block_text(block, colour)).filter(|part| !part.is_empty());
    parts.collect::<Vec<String>>().join("\n")
}

fn block_text(block: &Block, colour: bool) -> String {
    match block {
        Block::Facts(facts) => facts_text(facts),
        Block::Table(table) => table_text(table, colour),
        Block::Text(text) => wrapped(&plain(text), ""),
        Block::Notes(notes) => notes.iter().map(|note| hanging(&plain(note))).collect(),
        // Tables have what a curve shows.
        Block::Plot(_) => String::new(),
        Block::Heat(heat) => heat_text(heat),
    }
}

/// Without what would move a terminal's cursor: names come from files.
fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect()
}

fn hanging(note: &str) -> String {
    let lines = wrapped(note, "  ");
    format!("· {}", lines.strip_prefix("  ").unwrap_or(&lines))
}

fn width_of(text: &str) -> usize {
    text.chars().count()
}

fn facts_text(facts: &[(String, String)]) -> String {
    let width = facts.iter().map(|(name, _)| width_of(name)).max().unwrap_or(0);
    let indent = " ".repeat(width + GAP.len());
    let line = |(name, value): &(String, String)| {
        let lines = wrapped(&plain(value), &indent);
        format!("{name:<width$}{GAP}{}", lines.strip_prefix(&indent).unwrap_or(&lines))
    };
    facts.iter().map(line).collect()
}

fn table_text(table: &Table, colour: bool) -> String {
    let rows: Vec<Vec<String>> =
        table.rows.iter().map(|row| row.iter().map(|cell| plain(&cell.text)).collect()).collect();
    let mut widths: Vec<usize> = table.columns.iter().map(|head| width_of(head)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = (*width).max(width_of(cell));
        }
    }
    let all: usize = widths.iter().sum::<usize>() + GAP.len() * widths.len().saturating_sub(1);
    if let Some(first) = widths.first_mut() {
        *first = (*first).min((*first + WIDTH).saturating_sub(all).max(NARROWEST.min(*first)));
    }
    let mut out = format!("{}\n", plain(&table.title));
    let heads: Vec<String> = table.columns.iter().map(|head| plain(head)).collect();
    out += line(&heads, &widths, |_, text| text).trim_end();
    out.push('\n');
    out += &widths.iter().map(|&width| "─".repeat(width)).collect::<Vec<String>>().join(GAP);
    out.push('\n');
    for (row, cells) in table.rows.iter().zip(&rows) {
        let painted = |i: usize, text: String| match row.get(i) {
            Some(cell) if colour => coloured(text, cell.mark),
            _ => text,
        };
        out += line(cells, &widths, painted).trim_end();
        out.push('\n');
    }
    out
}

/// Cells side by side: the first from the left, the others to the right.
fn line(cells: &[String], widths: &[usize], paint: impl Fn(usize, String) -> String) -> String {
    let cell = |(i, (text, &width)): (usize, (&String, &usize))| {
        let text = cut(text, width);
        let space = " ".repeat(width - width_of(&text));
        match i {
            0 => format!("{}{space}", paint(i, text)),
            _ => format!("{space}{}", paint(i, text)),
        }
    };
    cells.iter().zip(widths).enumerate().map(cell).collect::<Vec<String>>().join(GAP)
}

fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.into();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).take(width).collect()
}

fn coloured(text: String, mark: Mark) -> String {
    let code = match mark {
        Mark::Plain => return text,
        Mark::Good => 32,
        Mark::Bad => 31,
        Mark::Unsure => 33,
    };
    format!("\x1b[{code}m{text}\x1b[0m")
}

/// A plane in characters: the darker, the higher.
fn heat_text(heat: &Heat) -> String {
    const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
    /// Two characters a point are about a square.
    const MOST: usize = WIDTH / 2;
    let columns = heat.s.len();
    if columns == 0 || heat.values.len() < columns {
        return String::new();
    }
    let finite = || heat.values.iter().copied().filter(|value| value.is_finite());
    let [low, high] = [finite().fold(f64::INFINITY, f64::min), finite().fold(f64::NEG_INFINITY, f64::max)];
    let shade = |value: f64| {
        let share = if high > low { (value - low) / (high - low) } else { 0.0 };
        let last = SHADES.len() - 1;
        SHADES[if value.is_finite() { ((share * last as f64).round() as usize).min(last) } else { last }]
    };
    let every = columns.max(heat.values.len() / columns).div_ceil(MOST);
    let rows: Vec<&[f64]> = heat.values.chunks_exact(columns).step_by(every).collect();
    let caption = format!(
        "{}, from {} (blank) to {} (@); the first direction goes right, the second up",
        heat.title,
        number(low),
        number(high)
    );
    let mut out = wrapped(&caption, "");
    for row in rows.into_iter().rev() {
        let line: String = row.iter().step_by(every).flat_map(|&value| [shade(value); 2]).collect();
        out += line.trim_end();
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{WIDTH, block_text, text, width_of};
    use crate::cli::view::{Block, Cell, Heat, Mark, Table};
    use crate::cli::{Command, Invocation};

    fn table() -> Table {
        let cell = |text: &str| Cell::from(text);
        let long =
            "a measure with a name that is longer than all that a terminal would show of it side by side with others";
        Table {
            title: "T".into(),
            columns: ["measure", "value", "verdict"].map(String::from).to_vec(),
            rows: vec![
                vec![cell("κ"), cell("1.5"), Cell::marked("stays", Mark::Good)],
                vec![cell(long), cell("12345"), Cell::marked("MOVES 3.0e2", Mark::Bad)],
            ],
        }
    }

    #[test]
    fn columns_are_aligned_and_fit() {
        let found = block_text(&Block::Table(table()), false);
        let lines: Vec<&str> = found.lines().collect();
        assert_eq!(lines.len(), 5);
        for line in &lines[1..] {
            assert!(width_of(line) <= WIDTH, "{line}");
        }
        let end = |line: &str, part: &str| width_of(&line[..line.find(part).expect("it is there") + part.len()]);
        assert_eq!(end(lines[1], "value"), end(lines[3], "1.5"));
        assert_eq!(end(lines[1], "verdict"), end(lines[4], "3.0e2"));
        assert!(lines[4].contains('…'));
    }

    #[test]
    fn colours_are_there_when_wanted_and_change_no_width() {
        let plain = block_text(&Block::Table(table()), false);
        let painted = block_text(&Block::Table(table()), true);
        assert!(!plain.contains('\x1b') && painted.contains("\x1b[32mstays\x1b[0m"));
        let bare = ["\x1b[32m", "\x1b[31m", "\x1b[0m"].iter().fold(painted, |text, code| text.replace(code, ""));
        assert_eq!(bare, plain);
    }

    #[test]
    fn names_of_files_cannot_move_the_cursor() {
        let result =
            json!({ "model": { "files": ["a\x1b[2Jb\r"], "network": "2-3", "parameters": 1500, "notes": ["x\x07"] } });
        let found = text(&Invocation::new(Command::Convert), &result, true);
        assert!(!found.contains('\x1b') && !found.contains('\r') && !found.contains('\x07'), "{found:?}");
        assert!(found.contains("2-3, 1,500 parameters"), "{found}");
    }

    #[test]
    fn a_plane_is_a_map_with_the_first_row_at_the_bottom() {
        let heat = Heat {
            title: "L".into(),
            s: vec![-1.0, 1.0],
            t: vec![-1.0, 1.0],
            values: vec![0.0, 9.0, f64::INFINITY, 3.0],
        };
        assert_eq!(
            block_text(&Block::Heat(heat), false),
            "L, from 0 (blank) to 9 (@); the first direction goes right, the second up\n@@--\n  @@\n"
        );
    }
}
