//! Parts of tensors: every other pixel, as the shortcuts of residual networks take it, and parts of shapes.

use super::activation::{Activation, Axis};
use super::node::Node;
use super::reader::{Reader, Value};
use super::shapes::places;
use crate::error::{Result, bail, ensure};
use crate::io::Operation;
use crate::network::{Layer, Padding, Pool2d, Shape};

impl<'a> Reader<'a> {
    /// A part of each axis: all of it, or every so manyth row and column of an image.
    pub(super) fn slice(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["starts", "ends", "axes"])?;
        let (starts, ends, axes, steps) = match (node.ints("starts"), node.ints("ends")) {
            (Some(starts), Some(ends)) => {
                (starts.to_vec(), ends.to_vec(), node.ints("axes").map(<[i64]>::to_vec), None)
            }
            _ => (
                self.known(node, 1)?.unwrap_or_default(),
                self.known(node, 2)?.unwrap_or_default(),
                self.known(node, 3)?,
                self.known(node, 4)?,
            ),
        };
        let axes = axes.unwrap_or_else(|| (0..starts.len() as i64).collect());
        let steps = steps.unwrap_or_else(|| vec![1; starts.len()]);
        let count = starts.len();
        ensure!(
            [ends.len(), axes.len(), steps.len()] == [count; 3] && !steps.contains(&0),
            Parse,
            "{} has {count} starts, {} ends, {} axes and {} steps, or a step of 0",
            node.title(),
            ends.len(),
            axes.len(),
            steps.len()
        );
        let value = self.value(node, node.input(0)?)?.clone();
        if !matches!(value, Value::Activation(_) | Value::Function(_)) {
            let numbers = self.whole_numbers(node, node.input(0)?)?;
            let Some(numbers) = numbers else {
                bail!(
                    InvalidNetwork,
                    "{} takes a part of a constant, whose parameters would not be whole",
                    node.title()
                )
            };
            return self.slice_numbers(
                node,
                &numbers,
                &places(node, &axes, numbers.shape.len())?,
                &starts,
                &ends,
                &steps,
            );
        }
        let found = self.unpadded(node, 0)?;
        let mut stride = [1usize, 1];
        for (i, at) in places(node, &axes, found.axes.len())?.into_iter().enumerate() {
            let axis = found.axes.get(at).copied().unwrap_or(Axis::One);
            let length = found.length(axis) as i64;
            let is_to_end = if axis == Axis::Batch { ends[i] >= i64::from(i32::MAX) } else { ends[i] >= length };
            let is_from_start = starts[i] == 0 || axis != Axis::Batch && starts[i] <= -length;
            let step = usize::try_from(steps[i]).ok();
            match (step, axis) {
                (Some(1), _) if is_from_start && is_to_end => {}
                (Some(step), Axis::Height) if is_from_start && is_to_end => stride[0] = step,
                (Some(step), Axis::Width) if is_from_start && is_to_end => stride[1] = step,
                _ => bail!(
                    InvalidNetwork,
                    "{} takes {}:{}:{} of axis {at} of {}: every so manyth row and column of images, x[:, :, ::2, ::2], is known",
                    node.title(),
                    starts[i],
                    ends[i],
                    steps[i],
                    found.described()
                ),
            }
        }
        if stride == [1, 1] {
            return self.give(node, Value::Activation(found));
        }
        let found = self.every(node, found, stride)?;
        self.give(node, Value::Activation(found))
    }

    /// Every so manyth pixel: the mean of a window of one. Exporters take rows and columns one after the other.
    fn every(&mut self, node: Node<'a>, found: Activation, stride: [usize; 2]) -> Result<Activation> {
        if let Some(Operation::Layer { layer: Layer::AvgPool2d(pool), .. }) = self.builder.operation_mut(found.source)
            && !found.is_shared
            && pool.size == [1, 1]
            && pool.padding.is_none()
        {
            let before = pool.stride.unwrap_or([1, 1]);
            let both = [before[0].saturating_mul(stride[0]), before[1].saturating_mul(stride[1])];
            pool.stride = Some(both);
            let shape = Shape {
                height: found.shape.height.div_ceil(stride[0]),
                width: found.shape.width.div_ceil(stride[1]),
                ..found.shape
            };
            return Ok(Activation { shape, ..found });
        }
        self.plain(
            node,
            Layer::AvgPool2d(Pool2d { size: [1, 1], stride: Some(stride), padding: Padding::NONE }),
            &found,
        )
    }
}
