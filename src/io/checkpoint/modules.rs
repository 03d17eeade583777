//! Arrays with names as the layers that they belong to: `conv1.weight` and `conv1.bias` are one module, and so are
//! `Dense_0/kernel` and `Dense_0/bias`, or `W1` and `b1`.

use super::super::{Array, Arrays};
use super::foreign;

/// In which order a weight's axes are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// (outputs, inputs, height, width), as PyTorch has them.
    OutputsFirst,
    /// (height, width, inputs, outputs), as Keras and Flax have them.
    OutputsLast,
    /// As before, but (height, width, inputs, multiplier) of a depthwise convolution.
    Depthwise,
    /// Nothing says so.
    Unknown,
}

/// A name in a file, and the array.
pub(super) type Named<'a> = (&'a str, &'a Array);

/// The arrays of one layer.
#[derive(Debug, Clone)]
pub(super) struct Module<'a> {
    /// What their names begin with.
    pub name: String,
    /// What they are.
    pub kind: Kind<'a>,
}

/// What a layer's arrays are.
#[derive(Debug, Clone)]
pub(super) enum Kind<'a> {
    /// A dense layer or a convolution.
    Affine { weight: Named<'a>, order: Order, bias: Option<Named<'a>> },
    /// A batch normalisation with its statistics.
    Norm { scale: Option<Named<'a>>, shift: Option<Named<'a>>, mean: Named<'a>, variance: Named<'a> },
    /// A factor and perhaps a bias a channel.
    Scale { weight: Named<'a>, bias: Option<Named<'a>> },
}

impl Module<'_> {
    /// Its weight, where it has one.
    pub fn weight(&self) -> Option<Named<'_>> {
        match &self.kind {
            Kind::Affine { weight, .. } | Kind::Scale { weight, .. } => Some(*weight),
            Kind::Norm { scale, .. } => *scale,
        }
    }

    /// What it is and its shape, for messages.
    pub fn described(&self) -> String {
        match &self.kind {
            Kind::Affine { weight, .. } => format!("{} {:?}", self.name, weight.1.shape()),
            Kind::Norm { mean, .. } => format!("{} (batch normalisation of {})", self.name, mean.1.elements().len()),
            Kind::Scale { weight, .. } => format!("{} (scale of {})", self.name, weight.1.elements().len()),
        }
    }

    /// Number of features that it normalises or scales.
    pub fn width(&self) -> Option<usize> {
        match &self.kind {
            Kind::Affine { .. } => None,
            Kind::Norm { mean, .. } => Some(mean.1.elements().len()),
            Kind::Scale { weight, .. } => Some(weight.1.elements().len()),
        }
    }
}

/// What an array is within its layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Weight(Order),
    Bias,
    Scale,
    Shift,
    Mean,
    Variance,
    /// Nothing that is computed with: a count of batches.
    Nothing,
}

fn role(leaf: &str) -> Option<Role> {
    Some(match leaf.to_ascii_lowercase().as_str() {
        "weight" => Role::Weight(Order::OutputsFirst),
        "kernel" | "pointwise_kernel" => Role::Weight(Order::OutputsLast),
        "depthwise_kernel" => Role::Weight(Order::Depthwise),
        "w" | "weights" => Role::Weight(Order::Unknown),
        // scikit-learn's, of a perceptron and of linear models.
        "coefs" => Role::Weight(Order::OutputsLast),
        "coef" | "coef_" => Role::Weight(Order::OutputsFirst),
        "intercept" | "intercept_" | "intercepts" => Role::Bias,
        "bias" | "b" | "biases" => Role::Bias,
        "gamma" | "scale" => Role::Scale,
        "beta" | "shift" => Role::Shift,
        "running_mean" | "moving_mean" | "mean" => Role::Mean,
        "running_var" | "moving_variance" | "moving_var" | "var" | "variance" => Role::Variance,
        "num_batches_tracked" => Role::Nothing,
        _ => return None,
    })
}

/// A name in two: the layer's, and what the array is within it.
fn split(name: &str) -> Option<(String, Role)> {
    // TensorFlow numbers what an operation gives.
    let name = name.strip_suffix(":0").unwrap_or(name);
    if let Some(at) = name.rfind(['.', '/', ':'])
        && let Some(role) = role(&name[at + 1..])
    {
        // Flax keeps parameters and statistics in trees of their own.
        let parent = &name[..at];
        let roots = ["params/", "batch_stats/", "params.", "batch_stats."];
        let parent = roots.iter().find_map(|root| parent.strip_prefix(root)).unwrap_or(parent);
        return Some((parent.into(), role));
    }
    if let Some(role) = role(name) {
        return Some((String::new(), role));
    }
    // `fc1_weight`; `running_mean` has such a line itself.
    let lines = name.match_indices('_').map(|(at, _)| at);
    if let Some((at, role)) = lines.filter_map(|at| Some((at, role(&name[at + 1..])?))).next() {
        return Some((name[..at].into(), role));
    }
    // `W1` and `b1`.
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let letters = &name[..name.len() - digits.len()];
    let is_number = !digits.is_empty() && digits.trim_start_matches('_').bytes().all(|b| b.is_ascii_digit());
    if is_number { Some((digits.trim_start_matches('_').into(), role(letters)?)) } else { None }
}

/// Does an array's name say what it is of a layer?
pub(in crate::io) fn is_of_a_layer(name: &str) -> bool {
    split(name).is_some()
}

/// The arrays of one layer, not yet told apart.
#[derive(Default)]
struct Parts<'a> {
    weight: Option<(Named<'a>, Order)>,
    bias: Option<Named<'a>>,
    scale: Option<Named<'a>>,
    shift: Option<Named<'a>>,
    mean: Option<Named<'a>>,
    variance: Option<Named<'a>>,
}

impl<'a> Parts<'a> {
    fn names(&self) -> Vec<&'a str> {
        let weight = self.weight.map(|(weight, _)| weight);
        let all = [weight, self.bias, self.scale, self.shift, self.mean, self.variance];
        all.into_iter().flatten().map(|(name, _)| name).collect()
    }

    fn kind(self) -> Option<Kind<'a>> {
        let (scale, shift) = (self.scale.or(self.weight.map(|(weight, _)| weight)), self.shift.or(self.bias));
        if let (Some(mean), Some(variance)) = (self.mean, self.variance) {
            return Some(Kind::Norm { scale, shift, mean, variance });
        }
        match self.weight {
            Some((weight, order)) if weight.1.shape().len() > 1 => {
                Some(Kind::Affine { weight, order: told_by(order, weight, self.bias), bias: self.bias })
            }
            _ => Some(Kind::Scale { weight: scale.filter(|(_, array)| array.shape().len() == 1)?, bias: shift }),
        }
    }
}

/// An order that nothing says is told by the bias, where the weight is no square.
fn told_by(order: Order, weight: Named, bias: Option<Named>) -> Order {
    let (shape, Some(bias)) = (weight.1.shape(), bias) else { return order };
    let len = bias.1.elements().len();
    match (order, shape.first() == Some(&len), shape.last() == Some(&len)) {
        (Order::Unknown, true, false) => Order::OutputsFirst,
        (Order::Unknown, false, true) => Order::OutputsLast,
        _ => order,
    }
}

/// The layers whose weights a file has, in the file's order, and the names of arrays that are no layer's.
pub(super) fn modules(arrays: &Arrays) -> (Vec<Module<'_>>, Vec<&str>) {
    let (mut found, mut left) = by_names(arrays);
    if found.is_empty() {
        (found, left) = by_shapes(arrays);
    }
    let matrices = settle(&mut found, 2, None);
    settle(&mut found, 4, matrices);
    (found, left)
}

/// Weights of so many axes whose order nothing says, as a square's bias does not, are in the order of the file's others, which is returned;
/// where none of these is told either, matrices in the one that makes a chain of them, and kernels in that of the matrices, `otherwise`.
fn settle(modules: &mut [Module], rank: usize, otherwise: Option<Order>) -> Option<Order> {
    let mut weights: Vec<(&mut Order, &[usize])> = modules
        .iter_mut()
        .filter_map(|module| match &mut module.kind {
            Kind::Affine { weight, order, .. } if weight.1.shape().len() == rank => Some((order, weight.1.shape())),
            _ => None,
        })
        .collect();
    let mut told: Vec<Order> = Vec::new();
    for (order, _) in &weights {
        if **order != Order::Unknown && !told.contains(order) {
            told.push(**order);
        }
    }
    if told.is_empty() && rank == 2 {
        let chains = |order: Order| {
            weights.windows(2).all(|pair| match (order, pair[0].1, pair[1].1) {
                (Order::OutputsFirst, before, after) => before[0] == after[1],
                (_, before, after) => before[1] == after[0],
            })
        };
        told = [Order::OutputsFirst, Order::OutputsLast].into_iter().filter(|&order| chains(order)).collect();
    }
    let one = match told[..] {
        [one] => Some(one),
        [] => otherwise,
        _ => None,
    };
    if let Some(one) = one {
        weights.iter_mut().filter(|(order, _)| **order == Order::Unknown).for_each(|(order, _)| **order = one);
    }
    one
}

fn by_names(arrays: &Arrays) -> (Vec<Module<'_>>, Vec<&str>) {
    let mut known = std::collections::HashMap::new();
    let mut parts: Vec<(String, Parts)> = Vec::new();
    let mut left = Vec::new();
    for (name, array) in &arrays.arrays {
        let Some((parent, role)) = split(name) else {
            left.push(name.as_str());
            continue;
        };
        let at = *known.entry(parent.clone()).or_insert_with(|| {
            parts.push((parent, Parts::default()));
            parts.len() - 1
        });
        let (part, named) = (&mut parts[at].1, (name.as_str(), array));
        let place = match role {
            Role::Weight(order) => {
                match &part.weight {
                    None => part.weight = Some((named, order)),
                    Some(_) => left.push(named.0),
                }
                continue;
            }
            Role::Bias => &mut part.bias,
            Role::Scale => &mut part.scale,
            Role::Shift => &mut part.shift,
            Role::Mean => &mut part.mean,
            Role::Variance => &mut part.variance,
            Role::Nothing => continue,
        };
        match place {
            None => *place = Some(named),
            // Another spelling of the same name.
            Some(_) => left.push(named.0),
        }
    }
    let mut modules = Vec::new();
    for (name, parts) in parts {
        let names = parts.names();
        match parts.kind() {
            // Weights of classes: a layer that scales has a bias or statistics, and another name.
            Some(Kind::Scale { bias: None, .. }) if foreign::is_of_a_loss(&name) => left.extend(names),
            Some(kind) => modules.push(Module { name, kind }),
            None => left.extend(names),
        }
    }
    (modules, left)
}

/// Without names that say anything: a matrix or a kernel begins a layer, and the rows of its width behind it are its bias, or the bias and
/// what Keras has of a normalisation: γ, β, mean and variance.
fn by_shapes(arrays: &Arrays) -> (Vec<Module<'_>>, Vec<&str>) {
    let mut layers: Vec<(Named, Vec<Named>)> = Vec::new();
    let mut left = Vec::new();
    for (name, array) in &arrays.arrays {
        let named = (name.as_str(), array);
        match (array.shape(), layers.last_mut()) {
            ([_, _] | [_, _, _, _], _) => layers.push((named, Vec::new())),
            ([len], Some((weight, rows)))
                if rows
                    .first()
                    .map_or([weight.1.shape().first(), weight.1.shape().last()].contains(&Some(len)), |row| {
                        row.1.shape() == [*len]
                    }) =>
            {
                rows.push(named);
            }
            _ => left.push(named.0),
        }
    }
    let mut found: Vec<Module> = Vec::new();
    for (weight, rows) in layers {
        let (bias, norm) = match &rows[..] {
            [bias, norm @ ..] if norm.len() == 4 => (Some(*bias), norm),
            norm if norm.len() == 4 => (None, norm),
            [bias, more @ ..] => {
                left.extend(more.iter().map(|(name, _)| *name));
                (Some(*bias), &[][..])
            }
            [] => (None, &[][..]),
        };
        let order = told_by(Order::Unknown, weight, rows.first().copied());
        found.push(Module { name: weight.0.into(), kind: Kind::Affine { weight, order, bias } });
        if let &[scale, shift, mean, variance] = norm {
            let kind = Kind::Norm { scale: Some(scale), shift: Some(shift), mean, variance };
            found.push(Module { name: scale.0.into(), kind });
        }
    }
    (found, left)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Elements;

    fn arrays(list: &[(&str, &[usize])]) -> Arrays {
        let array = |shape: &[usize]| Array::new(shape.to_vec(), Elements::F32(vec![0.0; shape.iter().product()]));
        let arrays = list.iter().map(|(name, shape)| (name.to_string(), array(shape).expect("an array"))).collect();
        Arrays { arrays, ..Arrays::default() }
    }

    fn told(list: &[(&str, &[usize])]) -> Vec<String> {
        let arrays = arrays(list);
        let (modules, left) = modules(&arrays);
        let told = modules.iter().map(|module| match &module.kind {
            Kind::Affine { order, bias, .. } => format!("{} {order:?} {}", module.name, bias.is_some()),
            Kind::Norm { scale, .. } => format!("{} norm {}", module.name, scale.is_some()),
            Kind::Scale { .. } => format!("{} scale", module.name),
        });
        told.chain(left.iter().map(|name| format!("left {name}"))).collect()
    }

    #[test]
    fn arrays_belong_to_the_layers_that_their_names_begin_with() {
        let torch: &[(&str, &[usize])] = &[
            ("conv1.weight", &[4, 1, 3, 3]),
            ("conv1.bias", &[4]),
            ("bn1.weight", &[4]),
            ("bn1.bias", &[4]),
            ("bn1.running_mean", &[4]),
            ("bn1.running_var", &[4]),
            ("bn1.num_batches_tracked", &[]),
            ("optimizer_step", &[1]),
        ];
        assert_eq!(told(torch), ["conv1 OutputsFirst true", "bn1 norm true", "left optimizer_step"]);
        let flax: &[(&str, &[usize])] = &[
            ("params/Dense_0/bias", &[3]),
            ("params/Dense_0/kernel", &[5, 3]),
            ("params/BatchNorm_0/scale", &[3]),
            ("params/BatchNorm_0/bias", &[3]),
            ("batch_stats/BatchNorm_0/mean", &[3]),
            ("batch_stats/BatchNorm_0/var", &[3]),
        ];
        assert_eq!(told(flax), ["Dense_0 OutputsLast true", "BatchNorm_0 norm true"]);
        assert_eq!(told(&[("fc1_weight", &[2, 3]), ("fc1_bias", &[2])]), ["fc1 OutputsFirst true"]);
        assert_eq!(told(&[("W1", &[2, 3]), ("b1", &[3])]), ["1 OutputsLast true"]);
        let perceptron: &[(&str, &[usize])] =
            &[("coefs_0", &[3, 3]), ("coefs_1", &[3, 2]), ("intercepts_0", &[3]), ("intercepts_1", &[2])];
        assert_eq!(told(perceptron), ["0 OutputsLast true", "1 OutputsLast true"]);
        assert_eq!(told(&[("arr_0", &[2, 3]), ("arr_1", &[2])]), ["arr_0 OutputsFirst true"]);
        assert_eq!(told(&[("arr_0", &[3, 3]), ("arr_1", &[3])]), ["arr_0 Unknown true"]);
    }

    #[test]
    fn a_square_is_in_the_order_of_the_others() {
        let biased: &[(&str, &[usize])] =
            &[("W1", &[6, 8]), ("b1", &[8]), ("W2", &[8, 8]), ("b2", &[8]), ("W3", &[8, 3]), ("b3", &[3])];
        assert_eq!(told(biased), ["1 OutputsLast true", "2 OutputsLast true", "3 OutputsLast true"]);
        let bare = |shapes: [[usize; 2]; 3]| {
            told(&[("W1", &shapes[0][..]), ("W2", &shapes[1][..]), ("W3", &shapes[2][..])]).join(", ")
        };
        assert_eq!(bare([[6, 6], [6, 6], [6, 3]]), "1 OutputsLast false, 2 OutputsLast false, 3 OutputsLast false");
        assert_eq!(bare([[6, 6], [7, 6], [3, 7]]), "1 OutputsFirst false, 2 OutputsFirst false, 3 OutputsFirst false");
        // Both ways, and no way.
        assert_eq!(bare([[6, 7], [7, 6], [6, 7]]), "1 Unknown false, 2 Unknown false, 3 Unknown false");
        assert_eq!(bare([[6, 7], [5, 4], [3, 2]]), "1 Unknown false, 2 Unknown false, 3 Unknown false");
    }

    #[test]
    fn rows_without_names_are_biases_and_normalisations_as_keras_has_them() {
        let rows = |first: usize, count: usize| -> Vec<(String, Vec<usize>)> {
            let weights =
                [("arr_00", vec![2, 3]), ("arr_50", vec![3, 4])].map(|(name, shape)| (name.to_owned(), shape));
            let row = |i: usize| (format!("arr_{:02}", first + i), vec![3]);
            let mut list: Vec<_> = weights.into_iter().chain((0..count).map(row)).collect();
            list.sort();
            list
        };
        let of = |count: usize| {
            let list = rows(1, count);
            told(&list.iter().map(|(name, shape)| (name.as_str(), &shape[..])).collect::<Vec<_>>()).join(", ")
        };
        assert_eq!(of(1), "arr_00 OutputsLast true, arr_50 OutputsLast false");
        assert_eq!(of(4), "arr_00 OutputsLast false, arr_01 norm true, arr_50 OutputsLast false");
        assert_eq!(of(5), "arr_00 OutputsLast true, arr_02 norm true, arr_50 OutputsLast false");
        assert_eq!(of(2), "arr_00 OutputsLast true, arr_50 OutputsLast false, left arr_02");
        let square: &[(&str, &[usize])] =
            &[("arr_0", &[3, 3, 3, 3]), ("arr_1", &[3]), ("arr_2", &[27, 5]), ("arr_3", &[5])];
        assert_eq!(told(square), ["arr_0 OutputsLast true", "arr_2 OutputsLast true"]);
    }

    #[test]
    fn what_belongs_to_no_layer_is_left_with_its_name() {
        let arrays: &[(&str, &[usize])] = &[("w", &[6, 7]), ("b0", &[7]), ("v", &[7, 3]), ("W", &[2, 2])];
        assert_eq!(told(arrays), [" Unknown false", "left v", "left W", "left b0"]);
    }
}
