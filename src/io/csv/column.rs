//! What a column of a table is, from its fields.

use crate::io::dataset::listed;

/// Fields that say that there is no value.
const MISSING: [&str; 6] = ["", "na", "n/a", "nan", "null", "?"];

/// A field's number. Where fields are apart by semicolons, a comma may stand for the point.
pub(super) fn number(field: &str, delimiter: u8) -> Option<f64> {
    match field.parse() {
        Ok(number) => Some(number),
        Err(_) if delimiter == b';' && field.bytes().filter(|&byte| byte == b',').count() == 1 => {
            field.replacen(',', ".", 1).parse().ok()
        }
        Err(_) => None,
    }
}

/// May the point of a field stand between thousands, as in 1.000?
fn may_be_thousands(field: &str) -> bool {
    let mut groups = field.trim_start_matches(['-', '+']).split('.');
    let is =
        |group: &str, lengths: &[usize]| lengths.contains(&group.len()) && group.bytes().all(|b| b.is_ascii_digit());
    let first = groups.next().is_some_and(|group| is(group, &[1, 2, 3]) && !group.starts_with('0'));
    let rest: Vec<&str> = groups.collect();
    first && !rest.is_empty() && rest.iter().all(|group| is(group, &[3]))
}

/// Does a field say that there is no value?
pub(super) fn is_missing(field: &str) -> bool {
    MISSING.iter().any(|missing| field.eq_ignore_ascii_case(missing))
}

/// A column: its name, and what all its fields were.
#[derive(Debug)]
pub(super) struct Column {
    pub name: String,
    pub numbers: usize,
    /// The line of the first text, and of the first field without a value.
    pub text: Option<usize>,
    pub missing: Option<usize>,
    /// Likewise of the first number with a comma in it, and with a point as between thousands.
    pub comma: Option<usize>,
    pub thousands: Option<usize>,
    /// Are all numbers whole?
    pub is_whole: bool,
    /// Are all of them bytes?
    is_bytes: bool,
    /// Is each one more than that before it?
    is_counting: bool,
    last: f64,
}

impl Column {
    pub fn new(name: String) -> Self {
        let (text, missing, comma, thousands) = (None, None, None, None);
        Self {
            name,
            numbers: 0,
            text,
            missing,
            comma,
            thousands,
            is_whole: true,
            is_bytes: true,
            is_counting: true,
            last: 0.0,
        }
    }

    /// One more field, of this line.
    pub fn see(&mut self, line: usize, field: &str, delimiter: u8) {
        if is_missing(field) {
            self.missing.get_or_insert(line);
        } else if let Some(number) = number(field, delimiter) {
            if field.contains(',') {
                self.comma.get_or_insert(line);
            } else if may_be_thousands(field) {
                self.thousands.get_or_insert(line);
            }
            self.is_whole &= number.fract() == 0.0;
            self.is_bytes &= number.fract() == 0.0 && (0.0..=255.0).contains(&number);
            self.is_counting &= self.numbers == 0 || number == self.last + 1.0;
            self.last = number;
            self.numbers += 1;
        } else {
            self.text.get_or_insert(line);
        }
    }

    /// Nothing but text: no number could be made of it.
    pub fn is_text(&self) -> bool {
        self.numbers == 0 && self.text.is_some()
    }

    /// A pixel by its name, pixel17 or 3x5, and by its values?
    pub fn is_pixel(&self) -> bool {
        self.is_bytes && self.text.is_none() && is_pixel_name(&self.name)
    }

    /// The number of the row, which a program wrote in front of it?
    pub fn is_index(&self) -> bool {
        let is_named = ["", "id", "index", "unnamed: 0"].iter().any(|name| self.name.eq_ignore_ascii_case(name));
        is_named && self.is_counting && self.numbers > 1 && self.text.is_none() && self.missing.is_none()
    }

    /// The name, for messages.
    pub fn said(&self, at: usize) -> String {
        if self.name.is_empty() {
            format!("{} (it has no name)", at + 1)
        } else {
            format!("{:?}", listed(&[&self.name]))
        }
    }
}

/// pixel17, pixel_17, or 3x5.
fn is_pixel_name(name: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let lower = name.to_ascii_lowercase();
    match lower.strip_prefix("pixel") {
        Some(rest) => is_number(rest.trim_start_matches(['_', ' ', '-'])),
        None => lower.split_once('x').is_some_and(|(row, column)| is_number(row) && is_number(column)),
    }
}
