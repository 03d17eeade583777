//! Where work stands, as a line.

use super::number::{duration, number};
use crate::control::Progress;

/// Makes lines of progress, with the time that is left. It has no clock: whoever has the terminal has one.
#[derive(Debug, Default)]
pub struct Meter {
    phase: String,
    /// When the phase began, and at which step.
    began: (f64, usize),
}

impl Meter {
    /// A line on where work stands at this time, in seconds from any moment.
    pub fn line(&mut self, progress: &Progress, now: f64) -> String {
        if progress.phase != self.phase || progress.done < self.began.1 {
            self.phase.clone_from(&progress.phase);
            self.began = (now, progress.done);
        }
        let mut line = format!("{} {}/{}", progress.phase, progress.done, progress.total);
        if let Some(estimate) = progress.estimate {
            line += &format!(": {}", number(estimate));
        }
        for name in ["loss", "accuracy"] {
            if let Some(&value) = progress.numbers.get(name) {
                line += &format!(", {name} {}", number(value));
            }
        }
        if let Some(left) = self.left(progress, now) {
            line += &format!(", about {} left", duration(left));
        }
        line
    }

    /// What the work says itself, or what its steps so far say.
    fn left(&self, progress: &Progress, now: f64) -> Option<f64> {
        if let Some(&left) = progress.numbers.get("remainingSeconds") {
            return Some(left);
        }
        let (begin, first) = self.began;
        let (taken, steps) = (now - begin, progress.done.saturating_sub(first));
        // The first steps tell little.
        (taken > 1.0 && steps > 1).then(|| taken / steps as f64 * progress.total.saturating_sub(progress.done) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;
    use crate::control::Progress;

    #[test]
    fn a_line_says_what_is_left() {
        let mut meter = Meter::default();
        assert_eq!(meter.line(&Progress::new("training", 0, 100), 5.0), "training 0/100");
        let later = Progress::new("training", 20, 100).with("loss", 0.5);
        assert_eq!(meter.line(&later, 15.0), "training 20/100, loss 0.5, about 40 s left");
        let next = Progress::new("hessian", 3, 10).with("remainingSeconds", 7.0);
        assert_eq!(meter.line(&next, 16.0), "hessian 3/10, about 7 s left");
        // A phase that begins again is timed anew.
        assert_eq!(meter.line(&Progress::new("hessian", 0, 10), 20.0), "hessian 0/10");
    }
}
