//! Inputs from an array: reordered, normalised, in the precision that they are kept in.

use super::layout::Layout;
use super::{Normalization, Part};
use crate::error::{Result, bail};
use crate::io::Elements;
use crate::memory::room;
use crate::problem::Values;

/// Bytes become doubles up to so many of them, 256 MiB then, and single precision above.
const MOST_DOUBLES: usize = 1 << 25;

/// Inputs, and what was done to them, if anything.
pub(super) struct Inputs {
    pub values: Values,
    pub normalization: Option<Normalization>,
}

/// The inputs that the elements of an array are, of these samples.
///
/// # Errors
/// `InvalidOption` for a normalization of other channels; `NotFinite` with sample and position; `TooLarge`.
pub(super) fn inputs(
    elements: Elements,
    layout: &Layout,
    part: Part,
    asked: Option<&Normalization>,
    notes: &mut Vec<String>,
) -> Result<Inputs> {
    let width = layout.channels * layout.pixels;
    let normalization = match &elements {
        Elements::U8(bytes) => {
            if asked.is_none() && bytes.iter().all(|&byte| byte <= 1) {
                notes.push(
                    "The bytes are 0 and 1 alone, and were divided by 255 as pixels are; the normalization \"none\" leaves them as they \
                     are."
                        .into(),
                );
            }
            Some(asked.cloned().map_or_else(|| Normalization::from_name("unit"), Ok)?)
        }
        _ => {
            let are_pixels = look_like_pixels(&elements, layout.shape.len() == 3);
            of_numbers(are_pixels, asked, notes)
        }
    };
    if let Some(normalization) = &normalization {
        normalization.check(layout.channels)?;
    }
    let values = match elements {
        Elements::U8(bytes) if part.all.saturating_mul(width) > MOST_DOUBLES => {
            notes.push(format!("The {} pixels are kept in single precision.", part.all.saturating_mul(width)));
            Values::F32(bytes_to(&bytes, layout, normalization.as_ref(), |x| x as f32)?)
        }
        Elements::U8(bytes) => Values::F64(bytes_to(&bytes, layout, normalization.as_ref(), |x| x)?),
        Elements::I64(numbers) => Values::F64(ordered(&numbers, layout, |channel| {
            let to = done(normalization.as_ref(), channel);
            move |x| to(x as f64)
        })?),
        Elements::F32(numbers) if is_same(layout, normalization.as_ref()) => Values::F32(numbers),
        Elements::F32(numbers) => Values::F32(ordered(&numbers, layout, |channel| {
            let to = done(normalization.as_ref(), channel);
            move |x| to(f64::from(x)) as f32
        })?),
        Elements::F64(numbers) if is_same(layout, normalization.as_ref()) => Values::F64(numbers),
        Elements::F64(numbers) => {
            Values::F64(ordered(&numbers, layout, |channel| done(normalization.as_ref(), channel))?)
        }
    };
    ensure_finite(&values, layout, part.first)?;
    Ok(Inputs { values, normalization })
}

/// What is done to numbers that are no bytes: what was asked for, and pixels are divided first.
fn of_numbers(are_pixels: bool, asked: Option<&Normalization>, notes: &mut Vec<String>) -> Option<Normalization> {
    let Some(asked) = asked else {
        if are_pixels {
            notes.push(
                "The inputs look like pixels from 0 to 255, and were taken as they are: a network that was trained on pixels / 255 \
                 needs the normalization \"unit\", or that of its data set."
                    .into(),
            );
        }
        return None;
    };
    let mut normalization = asked.clone();
    if asked.divisor != 1.0 {
        if are_pixels {
            notes.push(format!("The inputs look like pixels from 0 to 255, and were divided by {}.", asked.divisor));
        } else {
            normalization.divisor = 1.0;
            notes.push("The inputs are no pixels from 0 to 255, and were not divided by 255.".into());
        }
    }
    Some(normalization)
}

/// Do numbers look like pixels: from 0 to 255, and beyond 2 in images, or whole and beyond 127 elsewhere?
fn look_like_pixels(elements: &Elements, is_image: bool) -> bool {
    fn all(values: impl Iterator<Item = f64>, is_image: bool) -> bool {
        let mut largest = 0.0;
        for x in values {
            if !(0.0..=255.0).contains(&x) || (!is_image && x.fract() != 0.0) {
                return false;
            }
            largest = x.max(largest);
        }
        largest > if is_image { 2.0 } else { 127.0 }
    }
    match elements {
        Elements::U8(_) => true,
        Elements::I64(v) => all(v.iter().map(|&x| x as f64), is_image),
        Elements::F32(v) => all(v.iter().map(|&x| f64::from(x)), is_image),
        Elements::F64(v) => all(v.iter().copied(), is_image),
    }
}

fn is_same(layout: &Layout, normalization: Option<&Normalization>) -> bool {
    !layout.is_channels_last && normalization.is_none_or(Normalization::is_nothing)
}

/// What is done to the numbers of a channel.
fn done(normalization: Option<&Normalization>, channel: usize) -> impl Fn(f64) -> f64 + use<> {
    let found = normalization.map(|normalization| normalization.of(channel));
    move |x| found.as_ref().map_or(x, |of| of(x))
}

/// Bytes, by tables of what becomes of each.
fn bytes_to<T: Copy>(
    bytes: &[u8],
    layout: &Layout,
    normalization: Option<&Normalization>,
    to: impl Fn(f64) -> T,
) -> Result<Vec<T>> {
    // One for all channels, or one a channel that the normalization has numbers of.
    let tables = normalization.map_or(1, |normalization| normalization.mean.len().max(normalization.deviation.len()));
    let mut table: Vec<T> = room("a normalization", tables * 256)?;
    for channel in 0..tables {
        let done = done(normalization, channel);
        table.extend((0..256).map(|x| to(done(f64::from(x)))));
    }
    let whole = table.get(..256).unwrap_or_default();
    ordered(bytes, layout, |channel| {
        let own = table.get(channel * 256..channel * 256 + 256).unwrap_or(whole);
        |byte: u8| own[usize::from(byte)]
    })
}

/// What becomes of each number, channel after channel.
fn ordered<S: Copy, T, F: Fn(S) -> T>(from: &[S], layout: &Layout, of: impl Fn(usize) -> F) -> Result<Vec<T>> {
    let (channels, pixels) = (layout.channels, layout.pixels);
    let mut out = room("the inputs", from.len())?;
    for sample in from.chunks_exact((channels * pixels).max(1)) {
        if layout.is_channels_last {
            for channel in 0..channels {
                let to = of(channel);
                out.extend(sample.iter().skip(channel).step_by(channels).map(|&x| to(x)));
            }
        } else {
            for (channel, values) in sample.chunks_exact(pixels.max(1)).enumerate() {
                let to = of(channel);
                out.extend(values.iter().map(|&x| to(x)));
            }
        }
    }
    Ok(out)
}

fn ensure_finite(values: &Values, layout: &Layout, first: usize) -> Result<()> {
    let place = match values {
        Values::F32(v) => v.iter().position(|x| !x.is_finite()),
        Values::F64(v) => v.iter().position(|x| !x.is_finite()),
    };
    let Some(i) = place else { return Ok(()) };
    let width = (layout.channels * layout.pixels).max(1);
    bail!(
        NotFinite,
        "input {} of sample {} is {}, but must be finite{}",
        i % width,
        first + i / width,
        values.get(i),
        match layout.shape[..] {
            [_, height, width_] => {
                let at = i % width;
                format!(" (channel {}, row {}, column {})", at / (height * width_), at / width_ % height, at % width_)
            }
            _ => String::new(),
        }
    )
}
