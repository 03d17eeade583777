//! What is done to inputs before a network sees them.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use crate::error::{Error, ErrorCode, Result, ensure};

/// x becomes (x / divisor − mean)/deviation. Data that are no pixels, floating-point numbers outside of 0 to 255 or within 0 to 1, are
/// not divided.
///
/// In JSON it is a name, of [`Normalization::NAMES`], or `{"mean": [...], "deviation": [...]}`, with `divisor` where pixels are not to be
/// divided by 255.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Normalization {
    /// What pixels are divided by first.
    pub divisor: f64,
    /// A number a channel, or one for all.
    pub mean: Vec<f64>,
    /// Likewise, positive.
    pub deviation: Vec<f64>,
}

/// Name, divisor, means, deviations.
type Known = (&'static str, f64, &'static [f64], &'static [f64]);

/// Those that have names, as the data sets' users have agreed on them.
const KNOWN: [Known; 8] = [
    ("none", 1.0, &[0.0], &[1.0]),
    ("unit", 255.0, &[0.0], &[1.0]),
    ("minus_one_to_one", 255.0, &[0.5], &[0.5]),
    ("mnist", 255.0, &[0.1307], &[0.3081]),
    ("fashion_mnist", 255.0, &[0.2860], &[0.3530]),
    ("cifar10", 255.0, &[0.4914, 0.4822, 0.4465], &[0.2470, 0.2435, 0.2616]),
    ("cifar100", 255.0, &[0.5071, 0.4865, 0.4409], &[0.2673, 0.2564, 0.2762]),
    ("imagenet", 255.0, &[0.485, 0.456, 0.406], &[0.229, 0.224, 0.225]),
];

impl Normalization {
    /// The names there are: `none` leaves pixels as they are, `unit` makes 0 to 1 of them.
    pub const NAMES: [&str; KNOWN.len()] = {
        let (mut names, mut i) = ([""; KNOWN.len()], 0);
        while i < KNOWN.len() {
            names[i] = KNOWN[i].0;
            i += 1;
        }
        names
    };

    /// That of this name.
    ///
    /// # Errors
    /// `InvalidOption`.
    pub fn from_name(name: &str) -> Result<Self> {
        let found = KNOWN.iter().find(|(known, ..)| *known == name);
        let Some(&(_, divisor, mean, deviation)) = found else {
            let message = format!("no normalization is named \"{name}\"; there are {}", Self::NAMES.join(", "));
            return Err(Error::new(ErrorCode::InvalidOption, message));
        };
        Ok(Self { divisor, mean: mean.to_vec(), deviation: deviation.to_vec() })
    }

    /// Its name, if it has one.
    pub fn name(&self) -> Option<&'static str> {
        let is = |known: &&Known| known.1 == self.divisor && known.2 == self.mean && known.3 == self.deviation;
        KNOWN.iter().find(is).map(|known| known.0)
    }

    /// Fails unless it can be applied to this many channels.
    ///
    /// # Errors
    /// `InvalidOption`.
    pub(super) fn check(&self, channels: usize) -> Result<()> {
        for (what, values) in [("means", &self.mean), ("deviations", &self.deviation)] {
            ensure!(
                values.len() == 1 || values.len() == channels,
                InvalidOption,
                "the normalization{} has {} {what}, but the data have {channels} channel{}: one a channel is needed, or one for all",
                self.name().map(|name| format!(" {name}")).unwrap_or_default(),
                values.len(),
                if channels == 1 { "" } else { "s" }
            );
        }
        let is_valid = self.mean.iter().all(|mean| mean.is_finite())
            && self.deviation.iter().chain([&self.divisor]).all(|&x| x.is_finite() && x > 0.0);
        ensure!(
            is_valid,
            InvalidOption,
            "a normalization's means must be finite, its deviations and divisor finite and positive"
        );
        Ok(())
    }

    /// What becomes of a number of this channel.
    pub(super) fn of(&self, channel: usize) -> impl Fn(f64) -> f64 + use<> {
        let one = |values: &[f64], otherwise| values.get(channel).or(values.first()).copied().unwrap_or(otherwise);
        let (divisor, mean, deviation) = (self.divisor, one(&self.mean, 0.0), one(&self.deviation, 1.0));
        move |x| (x / divisor - mean) / deviation
    }

    /// Does it do nothing?
    pub(super) fn is_nothing(&self) -> bool {
        self.divisor == 1.0 && self.mean.iter().all(|&mean| mean == 0.0) && self.deviation.iter().all(|&d| d == 1.0)
    }
}

impl<'de> Deserialize<'de> for Normalization {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Own {
            mean: Vec<f64>,
            deviation: Vec<f64>,
            #[serde(default = "bytes")]
            divisor: f64,
        }
        fn bytes() -> f64 {
            255.0
        }
        struct Visit;
        impl<'de> Visitor<'de> for Visit {
            type Value = Normalization;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a normalization's name, or an object with mean and deviation")
            }

            fn visit_str<E: serde::de::Error>(self, name: &str) -> std::result::Result<Normalization, E> {
                Normalization::from_name(name).map_err(E::custom)
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> std::result::Result<Normalization, A::Error> {
                let Own { mean, deviation, divisor } = Own::deserialize(MapAccessDeserializer::new(map))?;
                let found = Normalization { divisor, mean, deviation };
                found.check(found.mean.len().max(found.deviation.len()).max(1)).map_err(A::Error::custom)?;
                Ok(found)
            }
        }
        deserializer.deserialize_any(Visit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers_are_read() {
        for name in Normalization::NAMES {
            let found: Normalization = serde_json::from_str(&format!("\"{name}\"")).expect("a name");
            assert_eq!(found.name(), Some(name));
            let again: Normalization =
                serde_json::from_str(&serde_json::to_string(&found).expect("JSON")).expect("JSON");
            assert_eq!(again, found);
        }
        let own: Normalization = serde_json::from_str("{\"mean\": [1, 2], \"deviation\": [4]}").expect("numbers");
        assert_eq!((own.divisor, own.name()), (255.0, None));
        assert_eq!(own.of(1)(1530.0), 1.0);
        for wrong in [
            "\"mnist2\"",
            "{\"mean\": [1]}",
            "{\"mean\": [1], \"deviation\": [0]}",
            "{\"mean\": [], \"deviation\": []}",
            "{\"mean\": [1], \"deviation\": [1], \"std\": 1}",
            "5",
            "{\"mean\": [1, 2], \"deviation\": [1, 2, 3]}",
        ] {
            assert!(serde_json::from_str::<Normalization>(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn channels_must_fit() {
        let cifar = Normalization::from_name("cifar10").expect("a name");
        assert!(cifar.check(3).is_ok());
        let error = cifar.check(1).expect_err("one channel");
        assert!(error.message.contains("cifar10 has 3 means, but the data have 1 channel:"), "{error}");
        assert!(Normalization::from_name("unit").expect("a name").check(64).is_ok());
    }
}
