//! What shapes of weights do not tell of a chain of convolutions: padding, pools, and a mean at the end. Every choice, the commonest
//! first.

use super::modules::{Kind, Module, Order};

/// More convolutions than this are not tried each by itself.
const MOST_APART: usize = 6;

/// What the shapes do not tell.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Choice {
    /// Of each convolution: does it keep the image's size?
    pub keeps: Vec<bool>,
    /// Is there a pool behind it?
    pub pools: Vec<bool>,
    /// Is there a mean over each channel before the dense layers?
    pub is_mean: bool,
}

/// The choices for these convolutions, of all modules of a file; each makes another network. Is there a dense layer behind them?
pub(super) fn choices(modules: &[Module], convolutions: &[&Module], has_dense: bool) -> Vec<Choice> {
    let count = convolutions.len();
    // A kernel of one pixel needs no padding, and behind the last layer there is no pool.
    let is_one =
        |conv: &Module| matches!(&conv.kind, Kind::Affine { weight, .. } if side(weight.1.shape()) == Some([1, 1]));
    let may_keep = |keeps: &[bool]| keeps.iter().zip(convolutions).all(|(keeps, conv)| !keeps || !is_one(conv));
    let may_pool = |pools: &[bool]| has_dense || pools.last() != Some(&true);
    let usual: Vec<bool> = convolutions.iter().map(|conv| usually_keeps(conv)).collect();
    let every: Vec<Vec<bool>> = match count {
        0 => vec![Vec::new()],
        1..=MOST_APART => (0..1usize << count).map(|bits| (0..count).map(|i| bits >> i & 1 == 1).collect()).collect(),
        _ => vec![vec![true; count], vec![false; count], (0..count).map(|i| i % 2 == 1).collect()],
    };
    let told = pools_by_number(modules, convolutions);
    let told = told.map_or(Vec::new(), |told| [true, false].map(|last| [&told[..], &[last]].concat()).to_vec());
    let untold = every.iter().filter(|pools| !told.contains(pools));
    let pools = told.iter().map(|pools| (pools, 0)).chain(untold.map(|pools| (pools, 2)));
    let mut all: Vec<(usize, Choice)> = Vec::new();
    for (pools, untold) in pools.filter(|(pools, _)| may_pool(pools)) {
        for keeps in every.iter().filter(|keeps| may_keep(keeps)) {
            for is_mean in [false, has_dense && count > 0] {
                // What was told comes first, and a mean over channels where nothing else fits.
                let odd = oddness(keeps, &usual, pools) + ((untold + usize::from(is_mean)) << 16);
                all.push((odd, Choice { keeps: keeps.clone(), pools: pools.clone(), is_mean }));
            }
        }
    }
    all.sort_by_key(|(odd, _)| *odd);
    all.into_iter().map(|(_, choice)| choice).collect()
}

/// Height and width of a kernel, in either order of axes.
fn side(shape: &[usize]) -> Option<[usize; 2]> {
    match *shape {
        [_, _, 1, 1] | [1, 1, _, _] => Some([1, 1]),
        [_, _, h, w] => Some([h, w]),
        _ => None,
    }
}

/// Does a convolution usually keep the image's size? Keras pads nothing where nobody says so, Flax always; in PyTorch small kernels
/// are given what they need.
fn usually_keeps(module: &Module) -> bool {
    let Kind::Affine { weight, order, .. } = &module.kind else { return false };
    match (order, weight.1.shape()) {
        (Order::OutputsLast | Order::Depthwise, _) => module.name.contains("Conv_"),
        (_, &[_, _, h, w]) => h <= 3 && w <= 3,
        _ => false,
    }
}

/// How unusual a choice is: networks pad all their convolutions or none, and have pools behind all of them, or the last ones.
fn oddness(keeps: &[bool], usual: &[bool], pools: &[bool]) -> usize {
    const UNIFORM: usize = 3;
    let unusual = keeps.iter().zip(usual).filter(|(a, b)| a != b).count();
    let is_uniform = keeps.windows(2).all(|pair| pair[0] == pair[1]);
    let padding = if is_uniform && unusual > 0 {
        UNIFORM
    } else if unusual > 0 {
        2 * unusual + 2
    } else {
        0
    };
    let holes = pools.iter().filter(|&&pool| !pool).count();
    let pooled = pools.len() - holes;
    let is_early = pooled > 0 && pools.last() == Some(&false);
    padding + holes.min(pooled + 1) + usize::from(is_early)
}

/// Behind which convolutions there is a pool, as the numbers of PyTorch's `Sequential` tell: it counts activations and pools too,
/// so that of `features.3` and `features.6` two layers between have no weights. Of the last convolution they do not tell it. Nothing
/// where the names are no such numbers.
fn pools_by_number(modules: &[Module], convolutions: &[&Module]) -> Option<Vec<bool>> {
    let number = |module: &Module| {
        let (parent, number) = module.name.rsplit_once('.').unwrap_or(("", &module.name));
        Some((parent.to_owned(), number.parse::<usize>().ok()?))
    };
    let (parent, _) = number(convolutions.first()?)?;
    let of_parent = |module| number(module).filter(|(other, _)| *other == parent).map(|(_, number)| number);
    let numbers: Vec<usize> = convolutions.iter().map(|conv| of_parent(conv)).collect::<Option<_>>()?;
    let mut all: Vec<usize> = modules.iter().filter_map(of_parent).collect();
    all.sort_unstable();
    let is_pooled = |pair: &[usize]| {
        let before = all[..all.partition_point(|&number| number < pair[1])].last();
        before.is_some_and(|before| pair[1] - before > 2)
    };
    Some(numbers.windows(2).map(is_pooled).collect())
}
