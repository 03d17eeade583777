//! A file's weight as a layer's W, in whichever order its axes are.

use super::modules::{Kind, Module, Named, Order};
use crate::error::{Result, bail};
use crate::io::{Place, Slot};
use crate::memory::{collected, room};
use crate::network::{Layer, ParametricLayer};

/// The shape of a layer's W as PyTorch has it: of a scale, a row.
pub(in crate::io) fn shape(layer: &Layer, place: &ParametricLayer) -> Vec<usize> {
    match layer {
        Layer::Conv2d(conv) => {
            vec![place.outputs, place.inputs / (conv.kernel[0] * conv.kernel[1]), conv.kernel[0], conv.kernel[1]]
        }
        Layer::Scale { .. } => vec![place.outputs],
        _ => vec![place.outputs, place.inputs],
    }
}

/// The same shape in another order of axes.
fn reordered(shape: &[usize], order: Order) -> Vec<usize> {
    match (order, shape) {
        (Order::OutputsLast, &[rows, columns]) => vec![columns, rows],
        (Order::OutputsLast, &[o, i, h, w]) => vec![h, w, i, o],
        _ => shape.to_vec(),
    }
}

/// The orders that a module's weight may be in, likeliest first.
fn orders(order: Order) -> &'static [Order] {
    match order {
        Order::Unknown => &[Order::OutputsFirst, Order::OutputsLast],
        Order::OutputsFirst => &[Order::OutputsFirst],
        Order::OutputsLast => &[Order::OutputsLast],
        Order::Depthwise => &[Order::Depthwise],
    }
}

/// In which order a weight is a layer's, if in any.
fn order_for(weight: Named, order: Order, layer: &Layer, place: &ParametricLayer) -> Option<Order> {
    let (given, wanted) = (weight.1.shape(), shape(layer, place));
    let fits = |order: &&Order| match (order, &wanted[..], given) {
        // (h, w, inputs, multiplier), of a convolution with as many groups as inputs.
        (Order::Depthwise, &[o, 1, h, w], &[gh, gw, inputs, multiplier]) => {
            [gh, gw] == [h, w] && inputs == place.groups && inputs.checked_mul(multiplier) == Some(o)
        }
        (Order::Depthwise, ..) => false,
        _ => reordered(&wanted, **order) == given,
    };
    orders(order).iter().find(fits).copied()
}

/// Are a module's weights a layer's?
pub(super) fn fits(module: &Module, layer: &Layer, place: &ParametricLayer) -> bool {
    let Kind::Affine { weight, order, bias } = &module.kind else { return false };
    let has_bias = bias.is_none_or(|bias| bias.1.elements().len() == place.outputs);
    has_bias && order_for(*weight, *order, layer, place).is_some()
}

/// A layer's W.
///
/// # Errors
/// `InvalidNetwork` where it has another shape; `TooLarge`.
pub(super) fn weight(
    weight: Named,
    module: &Module,
    layer: &Layer,
    place: &ParametricLayer,
    notes: &mut Vec<String>,
) -> Result<Slot> {
    let (name, array) = weight;
    let order = match &module.kind {
        Kind::Affine { order, .. } => order_for(weight, *order, layer, place),
        _ => None,
    };
    let Some(order) = order else {
        bail!(InvalidNetwork, "{} does not have the shape {:?}", module.described(), shape(layer, place))
    };
    let is_square = |shape: &[usize]| matches!(shape, [rows, columns] if rows == columns && *rows > 1);
    if matches!(module.kind, Kind::Affine { order: Order::Unknown, .. }) && is_square(array.shape()) {
        notes.push(format!("{name} is a square, and nothing tells its order: its rows are taken for outputs"));
    }
    let values = array.to_f64()?;
    let (rows, columns, area) = (place.outputs, place.inputs, place.columns_per_unit);
    let is_flattened = matches!(layer, Layer::Dense { .. }) && area > 1;
    if order == Order::OutputsFirst {
        return Ok(Slot::whole(name, values));
    }
    // Where the file has what stands at (row, column) here.
    let units = columns / area;
    let at = |row: usize, column: usize| match (order, layer) {
        (Order::Depthwise, _) => column * rows + row,
        // Rows of an image come channel after channel here, and pixel after pixel there; in kernels too.
        _ => ((column % area) * units + column / area) * rows + row,
    };
    if is_flattened {
        notes.push(format!(
            "the inputs of {} are taken for an image flattened pixel after pixel, as Keras does, and put channel after channel",
            module.name
        ));
    }
    let mut places = room("the order of a weight", rows * columns)?;
    for row in 0..rows {
        places.extend((0..columns).map(|column| at(row, column) as u32));
    }
    let values = collected("a weight", places.iter().map(|&at| values.get(at as usize).copied().unwrap_or(f64::NAN)))?;
    Ok(Slot { values, place: Some(Place { tensor: name.into(), order: Some(places), factor: 1.0 }) })
}
