//! How the values of a sample lie: as the file has them, and as the network takes them.

use crate::error::{Result, bail, ensure};

/// From the one to the other.
#[derive(Debug, PartialEq)]
pub(super) struct Layout {
    /// Of one input: `[features]` or `[channels, height, width]`.
    pub shape: Vec<usize>,
    /// Channels that a normalization tells apart: of an image its own, of flat inputs each feature.
    pub channels: usize,
    /// Values of a channel.
    pub pixels: usize,
    /// Does the file have the channels of a pixel beside each other?
    pub is_channels_last: bool,
}

/// The layout of samples whose axes are these, for a network that takes `wanted`.
///
/// # Errors
/// `InvalidProblem` for samples that do not fit the network, or have more than three axes.
pub(super) fn layout(axes: &[usize], wanted: Option<&[usize]>, notes: &mut Vec<String>) -> Result<Layout> {
    let values = super::super::array::count(axes).unwrap_or_default();
    ensure!(values > 0, InvalidProblem, "the inputs have samples of shape {axes:?}, without any values");
    match *axes {
        [] => fitted(Shape::Flat(1), axes, wanted, notes),
        [features] => fitted(Shape::Flat(features), axes, wanted, notes),
        [height, width] => fitted(Shape::Image([1, height, width], false), axes, wanted, notes),
        [a, b, c] => {
            let few = |n| n == 1 || n == 3;
            let is_last = match wanted {
                Some(wanted) if wanted == axes => false,
                Some(wanted) if wanted == [c, a, b] => true,
                _ => few(c) && !few(a),
            };
            let image = if is_last { [c, a, b] } else { [a, b, c] };
            fitted(Shape::Image(image, is_last), axes, wanted, notes)
        }
        _ => match wanted {
            Some([features]) if *features == values => fitted(Shape::Flat(values), axes, wanted, notes),
            _ => bail!(
                InvalidProblem,
                "the inputs have samples of shape {axes:?}; isoflat takes [features], [height, width] and [channels, height, width]"
            ),
        },
    }
}

/// What the samples are by themselves: features, or [C, H, W] with whether the channels lie last.
enum Shape {
    Flat(usize),
    Image([usize; 3], bool),
}

fn fitted(found: Shape, axes: &[usize], wanted: Option<&[usize]>, notes: &mut Vec<String>) -> Result<Layout> {
    let image = |[channels, height, width]: [usize; 3], shape: &[usize], is_channels_last| Layout {
        shape: shape.to_vec(),
        channels,
        pixels: height * width,
        // One channel lies the same either way.
        is_channels_last: is_channels_last && channels > 1,
    };
    let no_fit =
        || format!("the inputs have samples of shape {axes:?}, but the network takes {:?}", wanted.unwrap_or_default());
    match (found, wanted) {
        (Shape::Flat(features), None) => {
            Ok(Layout { shape: vec![features], channels: features, pixels: 1, is_channels_last: false })
        }
        (Shape::Flat(features), Some(&[takes])) => {
            ensure!(features == takes, InvalidProblem, "{}", no_fit());
            Ok(Layout { shape: vec![features], channels: features, pixels: 1, is_channels_last: false })
        }
        (Shape::Flat(features), Some(&[c, h, w])) => {
            ensure!(super::super::array::count(&[c, h, w]) == Some(features), InvalidProblem, "{}", no_fit());
            notes.push(format!(
                "Each row of {features} values is taken as an image of {c}×{h}×{w}, channel after channel and row after row."
            ));
            Ok(image([c, h, w], &[c, h, w], false))
        }
        (Shape::Flat(_), Some(_)) => bail!(InvalidProblem, "{}", no_fit()),
        (Shape::Image(size, is_last), None) => {
            tell(size, is_last, notes);
            Ok(image(size, &size, is_last))
        }
        (Shape::Image(size @ [c, h, w], is_last), Some(&[takes])) => {
            ensure!(c * h * w == takes, InvalidProblem, "{}", no_fit());
            tell(size, is_last, notes);
            if c > 1 {
                notes.push("Images are flattened channel after channel.".into());
            }
            Ok(image(size, &[takes], is_last))
        }
        (Shape::Image(size, is_last), Some(wanted)) => {
            ensure!(wanted == size, InvalidProblem, "{}", no_fit());
            tell(size, is_last, notes);
            Ok(image(size, &size, is_last))
        }
    }
}

fn tell([channels, ..]: [usize; 3], is_last: bool, notes: &mut Vec<String>) {
    if is_last && channels > 1 {
        notes.push("The file has channels last (N, H, W, C); they are put first.".into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(axes: &[usize], wanted: Option<&[usize]>) -> Result<(Vec<usize>, usize, bool)> {
        let found = layout(axes, wanted, &mut Vec::new())?;
        assert_eq!(found.shape.iter().product::<usize>(), found.channels * found.pixels);
        Ok((found.shape, found.channels, found.is_channels_last))
    }

    #[test]
    fn shapes_are_those_of_the_network_or_the_likely_ones() {
        type Case = (&'static [usize], Option<&'static [usize]>, &'static [usize], usize, bool);
        let cases: [Case; 16] = [
            (&[784], None, &[784], 784, false),
            (&[], None, &[1], 1, false),
            (&[28, 28], None, &[1, 28, 28], 1, false),
            (&[28, 28, 1], None, &[1, 28, 28], 1, false),
            (&[32, 32, 3], None, &[3, 32, 32], 3, true),
            (&[3, 32, 32], None, &[3, 32, 32], 3, false),
            (&[3, 32, 3], None, &[3, 32, 3], 3, false),
            (&[32, 32, 4], None, &[32, 32, 4], 32, false),
            (&[32, 32, 4], Some(&[4, 32, 32]), &[4, 32, 32], 4, true),
            (&[5, 5, 5], Some(&[5, 5, 5]), &[5, 5, 5], 5, false),
            (&[3, 5, 3], Some(&[3, 3, 5]), &[3, 3, 5], 3, true),
            (&[28, 28], Some(&[784]), &[784], 1, false),
            (&[32, 32, 3], Some(&[3072]), &[3072], 3, true),
            (&[3072], Some(&[3, 32, 32]), &[3, 32, 32], 3, false),
            (&[28, 28, 1], Some(&[1, 28, 28]), &[1, 28, 28], 1, false),
            (&[2, 2, 2, 2], Some(&[16]), &[16], 16, false),
        ];
        for (axes, wanted, shape, channels, is_last) in cases {
            assert_eq!(of(axes, wanted).expect("fits"), (shape.to_vec(), channels, is_last), "{axes:?} for {wanted:?}");
        }
        let refused: [(&[usize], Option<&[usize]>); 7] = [
            (&[784], Some(&[783])),
            (&[784], Some(&[3, 28, 28])),
            (&[28, 28], Some(&[1, 32, 32])),
            (&[1, 32, 32], Some(&[3, 32, 32])),
            (&[2, 2, 2, 2], None),
            (&[0, 28], None),
            (&[32, 32, 3], Some(&[3071])),
        ];
        for (axes, wanted) in refused {
            assert!(of(axes, wanted).is_err(), "{axes:?} for {wanted:?}");
        }
    }
}
