//! Numbers for people.

use serde_json::Value;

/// Five digits, as they are read most easily.
pub(super) fn number(x: f64) -> String {
    if x == 0.0 {
        return "0".into();
    }
    if !x.is_finite() {
        return "—".into();
    }
    match x.abs() {
        size if (1e-3..1e5).contains(&size) => {
            let before = size.log10().floor() as i32;
            let text = format!("{x:.*}", (4 - before).max(0) as usize);
            trimmed(&text).into()
        }
        _ => {
            let text = format!("{x:.4e}");
            text.split_once('e').map_or(text.clone(), |(digits, power)| format!("{}e{power}", trimmed(digits)))
        }
    }
}

/// Without zeros at the end of a fraction.
fn trimmed(digits: &str) -> &str {
    match digits.contains('.') {
        true => digits.trim_end_matches('0').trim_end_matches('.'),
        false => digits,
    }
}

/// Two digits: of errors and tolerances.
pub(super) fn rough(x: f64) -> String {
    match x.abs() {
        0.0 => "0".into(),
        size if !size.is_finite() => "—".into(),
        size if (10.0..1e3).contains(&size) => format!("{x:.0}"),
        size if (1.0..10.0).contains(&size) => format!("{x:.1}"),
        size if (0.01..1.0).contains(&size) => format!("{x:.2}"),
        _ => format!("{x:.1e}"),
    }
}

/// A number of a JSON; none has the dash.
pub(super) fn of(value: &Value) -> String {
    value.as_f64().map_or("—".into(), number)
}

/// A whole number, its digits in threes.
pub(super) fn whole(n: u64) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A share as people say it.
pub(super) fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

/// A time as people say it.
pub(super) fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => "some time".into(),
        s if s < 1.0 => "a second".into(),
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::{duration, number, percent, rough, whole};

    #[test]
    fn numbers_have_five_digits() {
        for (x, expected) in [
            (0.0, "0"),
            (1.0, "1"),
            (0.123_456_78, "0.12346"),
            (12.345_678, "12.346"),
            (99_999.4, "99999"),
            (123_456.0, "1.2346e5"),
            (-0.001_234_567, "-0.0012346"),
            (1.234_567e-5, "1.2346e-5"),
            (1500.0, "1500"),
            (1e-4, "1e-4"),
            (-2.5e10, "-2.5e10"),
            (f64::NAN, "—"),
        ] {
            assert_eq!(number(x), expected, "{x}");
        }
        let shown = [3.456e-9, 0.0, 0.123, 3.456, 41.2, 1234.0, f64::INFINITY].map(rough);
        assert_eq!(shown, ["3.5e-9", "0", "0.12", "3.5", "41", "1.2e3", "—"]);
        assert_eq!((whole(54_814), whole(100), whole(1_000_000)), ("54,814".into(), "100".into(), "1,000,000".into()));
        assert_eq!(percent(0.98765), "98.77 %");
        assert_eq!([5.0, 100.0, 7200.0].map(duration), ["5 s", "2 min", "2 h"]);
    }
}
