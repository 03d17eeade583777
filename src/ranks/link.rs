//! What connects ranks, as numbers: how long a message takes to begin and how fast it is then.

use super::sum::{AT_ONCE, PIECE, SHORT};
use super::{Ranks, Word};
use crate::control::now;
use crate::error::Result;
use crate::memory::zeros;

/// The way from rank to rank.
///
/// A sum of n bytes over P ranks is two exchanges, of which each sends P − 1 messages of n / P bytes from every rank at the same time:
/// 2 (P − 1) (latency + n / (P · rate)). What is short is one exchange. Before each sum the ranks agree, in another short one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Link {
    /// Seconds that a message takes before its first byte.
    pub latency: f64,
    /// Bytes a second, in and out of one rank.
    pub rate: f64,
    /// The ranks between which it was measured; none where it is assumed.
    pub measured: Option<usize>,
}

/// Sums that are timed, of which the fastest counts.
const ROUNDS: usize = 5;

impl Link {
    /// A network of 10 Gbit/s.
    pub const ASSUMED: Self = Self { latency: 2e-5, rate: 1.25e9, measured: None };

    /// Of these ranks, by sums of one number and of this many.
    ///
    /// # Errors
    /// `TooLarge`; `DeviceLost` where a rank is gone.
    pub fn measured(ranks: &Ranks, numbers: usize) -> Result<Self> {
        let weights = vec![1.0; ranks.size()];
        // So many that they do not go whole to all.
        let mut vector: Vec<f64> = zeros("numbers to be summed", numbers.max(2 * SHORT))?;
        let (mut short, mut long) = (f64::INFINITY, f64::INFINITY);
        for _ in 0..ROUNDS {
            short = short.min(timed(|| ranks.sum(&weights, &mut vector[..1]))?);
            long = long.min(timed(|| ranks.sum(&weights, &mut vector))?);
        }
        // Who is slowest holds up all, and all have to come to the same.
        let short = ranks.largest(short)?.max(f64::MIN_POSITIVE);
        let long = ranks.largest(long)?.max(f64::MIN_POSITIVE);
        let size = ranks.size() as f64;
        let latency = short / (size - 1.0).max(1.0);
        let begun = latency * 2.0 * (size - 1.0) * pieces(vector.len(), ranks.size());
        let sent = 2.0 * (size - 1.0) / size * (8 * vector.len()) as f64;
        let rate = sent / (long - begun).max(0.1 * long);
        Ok(Self { latency, rate, measured: Some(ranks.size()) })
    }

    /// Seconds for which a pass over the data waits for the other ranks, of which there are so many, when all of them come to its end at
    /// once: they agree, and sum up so many numbers of these bytes.
    pub fn seconds(&self, ranks: usize, numbers: usize, bytes: usize) -> f64 {
        if ranks < 2 {
            return 0.0;
        }
        let others = ranks as f64 - 1.0;
        let exchange = |pieces: f64, bytes: f64| others * (pieces * self.latency + bytes / self.rate);
        let all = (numbers * bytes) as f64;
        let sum = match numbers * ranks <= SHORT {
            true => exchange(1.0, all),
            false => 2.0 * exchange(pieces(numbers, ranks), all / ranks as f64),
        };
        exchange(1.0, size_of::<Word>() as f64) + sum
    }
}

/// How often a sum begins anew, since so many numbers do not go at once.
fn pieces(numbers: usize, ranks: usize) -> f64 {
    numbers.div_ceil(AT_ONCE.max(PIECE * ranks)) as f64
}

fn timed(sum: impl FnOnce() -> Result<()>) -> Result<f64> {
    let begin = now();
    sum()?;
    Ok(now() - begin)
}

#[cfg(test)]
mod tests {
    use super::Link;
    use crate::ranks::{Ranks, threads};

    #[test]
    fn a_sum_is_two_exchanges_and_one_rank_waits_for_nobody() {
        let link = Link { latency: 1e-3, rate: 1e6, measured: None };
        assert_eq!(link.seconds(1, 1_000_000, 8), 0.0);
        // Two ranks agree (32 bytes) and send half of 80,000 bytes twice.
        let expected = (1e-3 + 32e-6) + 2.0 * (1e-3 + 0.04);
        assert!((link.seconds(2, 10_000, 8) - expected).abs() < 1e-12);
        // A loss goes whole to the other three.
        let expected = 3.0 * (1e-3 + 32e-6) + 3.0 * (1e-3 + 8e-6);
        assert!((link.seconds(4, 1, 8) - expected).abs() < 1e-12);
        // However many ranks: not twice the vector twice over.
        let far = Link { latency: 0.0, ..link };
        assert!(far.seconds(1000, 1_000_000, 8) < 2.0 * 8.0 + 0.1);
    }

    #[test]
    fn ranks_measure_the_same_link() {
        let found = std::thread::scope(|scope| {
            let all: Vec<_> = threads(3)
                .into_iter()
                .map(|thread| {
                    scope.spawn(move || {
                        let ranks = Ranks::new(Box::new(thread)).expect("ranks");
                        Link::measured(&ranks, 100_000).expect("a link")
                    })
                })
                .collect();
            all.into_iter().map(|rank| rank.join().expect("no thread panics")).collect::<Vec<_>>()
        });
        let link = found[0];
        assert!(found.iter().all(|other| *other == link), "{found:?}");
        assert!(link.measured == Some(3) && link.latency > 0.0 && link.rate.is_finite() && link.rate > 0.0, "{link:?}");
    }
}
