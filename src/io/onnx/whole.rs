//! Whole numbers that shapes are computed from, as PyTorch's `x.view(x.size(0), -1)` and padded shortcuts are exported.

use super::constant::{Numbers, Size};
use super::node::Node;
use super::reader::{MOST_NUMBERS, Reader, Value};
use super::shapes::sizes;
use super::tensor::Beside;
use crate::error::{Result, bail, ensure};

/// What a node does to two whole numbers, of which one may be the samples'.
fn computed(op: &str, a: Size, b: Size) -> Option<Size> {
    let is_batch = a.is_batch || b.is_batch;
    match op {
        "Mul" if !(a.is_batch && b.is_batch) => Some(Size { factor: a.factor.checked_mul(b.factor)?, is_batch }),
        "Div" if !b.is_batch && (!a.is_batch || a.factor.checked_rem(b.factor) == Some(0)) => {
            Some(Size { factor: a.factor.checked_div(b.factor)?, is_batch })
        }
        "Add" if a.is_batch == b.is_batch => Some(Size { factor: a.factor.checked_add(b.factor)?, is_batch }),
        "Sub" if !is_batch => Some(Size::known(a.factor.checked_sub(b.factor)?)),
        "Max" if !is_batch => Some(Size::known(a.factor.max(b.factor))),
        "Min" if !is_batch => Some(Size::known(a.factor.min(b.factor))),
        _ => None,
    }
}

impl<'a> Reader<'a> {
    fn give_numbers(&mut self, node: Node<'a>, numbers: Numbers) -> Result<()> {
        self.give(node, Value::Numbers(numbers))
    }

    /// Whole numbers that a node reads, whatever is not known of them.
    fn numbers(&mut self, node: Node<'a>, at: usize) -> Result<Numbers> {
        let name = node.input(at)?;
        match self.whole_numbers(node, name)? {
            Some(numbers) => Ok(numbers),
            None => bail!(
                InvalidNetwork,
                "{} computes with constants or activations in a way that is not known; of {name} isoflat knows neither a layer nor a \
                 shape: export the model with its constants folded, for a fixed shape of its input",
                node.title()
            ),
        }
    }

    /// The lengths of a tensor's axes.
    pub(super) fn shape(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["start", "end"])?;
        let all = match self.value(node, node.input(0)?)? {
            Value::Constant(constant) => constant.view.lengths.iter().map(|&n| Size::known(n as i64)).collect(),
            Value::Numbers(numbers) => numbers.shape.iter().map(|&n| Size::known(n as i64)).collect(),
            Value::Zeros(sizes) => sizes.clone(),
            Value::Activation(found) => sizes(found),
            Value::Function(function) => sizes(&function.base),
        };
        let bound = |name: &str, default: i64| {
            let (at, count) = (node.int(name, default), all.len() as i64);
            let at = if at < 0 { at.saturating_add(count) } else { at };
            // Within the row first: the default is no number of 32 bits, which a place in memory is in a browser.
            usize::try_from(at.clamp(0, count)).unwrap_or(0)
        };
        let (start, end) = (bound("start", 0), bound("end", i64::MAX));
        let part = all.get(start..end).unwrap_or_default().to_vec();
        self.give_numbers(node, Numbers::row(part))
    }

    /// Some of a row of numbers.
    pub(super) fn gather(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axis"])?;
        let data = self.numbers(node, 0)?;
        let index = self.numbers(node, 1)?;
        ensure!(
            data.shape.len() == 1 && matches!(node.int("axis", 0), 0 | -1) && index.shape.len() <= 1,
            InvalidNetwork,
            "{} takes parts of {:?} numbers: only single numbers of a row are known",
            node.title(),
            data.shape
        );
        let pick = |size: &Size| {
            let at = size.number()?;
            let at = if at < 0 { at.checked_add(data.values.len() as i64)? } else { at };
            data.values.get(usize::try_from(at).ok()?).copied()
        };
        let Some(values) = index.values.iter().map(pick).collect::<Option<Vec<Size>>>() else {
            let (taken, count) = (Size::listed(&index.values), data.values.len());
            bail!(Parse, "{} takes the numbers at {taken} of a row of {count}", node.title())
        };
        self.give_numbers(node, Numbers { shape: index.shape, values, is_floating: data.is_floating })
    }

    /// Number by number; one number goes with all.
    pub(super) fn whole_binary(&mut self, node: Node<'a>) -> Result<()> {
        let (a, b) = (self.numbers(node, 0)?, self.numbers(node, 1)?);
        let count = if a.values.is_empty() || b.values.is_empty() { 0 } else { a.values.len().max(b.values.len()) };
        let fits = |numbers: &Numbers| numbers.values.len() == 1 || numbers.values.len() == count;
        let at =
            |numbers: &Numbers, i: usize| numbers.values.get(if numbers.values.len() == 1 { 0 } else { i }).copied();
        let is_floating = a.is_floating || b.is_floating;
        let leaves_rest = |a: Size, b: Size| a.factor.checked_rem(b.factor) != Some(0);
        let is_fraction = |i: usize| at(&a, i).zip(at(&b, i)).is_some_and(|(a, b)| leaves_rest(a, b));
        ensure!(
            !(is_floating && node.op() == "Div" && (0..count).any(is_fraction)),
            InvalidNetwork,
            "{} divides constants of floating point, {} by {}, which leaves no whole numbers: export the model with its constants folded",
            node.title(),
            Size::listed(&a.values),
            Size::listed(&b.values)
        );
        let values = (0..count).map(|i| computed(node.op(), at(&a, i)?, at(&b, i)?)).collect::<Option<Vec<Size>>>();
        let (Some(values), true) = (values, fits(&a) && fits(&b)) else {
            bail!(
                InvalidNetwork,
                "{} computes a shape that hangs on the number of samples in a way that is not known: export the model with a fixed \
                 shape of its input",
                node.title()
            )
        };
        let shape = if a.values.len() >= b.values.len() { a.shape } else { b.shape };
        self.give_numbers(node, Numbers { shape, values, is_floating })
    }

    /// The product of a row of numbers.
    pub(super) fn reduce_prod(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["axes", "keepdims", "noop_with_empty_axes"])?;
        let numbers = self.numbers(node, 0)?;
        let product = numbers.values.iter().try_fold(Size::known(1), |product, &size| computed("Mul", product, size));
        let Some(product) = product.filter(|_| numbers.shape.len() <= 1) else {
            bail!(InvalidNetwork, "{} multiplies numbers that are no row, or hang on the samples twice", node.title())
        };
        let shape = if node.int("keepdims", 1) == 0 { Vec::new() } else { vec![1] };
        self.give_numbers(node, Numbers { shape, values: vec![product], is_floating: numbers.is_floating })
    }

    /// A tensor of one number everywhere.
    pub(super) fn constant_of_shape(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&["value"])?;
        let sizes = self.numbers(node, 0)?.values;
        let (value, is_floating) = match node.tensor("value") {
            None => (0.0, true),
            Some(tensor) => {
                let array = super::tensor::read(tensor, "value", Beside::default())?;
                ensure!(array.elements().len() == 1, Parse, "{} has a value that is not one number", node.title());
                (array.to_f64()?.first().copied().unwrap_or(0.0), super::tensor::is_floating(tensor.data_type))
            }
        };
        let count = match &sizes[..] {
            [] => Some(1),
            [one] => one.number().and_then(|n| usize::try_from(n).ok()).filter(|&n| n <= MOST_NUMBERS),
            _ => None,
        };
        match count {
            Some(count) if !is_floating && value.fract() == 0.0 => {
                let shape = if sizes.is_empty() { Vec::new() } else { vec![count] };
                self.give_numbers(node, Numbers { shape, ..Numbers::row(vec![Size::known(value as i64); count]) })
            }
            _ => {
                ensure!(
                    value == 0.0,
                    InvalidNetwork,
                    "{} makes a tensor of {value} everywhere: of zeros alone is known",
                    node.title()
                );
                self.give(node, Value::Zeros(sizes))
            }
        }
    }

    /// Zeros of another shape.
    pub(super) fn expand(&mut self, node: Node<'a>) -> Result<()> {
        node.ensure_known(&[])?;
        let is_zero = match self.value(node, node.input(0)?)? {
            Value::Zeros(_) => true,
            Value::Constant(constant) => {
                let constant = constant.clone();
                self.scalar(&constant)? == Some(0.0)
            }
            _ => false,
        };
        ensure!(
            is_zero,
            InvalidNetwork,
            "{} repeats a tensor along axes: isoflat has no such layer, but for zeros",
            node.title()
        );
        let sizes = self.numbers(node, 1)?.values;
        self.give(node, Value::Zeros(sizes))
    }

    pub(super) fn transpose_numbers(&mut self, node: Node<'a>, numbers: &Numbers, order: &[usize]) -> Result<()> {
        let view = super::constant::View::whole(numbers.shape.clone()).transposed(order).unwrap_or_default();
        let values = view.places().filter_map(|i| numbers.values.get(i).copied()).collect();
        self.give_numbers(node, Numbers { shape: view.lengths, values, is_floating: numbers.is_floating })
    }

    /// A part of whole numbers, whatever their steps.
    pub(super) fn slice_numbers(
        &mut self,
        node: Node<'a>,
        numbers: &Numbers,
        axes: &[usize],
        starts: &[i64],
        ends: &[i64],
        steps: &[i64],
    ) -> Result<()> {
        let mut found = numbers.clone();
        for (i, &axis) in axes.iter().enumerate() {
            let length = found.shape.get(axis).copied().unwrap_or(0);
            let picked = picked(length as i64, starts[i], ends[i], steps[i]);
            let outer: usize = found.shape.iter().take(axis).product();
            let inner: usize = found.shape.iter().skip(axis + 1).product();
            let mut values = Vec::new();
            for o in 0..outer {
                for &at in &picked {
                    values.extend(found.values.iter().skip((o * length + at) * inner).take(inner));
                }
            }
            found.values = values;
            if let Some(length) = found.shape.get_mut(axis) {
                *length = picked.len();
            }
            self.spend(found.values.len().saturating_mul(size_of::<Size>()))?;
        }
        self.give_numbers(node, found)
    }
}

/// Indices that a slice takes of an axis.
fn picked(length: i64, start: i64, end: i64, step: i64) -> Vec<usize> {
    let wrap = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    let (mut at, end) = match step {
        1.. => (wrap(start).clamp(0, length), wrap(end).clamp(0, length)),
        _ => (wrap(start).clamp(-1, length - 1), wrap(end).clamp(-1, length - 1)),
    };
    let mut found = Vec::new();
    while if step > 0 { at < end } else { at > end } {
        found.extend(usize::try_from(at));
        at = at.saturating_add(step);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_take_what_python_takes() {
        assert_eq!(picked(6, 0, i64::MAX, 2), [0, 2, 4]);
        assert_eq!(picked(6, -1, i64::MIN, -1), [5, 4, 3, 2, 1, 0]);
        assert_eq!(picked(6, -3, -1, 1), [3, 4]);
        assert_eq!(picked(2, 1, 0, 1), [0usize; 0]);
        assert_eq!(picked(0, 0, 5, 1), [0usize; 0]);
    }

    #[test]
    fn sizes_are_computed_with_the_samples_as_a_name() {
        let (n, two) = (Size::BATCH, Size::known(2));
        assert_eq!(computed("Mul", n, two), Some(Size { factor: 2, is_batch: true }));
        assert_eq!(computed("Div", Size { factor: 4, is_batch: true }, two), Some(Size { factor: 2, is_batch: true }));
        assert_eq!(computed("Div", n, two), None);
        assert_eq!(computed("Mul", n, n), None);
        assert_eq!(computed("Div", two, Size::known(0)), None);
        assert_eq!(computed("Add", Size::known(i64::MAX), two), None);
    }
}
