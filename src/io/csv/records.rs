//! A table's text as records of fields. Nothing is kept of it: who wants the fields again goes through the text again.

use std::borrow::Cow;

use crate::error::{Result, bail};

/// What can be between fields.
const DELIMITERS: [u8; 4] = *b",;\t|";

/// One record after another; lines without anything are passed over.
#[derive(Debug, Clone)]
pub(super) struct Records<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    delimiter: u8,
}

impl<'a> Records<'a> {
    /// The records of a text whose fields are apart by what its first line has most of: commas, semicolons or tabs; bars where it has none of these.
    pub fn new(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        Self { text, at: 0, line: 0, delimiter: delimiter(text) }
    }

    /// What is between the fields.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// The next record: `see` is given each of its fields, with its column. The record's line, from 1, and how many fields it has.
    ///
    /// # Errors
    /// `Parse` for a quoted field that does not end, or goes on behind its end; what `see` says.
    pub fn next(&mut self, mut see: impl FnMut(usize, usize, &str) -> Result<()>) -> Result<Option<(usize, usize)>> {
        self.line += 1;
        while let Some(byte) = self.peek().filter(|byte| matches!(byte, b'\n' | b'\r')) {
            self.at += 1;
            // Of \r\n the second alone ends a line.
            self.line += usize::from(byte == b'\n' || self.peek() != Some(b'\n'));
        }
        if self.at >= self.text.len() {
            return Ok(None);
        }
        let (line, mut column) = (self.line, 0);
        loop {
            let field = self.field()?;
            see(line, column, field.trim())?;
            column += 1;
            match self.peek() {
                Some(byte) if byte == self.delimiter => self.at += 1,
                Some(b'\r') => {
                    self.at += 1;
                    self.at += usize::from(self.peek() == Some(b'\n'));
                    break;
                }
                Some(_) => {
                    self.at += 1;
                    break;
                }
                None => break,
            }
        }
        Ok(Some((line, column)))
    }

    /// The field that begins here; what ends it is next then.
    fn field(&mut self) -> Result<Cow<'a, str>> {
        if self.peek() == Some(b'"') {
            return self.quoted();
        }
        let rest = self.text.get(self.at..).unwrap_or_default();
        let end = rest.bytes().position(|byte| byte == self.delimiter || matches!(byte, b'\n' | b'\r'));
        let field = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
        self.at += field.len();
        Ok(Cow::Borrowed(field))
    }

    /// A field between quotes, in which two of them are one.
    fn quoted(&mut self) -> Result<Cow<'a, str>> {
        let began = self.line;
        let mut field: Option<String> = None;
        self.at += 1;
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let Some(end) = rest.find('"') else {
                bail!(Parse, "a quoted field begins in line {began} and does not end")
            };
            let piece = rest.get(..end).unwrap_or_default();
            self.line += piece.bytes().filter(|&byte| byte == b'\n').count();
            self.at += end + 1;
            let is_whole = match self.peek() {
                Some(b'"') => false,
                None | Some(b'\n' | b'\r') => true,
                Some(byte) if byte == self.delimiter => true,
                Some(_) => bail!(Parse, "line {}: a quoted field goes on behind its second quote", self.line),
            };
            if is_whole {
                return Ok(match field {
                    None => Cow::Borrowed(piece),
                    Some(field) => Cow::Owned(field + piece),
                });
            }
            self.at += 1;
            let field = field.get_or_insert_default();
            field.push_str(piece);
            field.push('"');
        }
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.at).copied()
    }
}

/// What the first line with anything in it has most of, quoted fields aside, bars where there is nothing else; a comma where it has none.
fn delimiter(text: &str) -> u8 {
    let first = text.trim_start_matches(['\n', '\r']);
    let (mut counts, mut is_quoted) = ([0usize; DELIMITERS.len()], false);
    for byte in first.bytes() {
        match byte {
            b'"' => is_quoted = !is_quoted,
            b'\n' | b'\r' if !is_quoted => break,
            _ if is_quoted => {}
            _ => counts.iter_mut().zip(DELIMITERS).for_each(|(count, known)| *count += usize::from(byte == known)),
        }
    }
    // A bar may be part of a name, as in `loss|train`.
    if let [others @ .., bars] = &mut counts
        && others.iter().any(|&count| count > 0)
    {
        *bars = 0;
    }
    let most = counts.iter().max().copied().unwrap_or_default();
    DELIMITERS.into_iter().zip(counts).find(|(_, count)| *count == most).map_or(b',', |(known, _)| known)
}

/// Does a text look like a table? Its first two lines have as many fields, more than one.
pub(super) fn is_table(text: &str) -> bool {
    let mut records = Records::new(text);
    let mut fields = || records.next(|_, _, _| Ok(())).ok().flatten().map(|(_, fields)| fields);
    let first = fields();
    first.is_some_and(|count| count > 1) && first == fields()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(text: &str) -> Vec<(usize, Vec<String>)> {
        let (mut records, mut out) = (Records::new(text), Vec::new());
        loop {
            let mut fields = Vec::new();
            let found = records.next(|_, _, field| {
                fields.push(field.to_owned());
                Ok(())
            });
            match found.expect("a table") {
                Some((line, count)) => {
                    assert_eq!(count, fields.len());
                    out.push((line, fields));
                }
                None => return out,
            }
        }
    }

    #[test]
    fn fields_are_taken_apart_by_what_the_first_line_has() {
        let barred = [("a|b|c", b'|'), ("loss|a,loss|b", b',')];
        for (text, delimiter) in
            [("a,b;c,d", b','), ("a;b;c,d", b';'), ("a\tb", b'\t'), ("\"a,b,c\";d", b';')].into_iter().chain(barred)
        {
            assert_eq!(Records::new(text).delimiter(), delimiter, "{text}");
        }
        let rows = |lines: [usize; 2]| {
            vec![(lines[0], vec!["a".into(), "b".into()]), (lines[1], vec!["1".into(), String::new()])]
        };
        assert_eq!(all("a,b\n1,"), rows([1, 2]));
        assert_eq!(all("\u{feff}a , b\r\n\r\n1,\r\n"), rows([1, 3]));
        assert_eq!(all("\na\tb\r1\t\r"), rows([2, 3]));
    }

    #[test]
    fn quotes_hold_delimiters_lines_and_quotes() {
        let found = all("\"a,\n\"\"b\"\"\",c\n\"\",1");
        assert_eq!(found, [(1, vec!["a,\n\"b\"".into(), "c".into()]), (3, vec![String::new(), "1".into()])]);
        for text in ["a,\"b", "a,\"b\"c", "\""] {
            assert!(Records::new(text).next(|_, _, _| Ok(())).is_err(), "{text}");
        }
    }
}
