//! Which normalisation belongs to which layer, as their names and their places in a file tell it.

use std::collections::{HashMap, HashSet};

use super::modules::Module;
use super::natural;

/// Words of names that say what a layer is, and not which one.
const KINDS: [&str; 12] = [
    "conv",
    "convolution",
    "fc",
    "dense",
    "linear",
    "bn",
    "batch",
    "norm",
    "normalization",
    "batchnorm",
    "batchnormalization",
    "normalisation",
];

/// Words of names that say that something comes first, and that it comes last.
const FIRST: [&str; 9] = ["in", "input", "first", "stem", "init", "pre", "start", "begin", "0"];
const LAST: [&str; 9] = ["out", "output", "final", "last", "end", "post", "tail", "head", "f"];

/// On which side of its layer a normalisation stands that has the layer's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    /// It normalises what the layer gives.
    Behind,
    /// It normalises what the layer reads, perhaps with an activation between.
    Ahead,
    /// On neither: normalisations are numbered apart from layers.
    Apart,
}

/// A name in its parts.
struct Parts<'a> {
    /// `layer1.0` of `layer1.0.conv2`.
    parent: &'a str,
    /// What else it says than the layer's kind: `1_1` of `conv1_1`.
    key: String,
    /// The digits at its end.
    number: &'a str,
}

/// The names of a file's modules.
pub(super) struct Partners<'a> {
    modules: &'a [Module<'a>],
    parts: Vec<Parts<'a>>,
    /// The modules of each parent: dense layers and convolutions, and normalisations.
    children: HashMap<&'a str, [Vec<usize>; 2]>,
    /// Of each normalisation, whether a layer has its name but for the kind.
    has_namesake: Vec<bool>,
    /// Of each module that is taken for a layer, what that gives.
    outputs: Vec<Option<usize>>,
}

impl<'a> Partners<'a> {
    pub fn new(modules: &'a [Module<'a>], outputs: Vec<Option<usize>>) -> Self {
        let parts: Vec<Parts> = modules.iter().map(|module| parts(&module.name)).collect();
        let mut children: HashMap<&str, [Vec<usize>; 2]> = HashMap::new();
        for (m, part) in parts.iter().enumerate() {
            let kinds = children.entry(part.parent).or_default();
            kinds[usize::from(modules[m].width().is_some())].push(m);
        }
        let layers = || parts.iter().zip(modules).filter(|(_, module)| module.width().is_none());
        let known: HashSet<(&str, &str)> = layers().map(|(part, _)| (part.parent, &*part.key)).collect();
        let has_namesake = parts.iter().map(|part| known.contains(&(part.parent, &*part.key))).collect();
        Self { modules, parts, children, has_namesake, outputs }
    }

    pub fn parent(&self, m: usize) -> &'a str {
        self.parts[m].parent
    }

    /// Parents that have both layers and normalisations.
    pub fn parents(&self) -> impl Iterator<Item = &'a str> {
        let has_both = self.children.iter().filter(|(_, [layers, norms])| !layers.is_empty() && !norms.is_empty());
        has_both.map(|(parent, _)| *parent)
    }

    /// The layers of a parent, and its normalisations.
    fn children(&self, parent: &str) -> [&[usize]; 2] {
        self.children.get(parent).map_or([&[], &[]], |kinds| [&kinds[0], &kinds[1]])
    }

    pub fn norms(&self, parent: &str) -> &[usize] {
        self.children(parent)[1]
    }

    /// The normalisation that belongs to a layer: `bn1` to `conv1`, the only one beside the only layer, or what the file has behind it.
    pub fn of(&self, m: usize, side: Side, accepts: impl Fn(usize) -> bool) -> Option<usize> {
        let numbered = || self.numbered(m).find(|&n| accepts(n)).filter(|_| side != Side::Apart);
        let alone = || match self.children(self.parent(m)) {
            [[_], &[n]] if !self.parent(m).is_empty() => Some(n).filter(|&n| accepts(n)),
            _ => None,
        };
        let next = || {
            let is_norm = |&n: &usize| self.modules.get(n).is_some_and(|module| module.width().is_some());
            Some(m + 1).filter(is_norm).filter(|&n| accepts(n) && !self.is_of_another(n, m, side))
        };
        numbered().or_else(alone).or_else(next)
    }

    /// Normalisations that have a layer's name but for the kind, or else its number.
    pub fn numbered(&self, m: usize) -> impl Iterator<Item = usize> {
        let (own, norms) = (&self.parts[m], self.norms(self.parent(m)));
        let is_same = |&n: &usize| !own.key.is_empty() && self.parts[n].key == own.key;
        let ends_so = move |&n: &usize| {
            !own.number.is_empty() && self.parts[n].number == own.number && self.parts[n].key != own.key
        };
        let is_free = |&n: &usize| !self.has_namesake[n];
        norms.iter().copied().filter(is_same).chain(norms.iter().copied().filter(ends_so).filter(is_free))
    }

    /// Normalisations of a parent with the layers that have their number.
    pub fn pairs(&self, parent: &str) -> impl Iterator<Item = (usize, usize)> {
        let layers = self.children(parent)[0].iter();
        layers.filter_map(|&m| Some((self.numbered(m).next()?, m)))
    }

    /// The layers that have a normalisation's name but for the kind.
    fn namesakes(&self, n: usize) -> impl Iterator<Item = usize> {
        let own = &self.parts[n];
        let layers = self.children(own.parent)[0].iter().copied();
        layers.filter(|&m| !own.key.is_empty() && self.parts[m].key == own.key)
    }

    /// Has a normalisation a layer of its own: one that gives as much and has its name, or is with it in another part of the network?
    fn is_of_another(&self, n: usize, m: usize, side: Side) -> bool {
        let (parent, width) = (self.parent(n), self.modules[n].width());
        let gives = |other: usize| self.outputs[other] == width;
        let is_elsewhere = !parent.is_empty() && parent != self.parent(m);
        is_elsewhere && self.children(parent)[0].iter().any(|&other| gives(other))
            || side != Side::Apart && self.namesakes(n).any(|other| other != m && gives(other))
    }

    /// Has a parent a normalisation whose number is beyond those of its layers, as `bn3` is of two convolutions? Where they come first,
    /// the last stands behind everything.
    pub fn ends_with_norm(&self, parent: &str) -> bool {
        let [layers, norms] = self.children(parent);
        let last = |modules: &[usize]| {
            let keys = modules.iter().map(|&m| &*self.parts[m].key);
            let keys = keys.filter(|key| key.starts_with(|c: char| c.is_ascii_digit()));
            keys.max_by(|a, b| natural(a, b))
        };
        match (last(layers), last(norms)) {
            (Some(layer), Some(norm)) => natural(layer, norm).is_lt(),
            _ => false,
        }
    }

    /// Does a parent end with a normalisation that no layer has the number of? Where it does, the numbered ones stand ahead of their layers,
    /// and where it begins with one behind them. `None` where there is one, and neither names nor the order of the file tell which.
    pub fn has_last(&self, parent: &str) -> Option<bool> {
        if self.ends_with_norm(parent) {
            return Some(true);
        }
        let layers = self.children(parent)[0].iter();
        let paired: HashSet<usize> = layers.flat_map(|&m| self.numbered(m)).collect();
        let widths: HashSet<Option<usize>> = paired.iter().map(|&n| self.modules[n].width()).collect();
        let is_apart = |n: &usize| !paired.contains(n) && widths.contains(&self.modules[*n].width());
        let apart = self.norms(parent).iter().copied().filter(is_apart);
        let numbered: Vec<usize> = paired.iter().copied().collect();
        let mut open = false;
        for n in apart {
            if let Some(is_last) = is_last(self.modules, n, &numbered) {
                return Some(is_last);
            }
            open = true;
        }
        if open { None } else { Some(false) }
    }

    /// What a module gives that is taken for a layer.
    pub fn gives(&self, m: usize) -> Option<usize> {
        self.outputs[m]
    }

    /// What a normalisation is one of: those of its parent, or, where it is alone in it without a layer, those of a list: `norms.0.bn`.
    pub fn list(&self, n: usize) -> String {
        match self.children(self.parent(n)) {
            [[], [_]] => without_numbers(&self.modules[n].name),
            _ => self.parent(n).to_owned(),
        }
    }

    /// Does the file have a parent's modules in another order than the alphabet's, so that it tells something?
    pub fn has_order(&self, parent: &str) -> bool {
        let [layers, norms] = self.children(parent);
        let mut all = [layers, norms].concat();
        all.sort_unstable();
        let names = || all.iter().map(|&m| self.modules[m].name.as_str());
        !names().is_sorted() && !names().is_sorted_by(|a, b| natural(a, b).is_le())
    }

    /// Have a layer and a normalisation beside it numbers that are not the same?
    pub fn disagree(&self, m: usize, n: usize) -> bool {
        let [layer, norm] = [&self.parts[m], &self.parts[n]];
        let has_number = !norm.number.is_empty() || is_first(&self.modules[n].name);
        let are_numbered = layer.parent == norm.parent && !layer.number.is_empty() && has_number;
        are_numbered && !self.numbered(m).any(|own| own == n)
    }

    /// Do normalisations differ in numbers alone?
    pub fn are_of_one_stem(&self, norms: &[usize]) -> bool {
        let runs = |name: &str| name.split(|c: char| !c.is_ascii_digit()).filter(|run| !run.is_empty()).count();
        let mut stems = norms.iter().map(|&n| {
            let name = counted(&self.modules[n].name);
            (runs(&name), without_numbers(&name))
        });
        stems.next().is_none_or(|first| first.0 > 0 && stems.all(|other| other == first))
    }

    /// Do normalisations differ in numbers alone, which ascend in the file?
    pub fn are_counted(&self, norms: &[usize]) -> bool {
        let names = norms.iter().map(|&n| counted(&self.modules[n].name));
        self.are_of_one_stem(norms) && names.is_sorted_by(|a, b| natural(a, b).is_le())
    }

    /// Where only a count tells of a normalisation that it stands behind a layer: another layer that has none and that it would fit too.
    pub fn other_place(&self, m: usize, n: usize, bare: &[usize]) -> Option<usize> {
        let [layer, norm] = [&self.parts[m], &self.parts[n]];
        let is_beside = layer.parent == norm.parent;
        let in_list =
            |m: usize| self.modules[m].name.ends_with(|c: char| c.is_ascii_digit()) && self.parts[m].key.is_empty();
        // Places in a list are an order, and so do words tell it.
        let is_told = is_beside && in_list(m) && in_list(n)
            || layer.key == norm.key && layer.key.contains(char::is_alphabetic)
            || is_beside && matches!(self.children(layer.parent), [[_], [_]]);
        let fits = |&other: &usize| {
            let is_near = !is_beside || self.parent(other) == layer.parent;
            other != m && is_near && self.outputs[other] == self.modules[n].width()
        };
        bare.iter().copied().filter(|_| !is_told).find(fits)
    }

    /// Did Flax or Keras name a normalisation, which count them apart from layers?
    pub fn is_counted_apart(&self, n: usize) -> bool {
        let leaf = leaf(&self.modules[n].name).to_ascii_lowercase();
        ["batchnorm_", "batch_normalization_"].iter().any(|counted| leaf.starts_with(counted)) || is_first(&leaf)
    }
}

fn leaf(name: &str) -> &str {
    name.rsplit(['.', '/']).next().unwrap_or_default()
}

/// The first of Keras' normalisations, which it gives no number.
fn is_first(name: &str) -> bool {
    leaf(name) == "batch_normalization"
}

/// A name with the number that it is counted by.
fn counted(name: &str) -> String {
    if is_first(name) { format!("{name}_0") } else { name.to_owned() }
}

/// Does a normalisation stand behind all these others, and not before them? `None` where neither its name nor its place in the file tells
/// it: who sorts names has no other order.
pub(super) fn is_last(modules: &[Module], n: usize, others: &[usize]) -> Option<bool> {
    let leaf = modules[n].name.rsplit(['.', '/']).next().unwrap_or_default().to_lowercase();
    let words = || leaf.split(|c: char| !c.is_alphanumeric()).flat_map(runs);
    let says = |known: &[&str]| words().any(|word| known.contains(&word));
    match (says(&FIRST), says(&LAST)) {
        (true, false) => return Some(false),
        (false, true) => return Some(true),
        _ => {}
    }
    let by_name = modules.is_sorted_by(|a, b| natural(&a.name, &b.name).is_le());
    if by_name || modules.is_sorted_by(|a, b| a.name <= b.name) || others.is_empty() {
        return None;
    }
    match (others.iter().all(|&other| other < n), others.iter().all(|&other| other > n)) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

/// Have two modules of one parent the same number, or the same name but for the kind?
pub(super) fn are_partners(one: &str, other: &str) -> bool {
    let (one, other) = (parts(one), parts(other));
    let is_same = |a: &str, b: &str| !a.is_empty() && a == b;
    one.parent == other.parent && (is_same(&one.key, &other.key) || is_same(one.number, other.number))
}

/// `layer1.0.conv2` as `layer1.0` and `2`.
fn parts(name: &str) -> Parts<'_> {
    let (parent, leaf) = name.rsplit_once(['.', '/']).unwrap_or(("", name));
    let letters = leaf.trim_end_matches(|c: char| c.is_ascii_digit());
    // A number alone is a place in a list, and says nothing of who belongs to whom.
    if letters.is_empty() {
        return Parts { parent, key: String::new(), number: "" };
    }
    Parts { parent, key: key(leaf), number: &leaf[letters.len()..] }
}

/// A name without the words that say which kind of layer it is: `1_1` of `conv1_1` and of `bn1_1`, `block2_1` of `block2_conv1`.
fn key(leaf: &str) -> String {
    let leaf = leaf.to_lowercase();
    let mut kept: Vec<&str> = Vec::new();
    for piece in leaf.split(|c: char| !c.is_alphanumeric()) {
        let runs = runs(piece);
        let mut i = 0;
        while i < runs.len() {
            if KINDS.contains(&runs[i]) {
                // `conv2d` and `batchnorm2d` say how many axes.
                let has_axes = matches!(runs[i + 1..], ["1" | "2" | "3", "d", ..]);
                i += if has_axes { 3 } else { 1 };
            } else {
                kept.push(runs[i]);
                i += 1;
            }
        }
    }
    kept.join("_")
}

/// A name but for its numbers: names that are the same without them are in an order that they tell.
pub(super) fn without_numbers(name: &str) -> String {
    name.split(|c: char| c.is_ascii_digit()).filter(|part| !part.is_empty()).collect::<Vec<&str>>().join("#")
}

/// Letters and digits by turns.
fn runs(text: &str) -> Vec<&str> {
    let (mut runs, mut start) = (Vec::new(), 0);
    let is_digit = |at: usize| text.as_bytes()[at].is_ascii_digit();
    for end in 1..=text.len() {
        if end == text.len() || is_digit(end) != is_digit(end - 1) {
            runs.push(&text[start..end]);
            start = end;
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_without_the_kind() {
        let same = [
            ["conv1_1", "bn1_1"],
            ["block2_conv1", "block2_bn1"],
            ["Conv_0", "BatchNorm_0"],
            ["conv2d_3", "batch_normalization_3"],
            ["conv2_block1_1_conv", "conv2_block1_1_bn"],
            ["conv_dw_1", "conv_dw_1_bn"],
            ["conv_proj", "norm_proj"],
            ["conv2d12", "bn12"],
        ];
        for [layer, norm] in same {
            assert_eq!(key(layer), key(norm), "{layer}");
            assert!(!key(layer).is_empty());
        }
        assert_ne!(key("conv1_1"), key("bn2_1"));
        assert!(["conv", "bn", "conv2d", "BatchNormalization"].iter().all(|name| key(name).is_empty()));
        assert_eq!(parts("features.12").key, "");
        assert_eq!(key("größe1"), "größe_1");
    }
}
