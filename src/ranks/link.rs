//! What connects ranks, as numbers: how long a message takes to begin and how fast it is then.

use super::sum::{AT_ONCE, PIECE, SHORT};
use super::{Ranks, Word};
use crate::control::now;
use crate::error::{Error, Result};
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

/// Sums in a row that are timed together, and how often, of which the fastest counts. One alone would not tell: who comes to it later finds
/// the others' messages there, and waits for nothing.
const IN_A_ROW: usize = 8;
const ROUNDS: usize = 3;

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
        let numbers = numbers.max(2 * SHORT);
        let mut vector: Vec<f64> = zeros("numbers to be summed", numbers)?;
        let mut timed = |numbers: usize| {
            let mut fastest = f64::INFINITY;
            for _ in 0..ROUNDS {
                let begin = now();
                (0..IN_A_ROW).try_for_each(|_| ranks.sum(&weights, &mut vector[..numbers]))?;
                // Who is slowest holds up all, and all have to come to the same.
                fastest = ranks.largest(now() - begin)?.min(fastest);
            }
            Ok::<_, Error>((fastest / IN_A_ROW as f64).max(f64::MIN_POSITIVE))
        };
        let (short, long) = (timed(1)?, timed(numbers)?);
        let size = ranks.size() as f64;
        let latency = short / (size - 1.0).max(1.0);
        let begun = latency * 2.0 * (size - 1.0) * pieces(numbers, ranks.size());
        let sent = 2.0 * (size - 1.0) / size * (8 * numbers) as f64;
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

#[cfg(test)]
mod tests {
    use super::Link;
    use crate::control::now;
    use crate::error::Result;
    use crate::ranks::{Communicator, Ranks, Thread, threads};

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

    /// The guide's table of what a pass waits, made anew: vectors of f32, over two networks.
    #[test]
    fn the_guide_has_what_a_pass_waits() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/guides/cluster.md");
        let guide = std::fs::read_to_string(path).expect("the guide");
        let fast = Link { latency: 2e-6, rate: 1.25e10, measured: None };
        for (network, link) in [("10 Gbit/s, 20 µs", Link::ASSUMED), ("100 Gbit/s, 2 µs", fast)] {
            for (model, numbers) in [("LeNet", 61_706), ("ResNet-20", 269_722), ("ResNet-56", 853_018)] {
                let mut row = format!("| {network} | {model} |");
                for ranks in [1, 2, 10, 30, 100, 300, 1000] {
                    let milliseconds = 1e3 * link.seconds(ranks, numbers, 4);
                    row += &match milliseconds {
                        0.0 => " 0 |".into(),
                        m if m < 10.0 => format!(" {m:.2} |"),
                        m => format!(" {m:.1} |"),
                    };
                }
                assert!(guide.contains(&row), "{row}");
            }
        }
    }

    /// What so many ranks measure, each with its way to the others.
    fn measured<C: Communicator + 'static>(size: usize, way: fn(Thread) -> C) -> Vec<Link> {
        std::thread::scope(|scope| {
            let measure = |thread| {
                scope.spawn(move || {
                    let ranks = Ranks::new(Box::new(way(thread))).expect("ranks");
                    Link::measured(&ranks, 100_000).expect("a link")
                })
            };
            let all: Vec<_> = threads(size).into_iter().map(measure).collect();
            all.into_iter().map(|rank| rank.join().expect("no thread panics")).collect()
        })
    }

    /// Far away: what was sent is there after some milliseconds.
    struct Far(Thread);

    const FAR: f64 = 5e-3;

    impl Far {
        fn wait(&self) -> Result<()> {
            let mut sent = vec![0.0; self.size()];
            self.0.all_gather(bytemuck::bytes_of(&now()), bytemuck::cast_slice_mut(&mut sent))?;
            sent.remove(self.rank());
            let there = sent.into_iter().fold(0.0, f64::max) + FAR;
            std::thread::sleep(std::time::Duration::from_secs_f64((there - now()).max(0.0)));
            Ok(())
        }
    }

    impl Communicator for Far {
        fn rank(&self) -> usize {
            self.0.rank()
        }

        fn size(&self) -> usize {
            self.0.size()
        }

        fn on_machine(&self) -> (usize, usize) {
            (0, 1)
        }

        fn all_gather(&self, own: &[u8], all: &mut [u8]) -> Result<()> {
            self.wait()?;
            self.0.all_gather(own, all)
        }

        fn all_to_all(&self, own: &[u8], theirs: &mut [u8]) -> Result<()> {
            self.wait()?;
            self.0.all_to_all(own, theirs)
        }

        fn broadcast(&self, from: usize, bytes: &mut [u8]) -> Result<()> {
            self.0.broadcast(from, bytes)
        }
    }

    /// However the ranks come to it one after the other, a message takes as long as it takes.
    #[test]
    fn a_far_rank_is_measured_to_be_far() {
        for link in measured(2, Far) {
            // A busy computer adds to it.
            assert!((0.8 * FAR..10.0 * FAR).contains(&link.latency), "{link:?}");
        }
    }

    #[test]
    fn ranks_measure_the_same_link() {
        let found = measured(3, |thread| thread);
        let link = found[0];
        assert!(found.iter().all(|other| *other == link), "{found:?}");
        assert!(link.measured == Some(3) && link.latency > 0.0 && link.rate.is_finite() && link.rate > 0.0, "{link:?}");
    }
}
