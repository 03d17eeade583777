//! Numbers out of the file's tensors: parameters with the way back, statistics, and what shapes are computed from.

use super::constant::{Constant, Numbers, Size, View};
use super::node::Node;
use super::reader::{MOST_NUMBERS, Reader, Value};
use super::tensor;
use crate::error::{Result, bail, ensure};
use crate::io::{Array, Elements, Place, Slot};
use crate::memory::{collected, copied, room};

impl<'a> Reader<'a> {
    /// Takes from what may be copied.
    ///
    /// # Errors
    /// `TooLarge` where that is used up.
    pub fn spend(&mut self, bytes: usize) -> Result<()> {
        let left = self.budget.checked_sub(bytes as u64);
        ensure!(left.is_some(), TooLarge, "the model's tensors are read so often that they would not fit in memory");
        self.budget = left.unwrap_or_default();
        Ok(())
    }

    /// A tensor's numbers as the file has them.
    ///
    /// # Errors
    /// What [`tensor::read`] says; `TooLarge`.
    pub fn array(&mut self, constant: &Constant<'a>) -> Result<Array> {
        if let Some(values) = self.inline.get(constant.tensor) {
            let values = copied("a tensor", values)?;
            self.spend(values.len().saturating_mul(8))?;
            return Array::new(vec![values.len()], Elements::F64(values));
        }
        let Some(tensor) = self.tensors.get(constant.tensor).copied() else {
            bail!(Parse, "the tensor {} is not there", constant.tensor)
        };
        // What is not there takes nothing, so the length is checked before.
        self.spend(tensor::shape(tensor)?.iter().fold(8usize, |bytes, &n| bytes.saturating_mul(n)))?;
        tensor::read(tensor, constant.tensor, self.beside)
    }

    /// A tensor's numbers in the order of a view.
    ///
    /// # Errors
    /// Likewise.
    pub fn numbers_of(&mut self, constant: &Constant<'a>, view: &View) -> Result<Vec<f64>> {
        let values = self.array(constant)?.to_f64()?;
        if view.is_whole() && view.len() == values.len() {
            return Ok(values);
        }
        self.spend(values.len().saturating_mul(8))?;
        collected("a tensor's numbers", view.places().map(|i| values.get(i).copied().unwrap_or(f64::NAN)))
    }

    /// The one number that a constant is.
    ///
    /// # Errors
    /// Likewise.
    pub fn scalar(&mut self, constant: &Constant<'a>) -> Result<Option<f64>> {
        if constant.view.len() != 1 {
            return Ok(None);
        }
        Ok(self.statistics(constant, &constant.view.clone())?.first().copied())
    }

    /// Parameters, `factor` times a tensor's numbers in the order of a view.
    ///
    /// # Errors
    /// Likewise; `InvalidNetwork` for whole numbers.
    pub fn slot(&mut self, node: Node, constant: &Constant<'a>, view: &View, factor: f64) -> Result<Slot> {
        let name = constant.tensor;
        ensure!(
            constant.is_floating,
            InvalidNetwork,
            "{} has weights of whole numbers, {name}: export the model before it is quantised",
            node.title()
        );
        let mut values = self.numbers_of(constant, view)?;
        if factor != 1.0 {
            values.iter_mut().for_each(|value| *value *= factor);
        }
        *self.uses.entry(name).or_default() += 1;
        self.spend(name.len())?;
        let order = if view.is_whole() {
            None
        } else {
            let mut order = room("the order of a tensor", view.len())?;
            order.extend(view.places().map(|i| u32::try_from(i).unwrap_or(u32::MAX)));
            Some(order)
        };
        let place = (!self.inline.contains_key(name)).then(|| Place { tensor: name.into(), order, factor });
        Ok(Slot { values, place })
    }

    /// The W of a layer; that of two layers is refused, since they would not stay the same.
    ///
    /// # Errors
    /// Likewise.
    pub fn weight(&mut self, node: Node, constant: &Constant<'a>, view: &View, factor: f64) -> Result<Slot> {
        ensure!(
            !self.uses.contains_key(constant.tensor),
            InvalidNetwork,
            "{} has the weights {}, which another layer has too: tied weights are one parameter in the model, but would be two \
             here; export the model with a copy of its own for each",
            node.title(),
            constant.tensor
        );
        self.slot(node, constant, view, factor)
    }

    /// Numbers that are no parameters: what weights are divided by, bounds, slopes. Where a layer has them too, it does not write them back.
    ///
    /// # Errors
    /// Likewise.
    pub fn statistics(&mut self, constant: &Constant<'a>, view: &View) -> Result<Vec<f64>> {
        *self.uses.entry(constant.tensor).or_default() += 1;
        self.numbers_of(constant, view)
    }

    /// Numbers of floating point that a node reads at a place, with their shape, where they hang on no input.
    ///
    /// # Errors
    /// Likewise.
    fn foldable(&mut self, node: Node<'a>, at: usize) -> Result<Option<(Vec<usize>, Vec<f64>)>> {
        match self.value(node, node.input(at)?)? {
            Value::Constant(constant) if constant.is_floating => {
                let constant = constant.clone();
                let values = self.statistics(&constant, &constant.view)?;
                Ok(Some((constant.view.lengths, values)))
            }
            Value::Numbers(numbers) if numbers.is_floating => {
                let values = numbers.known().map(|known| known.into_iter().map(|n| n as f64).collect());
                Ok(values.map(|values| (numbers.shape.clone(), values)))
            }
            _ => Ok(None),
        }
    }

    fn give_folded(&mut self, node: Node<'a>, lengths: Vec<usize>, values: Vec<f64>) -> Result<()> {
        let constant = Constant { tensor: node.output()?, is_floating: true, view: View::whole(lengths) };
        self.add_numbers(node, constant, values)
    }

    /// A function of constants is a constant; false where it is of something else.
    ///
    /// # Errors
    /// Likewise.
    pub fn fold(&mut self, node: Node<'a>, function: &dyn Fn(f64) -> f64) -> Result<bool> {
        let Some((lengths, values)) = self.foldable(node, 0)? else { return Ok(false) };
        self.spend(values.len().saturating_mul(8))?;
        let values = collected("a constant", values.into_iter().map(function))?;
        self.give_folded(node, lengths, values)?;
        Ok(true)
    }

    /// Likewise, of two constants, of which axes of length 1 go with all.
    ///
    /// # Errors
    /// Likewise; `Parse` for shapes that do not go together.
    pub fn fold_two(&mut self, node: Node<'a>, function: &dyn Fn(f64, f64) -> f64) -> Result<bool> {
        let (Some(a), Some(b)) = (self.foldable(node, 0)?, self.foldable(node, 1)?) else { return Ok(false) };
        let rank = a.0.len().max(b.0.len());
        // An axis that is not there is one of length 1.
        let length = |shape: &[usize], axis: usize| (axis + shape.len()).checked_sub(rank).map_or(1, |at| shape[at]);
        let lengths: Vec<usize> = (0..rank)
            .map(|axis| match [length(&a.0, axis), length(&b.0, axis)] {
                [1, other] => other,
                [one, _] => one,
            })
            .collect();
        let spread = |shape: &[usize]| {
            let own = View::whole(shape.to_vec());
            let stride = |axis: usize| match length(shape, axis) {
                1 => Some(0),
                found => (found == lengths[axis]).then(|| own.strides[axis + shape.len() - rank]),
            };
            (0..rank).map(stride).collect::<Option<Vec<usize>>>()
        };
        let (Some(left), Some(right)) = (spread(&a.0), spread(&b.0)) else {
            bail!(Parse, "{} computes with constants of shapes {:?} and {:?}", node.title(), a.0, b.0)
        };
        let count = crate::io::array::count(&lengths).unwrap_or(usize::MAX);
        self.spend(count.saturating_mul(8))?;
        let [left, right] = [left, right].map(|strides| View { lengths: lengths.clone(), strides });
        let at = |values: &[f64], i: usize| values.get(i).copied().unwrap_or(f64::NAN);
        let pairs = left.places().zip(right.places());
        let values = collected("a constant", pairs.map(|(i, j)| function(at(&a.1, i), at(&b.1, j))))?;
        self.give_folded(node, lengths, values)?;
        Ok(true)
    }

    /// Whole numbers that a name stands for, if it does.
    ///
    /// # Errors
    /// Likewise.
    pub fn whole_numbers(&mut self, node: Node, name: &str) -> Result<Option<Numbers>> {
        let constant = match self.value(node, name)? {
            Value::Numbers(numbers) => return Ok(Some(numbers.clone())),
            Value::Constant(constant) if constant.view.len() <= MOST_NUMBERS => constant.clone(),
            _ => return Ok(None),
        };
        let array = self.array(&constant)?;
        let values: Vec<i64> = match array.elements() {
            Elements::I64(values) => values.clone(),
            Elements::U8(values) => values.iter().map(|&n| i64::from(n)).collect(),
            _ => {
                let values = array.to_f64()?;
                if values.iter().any(|value| value.fract() != 0.0 || value.abs() > 1e15) {
                    return Ok(None);
                }
                values.iter().map(|&value| value as i64).collect()
            }
        };
        let values = constant.view.places().map(|i| Size::known(values.get(i).copied().unwrap_or_default()));
        let shape = constant.view.lengths.clone();
        Ok(Some(Numbers { shape, values: values.collect(), is_floating: constant.is_floating }))
    }

    /// Whole numbers that a node reads at a place and that are known, if it reads something there.
    ///
    /// # Errors
    /// `InvalidNetwork` where they hang on the input, or on the number of samples.
    pub fn known(&mut self, node: Node<'a>, at: usize) -> Result<Option<Vec<i64>>> {
        let Some(name) = node.optional(at) else { return Ok(None) };
        match self.whole_numbers(node, name)?.and_then(|numbers| numbers.known()) {
            Some(values) => Ok(Some(values)),
            None => bail!(
                InvalidNetwork,
                "{} reads {name}, which must be whole numbers that are the same for every input: export the model with a fixed \
                 shape of its input",
                node.title()
            ),
        }
    }
}
