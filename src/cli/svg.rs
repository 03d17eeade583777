//! Figures of a page.

use super::html::escaped;
use super::number::number;
use super::view::{Heat, Plot};

/// Size of a figure, and what is around what is drawn: left, top, right, bottom.
const SIZE: (f64, f64) = (640.0, 320.0);
const MARGIN: (f64, f64, f64, f64) = (64.0, 24.0, 12.0, 44.0);
/// On a logarithmic scale what is smaller than the largest value by this is at the bottom.
const DECADES: f64 = 8.0;
/// Most points of a curve, and cells along a side of a map: more are not seen.
const MOST_POINTS: usize = 2000;
const MOST_CELLS: usize = 100;

/// From values to places.
struct Scale {
    low: f64,
    high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    fn of(values: impl Iterator<Item = f64>, from: f64, to: f64) -> Option<Self> {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        for value in values.filter(|value| value.is_finite()) {
            (low, high) = (low.min(value), high.max(value));
        }
        if low > high {
            return None;
        }
        // A span of nothing is shown in the middle.
        let half = if high > low { 0.0 } else { (low.abs() * 0.5).max(0.5) };
        Some(Self { low: low - half, high: high + half, from, to })
    }

    fn at(&self, value: f64) -> f64 {
        // Halved, so that a span over the whole range of numbers does not overflow.
        let share = (value / 2.0 - self.low / 2.0) / (self.high / 2.0 - self.low / 2.0);
        self.from + (self.to - self.from) * share.clamp(0.0, 1.0)
    }

    /// Round numbers within it, about five.
    fn ticks(&self) -> Vec<f64> {
        let span = self.high - self.low;
        let rough = span / 5.0;
        let power = 10f64.powf(rough.log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].map(|factor| factor * power).into_iter().find(|&step| step >= rough);
        let Some(step) = step.filter(|step| step.is_finite() && *step > 0.0) else { return vec![self.low, self.high] };
        let first = (self.low / step).ceil();
        let ticks = (0..12).map(|i| (first + f64::from(i)) * step);
        // Zero, and not what rounding made of it.
        ticks
            .take_while(|&tick| tick <= self.high * (1.0 + 1e-12))
            .map(|t| if t.abs() < step / 1e6 { 0.0 } else { t })
            .collect()
    }
}

fn begun(label: &str, height: f64) -> String {
    format!("<svg viewBox=\"0 0 {} {height}\" role=\"img\" aria-label=\"{}\">\n", SIZE.0, escaped(label))
}

fn text(x: f64, y: f64, anchor: &str, said: &str) -> String {
    format!("<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\">{}</text>\n", escaped(said))
}

/// A curve or sticks.
pub(super) fn plot(plot: &Plot) -> String {
    let (left, top, right, bottom) = (MARGIN.0, MARGIN.1, SIZE.0 - MARGIN.2, SIZE.1 - MARGIN.3);
    let every = plot.points.len().div_ceil(MOST_POINTS).max(1);
    let largest = plot.points.iter().map(|&(_, y)| y).filter(|y| y.is_finite()).fold(f64::NEG_INFINITY, f64::max);
    let floor = largest * 10f64.powf(-DECADES);
    let height = |y: f64| if plot.is_log { y.max(floor).log10() } else { y };
    let points: Vec<(f64, f64)> = plot.points.iter().step_by(every).map(|&(x, y)| (x, height(y))).collect();
    let is_stick = !plot.is_line;
    let zero = (is_stick && !plot.is_log).then_some(0.0);
    // Sticks stand off the sides.
    let room = if is_stick { 0.5 } else { 0.0 };
    let x = Scale::of(points.iter().flat_map(|point| [point.0 - room, point.0 + room]), left, right);
    let y = Scale::of(points.iter().map(|point| point.1).chain(zero), bottom, top);
    let (Some(x), Some(y)) = (x, y) else { return "<p>There is no finite value to show.</p>\n".into() };
    let mut out = begun(&plot.title, SIZE.1);
    for tick in y.ticks() {
        let at = y.at(tick);
        out += &format!("<line class=\"axis\" x1=\"{left}\" x2=\"{right}\" y1=\"{at:.1}\" y2=\"{at:.1}\"/>\n");
        let said = if plot.is_log { number(10f64.powf(tick)) } else { number(tick) };
        out += &text(left - 6.0, at + 4.0, "end", &said);
    }
    for tick in x.ticks() {
        out += &text(x.at(tick), bottom + 16.0, "middle", &number(tick));
    }
    out += &text((left + right) / 2.0, SIZE.1 - 8.0, "middle", &plot.x);
    out += &text(left, top - 10.0, "start", &plot.y);
    if is_stick {
        let base = y.at(zero.unwrap_or(y.low));
        for &(px, py) in points.iter().filter(|point| point.1.is_finite()) {
            let (px, py) = (x.at(px), y.at(py));
            out += &format!(
                "<path class=\"curve\" d=\"M{px:.1} {base:.1}V{py:.1}\"/><circle class=\"dot\" cx=\"{px:.1}\" cy=\"{py:.1}\" r=\"2\"/>\n"
            );
        }
    } else {
        out += &curve(&points, &x, &y);
    }
    out + "</svg>\n"
}

/// A line that is interrupted where there is no number.
fn curve(points: &[(f64, f64)], x: &Scale, y: &Scale) -> String {
    let mut path = String::new();
    let mut is_drawing = false;
    for &(px, py) in points {
        if py.is_finite() {
            path += &format!("{}{:.1} {:.1}", if is_drawing { 'L' } else { 'M' }, x.at(px), y.at(py));
        }
        is_drawing = py.is_finite();
    }
    format!("<path class=\"curve\" d=\"{path}\"/>\n")
}

/// A map of squares, from blue over green to yellow; what is not finite is grey.
pub(super) fn heat(heat: &Heat) -> String {
    let (columns, rows) = (heat.s.len(), heat.values.len() / heat.s.len().max(1));
    let Some(shade) = Scale::of(heat.values.iter().copied(), 0.0, 1.0) else {
        return "<p>There is no finite value to show.</p>\n".into();
    };
    let every = columns.max(rows).div_ceil(MOST_CELLS).max(1);
    let (across, down) = (columns.div_ceil(every), rows.div_ceil(every));
    let (left, top, side) = (MARGIN.0, MARGIN.1, (SIZE.0 - 2.0 * MARGIN.0) / across as f64);
    let bottom = top + side * down as f64;
    let mut out = begun(&heat.title, bottom + 64.0);
    out += "<g shape-rendering=\"crispEdges\">\n";
    for (j, row) in heat.values.chunks_exact(columns.max(1)).step_by(every).enumerate() {
        for (i, &value) in row.iter().step_by(every).enumerate() {
            let colour = if value.is_finite() { colour(shade.at(value)) } else { "#888888".into() };
            let (px, py) = (left + side * i as f64, bottom - side * (j + 1) as f64 - 0.5);
            // A little over the next one: no seams.
            let wide = side + 0.5;
            out += &format!(
                "<rect x=\"{px:.2}\" y=\"{py:.2}\" width=\"{wide:.2}\" height=\"{wide:.2}\" fill=\"{colour}\"/>\n"
            );
        }
    }
    out += "</g>\n";
    let right = left + side * across as f64;
    // The parameters themselves, where they are on the map.
    let [s, t] = [(&heat.s, left, right), (&heat.t, bottom, top)].map(|(values, from, to)| {
        let scale = Scale::of(values.iter().copied(), from, to)?;
        (scale.low <= 0.0 && 0.0 <= scale.high).then(|| scale.at(0.0))
    });
    if let (Some(s), Some(t)) = (s, t) {
        out += &format!("<circle class=\"here\" cx=\"{s:.1}\" cy=\"{t:.1}\" r=\"4\"/>\n");
    }
    for (values, is_across) in [(&heat.s, true), (&heat.t, false)] {
        for (value, share) in [(values.first(), 0.0), (values.last(), 1.0)] {
            let Some(&value) = value else { continue };
            out += &match is_across {
                true => text(left + (right - left) * share, bottom + 16.0, "middle", &number(value)),
                false => text(left - 6.0, bottom + (top - bottom) * share + 4.0, "end", &number(value)),
            };
        }
    }
    for i in 0..20 {
        let (px, width) = (left + (right - left) * f64::from(i) / 20.0, (right - left) / 20.0);
        let colour = colour((f64::from(i) + 0.5) / 20.0);
        out += &format!(
            "<rect x=\"{px:.2}\" y=\"{:.2}\" width=\"{width:.2}\" height=\"10\" fill=\"{colour}\"/>\n",
            bottom + 28.0
        );
    }
    out += &text(left, bottom + 52.0, "start", &number(shade.low));
    out += &text(right, bottom + 52.0, "end", &number(shade.high));
    out + "</svg>\n"
}

/// A colour of a share, of even lightness steps.
fn colour(share: f64) -> String {
    const STOPS: [[f64; 3]; 5] =
        [[52.0, 28.0, 98.0], [56.0, 88.0, 140.0], [36.0, 142.0, 139.0], [104.0, 194.0, 92.0], [250.0, 226.0, 52.0]];
    let place = share.clamp(0.0, 1.0) * (STOPS.len() - 1) as f64;
    let first = (place as usize).min(STOPS.len() - 2);
    let rest = place - first as f64;
    let [r, g, b] = [0, 1, 2].map(|i| (STOPS[first][i] * (1.0 - rest) + STOPS[first + 1][i] * rest).round() as u8);
    format!("#{r:02x}{g:02x}{b:02x}")
}

#[cfg(test)]
mod tests {
    use super::{Scale, colour, heat, plot};
    use crate::cli::view::{Heat, Plot};

    #[test]
    fn ticks_are_round_and_within() {
        let scale = Scale::of([-0.03, 1.02].into_iter(), 0.0, 1.0).expect("finite values");
        let ticks: Vec<String> = scale.ticks().iter().map(|tick| format!("{tick:.3}")).collect();
        assert_eq!(ticks, ["0.000", "0.500", "1.000"]);
        let flat = Scale::of([3.0, 3.0].into_iter(), 0.0, 1.0).expect("finite values");
        assert_eq!(flat.at(3.0), 0.5);
        assert!(Scale::of([f64::NAN].into_iter(), 0.0, 1.0).is_none());
    }

    #[test]
    fn what_is_not_finite_leaves_a_gap_and_no_number() {
        for values in [
            [1.0, f64::INFINITY, 2.0],
            [f64::MAX, -f64::MAX, 0.0],
            [0.0, 0.0, 0.0],
            [f64::NAN; 3],
            [1e-300, 1e300, 0.0],
        ] {
            for (is_log, is_line) in [(false, true), (true, true), (false, false)] {
                let points = values.iter().enumerate().map(|(i, &y)| (i as f64, y)).collect();
                let found = plot(&Plot { points, is_log, is_line, ..Plot::default() });
                assert!(!found.contains("NaN") && !found.contains("inf"), "{values:?}: {found}");
            }
            let (s, t, values) = (vec![0.0, 1.0, 2.0], vec![0.0], values.to_vec());
            let found = heat(&Heat { title: "L".into(), s, t, values: values.clone() });
            assert!(!found.contains("NaN") && !found.contains("inf"), "{values:?}: {found}");
        }
        let points = [1.0, f64::INFINITY, 2.0].iter().enumerate().map(|(i, &y)| (i as f64, y)).collect();
        let found = plot(&Plot { points, is_line: true, ..Plot::default() });
        assert_eq!(found.matches('M').count(), 2, "{found}");
    }

    #[test]
    fn colours_go_from_end_to_end() {
        assert_eq!((colour(0.0).as_str(), colour(1.0).as_str()), ("#341c62", "#fae234"));
    }
}
