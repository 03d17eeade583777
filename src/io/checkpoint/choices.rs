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

/// The choices for these convolutions, of all modules of a file.
pub(super) fn choices(modules: &[Module], convolutions: &[&Module]) -> Vec<Choice> {
    let count = convolutions.len();
    let usual: Vec<bool> = convolutions.iter().map(|conv| usually_keeps(conv)).collect();
    let every: Vec<Vec<bool>> = match count {
        0 => vec![Vec::new()],
        1..=MOST_APART => (0..1usize << count).map(|bits| (0..count).map(|i| bits >> i & 1 == 1).collect()).collect(),
        _ => vec![vec![true; count], vec![false; count], (0..count).map(|i| i % 2 == 1).collect()],
    };
    let told = pools_by_number(modules, convolutions);
    let told = told.map_or(Vec::new(), |told| [true, false].map(|last| [&told[..], &[last]].concat()).to_vec());
    let pools = told.iter().map(|pools| (pools, 0)).chain(every.iter().map(|pools| (pools, 2)));
    let mut all: Vec<(usize, Choice)> = Vec::new();
    for (pools, untold) in pools {
        for keeps in &every {
            for is_mean in [false, true] {
                // What was told comes first, and a mean over channels where nothing else fits.
                let odd = oddness(keeps, &usual, pools) + ((untold + usize::from(is_mean)) << 16);
                all.push((odd, Choice { keeps: keeps.clone(), pools: pools.clone(), is_mean }));
            }
        }
    }
    all.sort_by_key(|(odd, _)| *odd);
    all.into_iter().map(|(_, choice)| choice).collect()
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
    let all: Vec<usize> = modules.iter().filter_map(of_parent).collect();
    let is_pooled = |pair: &[usize]| {
        let before = all.iter().filter(|&&number| number < pair[1]).max();
        before.is_some_and(|before| pair[1] - before > 2)
    };
    Some(numbers.windows(2).map(is_pooled).collect())
}
