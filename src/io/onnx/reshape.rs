//! What another shape makes of a tensor: of images rows, of a row at the network's input images, else the same with axes of length 1
//! put in or left out.

use super::activation::{Activation, Axis, CHANNELS_FIRST, CHANNELS_LAST, Flattened};
use super::constant::{Constant, Numbers, Size};
use super::node::Node;
use super::reader::{Reader, Value};
use super::tensor::MOST_AXES;
use crate::error::{Result, bail, ensure};
use crate::network::{Layer, Shape, Source};

/// What is said where an input has its channels last in the file.
pub const CHANNELS_NOTE: &str = ", whose channels come first here, though last in the model: give the data so";

impl<'a> Reader<'a> {
    /// Gives what a node reads in another shape, of which one length may be −1, for what is left.
    pub(super) fn reshape_to(&mut self, node: Node<'a>, target: &[Size]) -> Result<()> {
        ensure!(target.len() <= MOST_AXES, Parse, "{} makes a tensor of {} axes", node.title(), target.len());
        let value = self.value(node, node.input(0)?)?.clone();
        let lengths = |count: usize| -> Result<Vec<usize>> {
            let known = target.iter().map(|size| size.number()).collect::<Option<Vec<i64>>>();
            match known.and_then(|known| resolved(&known, count)) {
                Some(lengths) => Ok(lengths),
                None => {
                    bail!(InvalidNetwork, "{} makes {} of {count} numbers", node.title(), Size::listed(target))
                }
            }
        };
        match value {
            Value::Constant(constant) => {
                let Some(view) = constant.view.reshaped(&lengths(constant.view.len())?) else {
                    bail!(
                        InvalidNetwork,
                        "{} gives {} another shape after a Transpose: export the model with its constants folded",
                        node.title(),
                        constant.tensor
                    )
                };
                self.give(node, Value::Constant(Constant { view, ..constant }))
            }
            Value::Numbers(numbers) => {
                let shape = lengths(numbers.values.len())?;
                self.give(node, Value::Numbers(Numbers { shape, ..numbers }))
            }
            Value::Zeros(_) => self.give(node, Value::Zeros(target.to_vec())),
            Value::Activation(_) | Value::Function(_) => {
                let found = self.unpadded(node, 0)?;
                let rest = self.without_samples(node, &found, target)?;
                let found = self.reshaped(node, found, &rest)?;
                self.give(node, Value::Activation(found))
            }
        }
    }

    /// The lengths of all axes but the first, which must be the samples.
    fn without_samples(&mut self, node: Node<'a>, found: &Activation, target: &[Size]) -> Result<Vec<usize>> {
        let values = found.len();
        let title = node.title();
        let wrong = || {
            format!(
                "{title} makes {} of {}, but samples must stay apart, along the first axis",
                Size::listed(target),
                found.described()
            )
        };
        let Some((&first, rest)) = target.split_first() else { bail!(InvalidNetwork, "{}", wrong()) };
        let Some(rest) = rest.iter().map(|size| size.number()).collect::<Option<Vec<i64>>>() else {
            bail!(InvalidNetwork, "{}", wrong())
        };
        let is_free = first == Size::known(-1);
        // Where the first is what is left over, the others must be a whole sample.
        let lengths = resolved(&rest, values).filter(|_| !(is_free && rest.contains(&-1)));
        let Some(lengths) = lengths else { bail!(InvalidNetwork, "{}", wrong()) };
        if let Some(number) = first.number().filter(|_| !is_free) {
            ensure!(self.batch.is_none_or(|batch| batch == number) && number > 0, InvalidNetwork, "{}", wrong());
            if self.batch.is_none() {
                self.builder.note(format!("the model is made for {number} samples at once, which is not kept to"));
            }
        }
        Ok(lengths)
    }

    fn reshaped(&mut self, node: Node<'a>, found: Activation, lengths: &[usize]) -> Result<Activation> {
        let mut long = found.long_axes().collect::<Vec<_>>().into_iter();
        let is_same = lengths.iter().filter(|&&n| n != 1).eq(found
            .long_axes()
            .map(|axis| found.length(axis))
            .collect::<Vec<_>>()
            .iter());
        // Rows or columns of an image alone, as features, are its flattened form.
        let becomes_row = lengths.len() == 1 && found.long_axes().any(|axis| axis != Axis::Channel);
        if is_same && !becomes_row {
            let rest = lengths.iter().map(|&n| if n == 1 { Axis::One } else { long.next().unwrap_or(Axis::One) });
            let mut axes = vec![Axis::Batch];
            axes.extend(rest);
            let same = found.with_axes(axes);
            // Of a transposed one every number's place is another.
            let is_in_order = self.input_axes.iter().filter(|&&axis| axis != Axis::Batch && found.length(axis) != 1);
            let is_in_order = is_in_order.copied().eq(found.long_axes());
            let is_own = found.source == Source::Input && !found.is_row && !found.is_shared && is_in_order;
            return match *lengths {
                // An input with its one channel last: what it is called changes no number's place.
                [channels, height, width] if is_own && !same.is_image() && !same.is(&CHANNELS_LAST) => {
                    self.redeclared(node, Shape { channels, height, width })
                }
                _ => Ok(same),
            };
        }
        if lengths.iter().filter(|&&n| n != 1).count() == 1 && !found.is_row {
            let mut axes = vec![Axis::Batch];
            axes.extend(lengths.iter().map(|&n| if n == 1 { Axis::One } else { Axis::Channel }));
            let order = flattened(&found);
            let row = self.plain(node, Layer::Flatten, &found)?;
            return Ok(Activation { flattened: order, ..row }.with_axes(axes));
        }
        if found.is_row && found.source == Source::Input && found.flattened.is_none() {
            return self.input_as_image(node, lengths);
        }
        // A second time the image that the input was found to be.
        if let Some(Flattened { shape: Shape { channels, height, width }, order: [Axis::Height, ..] }) = found.flattened
            && found.source == Source::Input
            && *lengths == [height, width, channels]
        {
            let image = Activation::new(Source::Input, Shape { channels, height, width }, false);
            return Ok(image.with_axes(CHANNELS_LAST.to_vec()));
        }
        bail!(
            InvalidNetwork,
            "{} makes [N, {}] of {}: of reshapes, those are known that flatten images, or put in or leave out axes of length 1",
            node.title(),
            lengths.iter().map(usize::to_string).collect::<Vec<_>>().join(", "),
            found.described()
        )
    }

    /// Declares the network's input as images of another shape than the file's, of which the model makes these first.
    fn redeclared(&mut self, node: Node<'a>, shape: Shape) -> Result<Activation> {
        ensure!(
            !self.builder.is_input_read(),
            InvalidNetwork,
            "{} makes images of {shape} of the network's input, which another layer reads as it is: give the network the images",
            node.title()
        );
        self.input = vec![shape.channels, shape.height, shape.width];
        self.builder.note(format!("the input is declared as images of {shape}, of which the model makes them first"));
        Ok(Activation::new(Source::Input, shape, false))
    }

    /// The network's input is a row that becomes an image first: then it is an image.
    fn input_as_image(&mut self, node: Node<'a>, lengths: &[usize]) -> Result<Activation> {
        let is_last = self.is_channels_last(node.output()?);
        let [channels, height, width] = match *lengths {
            [height, width, channels] if is_last => [channels, height, width],
            [channels, height, width] => [channels, height, width],
            [height, width] => [1, height, width],
            _ => bail!(InvalidNetwork, "{} makes {lengths:?} of the network's input, which is no image", node.title()),
        };
        let image = self.redeclared(node, Shape { channels, height, width })?;
        if is_last && channels > 1 {
            self.builder.note(format!("the input is images{CHANNELS_NOTE}"));
            self.flatten_input(Flattened { shape: image.shape, order: [Axis::Height, Axis::Width, Axis::Channel] });
        }
        Ok(match (is_last, lengths.len()) {
            (true, 3) => image.with_axes(CHANNELS_LAST.to_vec()),
            (_, 2) => image.with_axes(vec![Axis::Batch, Axis::Height, Axis::Width]),
            _ => image.with_axes(CHANNELS_FIRST.to_vec()),
        })
    }

    /// The input as a row, under whatever names others read it later, has the order of the file's image.
    fn flatten_input(&mut self, flattened: Flattened) {
        for value in self.values.values_mut() {
            let found = match value {
                Value::Activation(found) => found,
                Value::Function(function) => &mut function.base,
                _ => continue,
            };
            if found.source == Source::Input && found.is_row {
                found.flattened = Some(flattened);
            }
        }
    }

    /// Do all that read a tensor make a row of it?
    pub(super) fn is_made_a_row(&self, name: &str) -> bool {
        let is_row = |reader: &Node| match reader.op() {
            "Flatten" => matches!(reader.int("axis", 1), 1 | -3),
            "Reshape" => {
                self.readers_of(reader.output().unwrap_or_default()).all(|next| matches!(next.op(), "Gemm" | "MatMul"))
            }
            _ => false,
        };
        let mut readers = self.readers_of(name).peekable();
        readers.peek().is_some() && readers.all(is_row)
    }

    /// Is a tensor read by a transpose that puts its last axis first?
    pub(super) fn is_channels_last(&self, name: &str) -> bool {
        self.readers_of(name).any(|reader| match reader.op() {
            "Transpose" => reader.ints("perm") == Some(&[0, 3, 1, 2][..]),
            // What comes before a transpose in files of TensorFlow's models.
            "Cast" | "Identity" | "Pad" => reader.output().is_ok_and(|output| {
                self.readers_of(output)
                    .any(|next| next.op() == "Transpose" && next.ints("perm") == Some(&[0, 3, 1, 2][..]))
            }),
            _ => false,
        })
    }
}

/// In which order the file has what isoflat flattens channel after channel; nothing where that is the same.
fn flattened(found: &Activation) -> Option<Flattened> {
    const USUAL: [Axis; 3] = [Axis::Channel, Axis::Height, Axis::Width];
    let long: Vec<Axis> = found.long_axes().collect();
    let usual: Vec<Axis> = USUAL.into_iter().filter(|&axis| long.contains(&axis)).collect();
    if long == usual {
        return None;
    }
    let mut order = long;
    order.extend(USUAL.into_iter().filter(|axis| !usual.contains(axis)));
    let order = <[Axis; 3]>::try_from(order).ok()?;
    Some(Flattened { shape: found.shape, order })
}

/// A shape of so many numbers; one of its lengths may be −1, for what is left.
fn resolved(target: &[i64], count: usize) -> Option<Vec<usize>> {
    let known = target.iter().filter(|&&n| n != -1);
    let product = known.map(|&n| usize::try_from(n).ok()).try_fold(1usize, |product, n| product.checked_mul(n?))?;
    let free = target.iter().filter(|&&n| n == -1).count();
    let left = match (free, product) {
        (0, _) => (product == count).then_some(0)?,
        (1, 1..) if count.is_multiple_of(product) => count / product,
        _ => return None,
    };
    target.iter().map(|&n| if n == -1 { Some(left) } else { usize::try_from(n).ok() }).collect()
}
