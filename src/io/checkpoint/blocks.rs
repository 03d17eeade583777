//! Residual networks known by their weights alone: the names come in blocks, `layer2.0.conv1` or `ResNetBlock_3/Conv_0`, and the
//! shapes tell which of a block's convolutions leads around it and whether it normalises before or behind them.

use std::collections::{HashMap, HashSet};

use super::modules::{Kind, Module, Order};
use super::partners::{are_partners, is_last};
use super::residual;
use crate::error::{Error, ErrorCode, Result};
use crate::io::dataset::natural;
use crate::network::Network;

/// A convolution's kernel and channels.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub kernel: [usize; 2],
    pub inputs: usize,
    pub channels: usize,
}

impl Shape {
    fn of(module: &Module) -> Option<Self> {
        let Kind::Affine { weight, order, .. } = &module.kind else { return None };
        let found = match (order, weight.1.shape()) {
            (Order::OutputsLast, &[h, w, inputs, channels]) => Self { kernel: [h, w], inputs, channels },
            (Order::OutputsFirst, &[channels, inputs, h, w]) => Self { kernel: [h, w], inputs, channels },
            _ => return None,
        };
        let sizes = [found.kernel[0], found.kernel[1], found.inputs, found.channels];
        sizes.iter().all(|&size| size > 0).then_some(found)
    }

    /// Does it take so many channels, in groups perhaps? Those that look at one pixel have none.
    fn takes(self, channels: usize) -> bool {
        self.inputs > 0
            && if self.kernel == [1, 1] { self.inputs == channels } else { channels.is_multiple_of(self.inputs) }
    }
}

/// Inputs and units of a dense layer.
pub(super) fn dense(module: &Module) -> Option<[usize; 2]> {
    let Kind::Affine { weight, order, .. } = &module.kind else { return None };
    match (order, weight.1.shape()) {
        (Order::OutputsLast, &[inputs, units]) | (Order::OutputsFirst, &[units, inputs]) => Some([inputs, units]),
        _ => None,
    }
}

/// A convolution of the file.
#[derive(Clone, Copy)]
pub(super) struct Conv<'a> {
    pub module: &'a Module<'a>,
    pub shape: Shape,
}

/// The modules of one block.
#[derive(Default)]
pub(super) struct Block<'a> {
    pub main: Vec<Conv<'a>>,
    pub norms: Vec<&'a Module<'a>>,
    pub around: Option<Conv<'a>>,
    pub around_norm: Option<&'a Module<'a>>,
}

/// The modules of each block, by its name.
type Blocks<'a> = Vec<(&'a str, Vec<&'a Module<'a>>)>;

/// What stands outside of the blocks.
#[derive(Default)]
pub(super) struct Outside<'a> {
    pub convolutions: Vec<Conv<'a>>,
    pub norms: Vec<&'a Module<'a>>,
    pub dense: Vec<&'a Module<'a>>,
}

/// A residual network of these modules and what was assumed, if their names come in blocks whose shapes fit each other.
///
/// # Errors
/// `InvalidNetwork` where nothing tells whether the blocks normalise before or behind their convolutions.
pub(super) fn proposed(modules: &[Module], input: Option<&[usize]>) -> Result<Option<(Network, Vec<String>)>> {
    // These halve their images in the first convolution and in the first block, which no shape tells.
    if modules.iter().any(|module| module.name.to_ascii_lowercase().contains("regnet")) {
        return Ok(None);
    }
    let made = |outside: &Outside, grouped: &Blocks| {
        let residual = match Residual::of(modules, outside, grouped)? {
            Ok(residual) => residual,
            Err(error) => return Some(Err(error)),
        };
        residual::network(&residual, outside, input).map(Ok)
    };
    let found = [Level::Inner, Level::Outer].into_iter().find_map(|level| {
        let (outside, mut grouped) = grouped(modules, level)?;
        made(&outside, &grouped).or_else(|| {
            // A file may sort `block_10` before `block_2`.
            grouped.sort_by(|(a, _), (b, _)| natural(a, b));
            made(&outside, &grouped)
        })
    });
    found.transpose()
}

/// Which of a name's numbers is the block's.
#[derive(Clone, Copy)]
enum Level {
    /// The last one that has a word behind it: `layer1.0` of `layer1.0.conv1`.
    Inner,
    /// The one before, where a block's layers are numbered too: `stages.0.layers.1` of `stages.0.layers.1.layer.0.convolution`.
    Outer,
}

/// Blocks whose shapes fit each other.
pub(super) struct Residual<'a> {
    /// The first convolution.
    pub stem: Conv<'a>,
    pub blocks: Vec<Block<'a>>,
    /// Do they normalise what goes into their convolutions, rather than what comes out?
    pub is_before: bool,
}

impl<'a> Residual<'a> {
    fn of(modules: &[Module], outside: &Outside<'a>, grouped: &Blocks<'a>) -> Option<Result<Self>> {
        let [stem] = outside.convolutions[..] else { return None };
        let (mut channels, mut blocks) = (stem.shape.channels, Vec::new());
        for (name, modules) in grouped {
            let block = Block::of(name, modules, channels)?;
            channels = block.main.last()?.shape.channels;
            blocks.push(block);
        }
        let is_told = blocks.iter().any(|block| block.around.is_some());
        if !is_told && !grouped.iter().all(|(name, _)| is_residual(name)) {
            return None;
        }
        let is_before = normalises_before(modules, &blocks, outside, stem)?;
        Some(is_before.map(|is_before| Self { stem, blocks, is_before }))
    }
}

/// Those outside of blocks, and the blocks by their names, in the file's order.
fn grouped<'a>(modules: &'a [Module<'a>], level: Level) -> Option<(Outside<'a>, Blocks<'a>)> {
    let mut of: Vec<Option<&str>> = modules.iter().map(|module| block_of(&module.name, level)).collect();
    // What has blocks in it is none itself: of `net.0.conv1` and `net.0.layer1.0.conv1` the first is outside.
    let ends = |name: &'a str| name.match_indices(['.', '/']).map(|(end, _)| &name[..end]);
    let around: HashSet<&str> = of.iter().flatten().flat_map(|name| ends(name)).collect();
    of.iter_mut().for_each(|name| *name = name.filter(|name| !around.contains(name)));
    let (mut outside, mut blocks, mut places) = (Outside::default(), Blocks::new(), HashMap::new());
    for (module, name) in modules.iter().zip(of) {
        if let Some(name) = name {
            let at = *places.entry(name).or_insert(blocks.len());
            if at == blocks.len() {
                blocks.push((name, Vec::new()));
            }
            blocks[at].1.push(module);
        } else if let Some(shape) = Shape::of(module) {
            outside.convolutions.push(Conv { module, shape });
        } else if dense(module).is_some() {
            outside.dense.push(module);
        } else if is_norm(module) {
            outside.norms.push(module);
        } else {
            return None;
        }
    }
    (!blocks.is_empty()).then_some((outside, blocks))
}

/// A batch normalisation with its statistics: factors without them may be of another kind, which is computed anew for each input.
fn is_norm(module: &Module) -> bool {
    matches!(module.kind, Kind::Norm { .. })
}

/// `layer2.0` of `layer2.0.downsample.1`: up to a number that has a word behind it; what leads around is within a block.
fn block_of(name: &str, level: Level) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mut outer, mut found, mut counted, mut end) = (None, None, None, 0);
    for part in name.split_inclusive(['.', '/']) {
        let word = part.trim_end_matches(['.', '/']);
        // Flax counts its modules by a line and a number.
        let is_counted = is_number(word) || word.rsplit_once('_').is_some_and(|(_, number)| is_number(number));
        if !is_number(word) && counted.is_some() && counted != found {
            (outer, found) = (found, counted);
        }
        if leads_around(word) {
            return found;
        }
        counted = if is_counted { Some(&name[..end + word.len()]) } else { counted };
        end += part.len();
    }
    match level {
        Level::Inner => found,
        Level::Outer => outer,
    }
}

/// Where nothing leads around any block: do the names say that they are residual? PyTorch's `layer1.0` are.
fn is_residual(block: &str) -> bool {
    let stage = block.rsplit_once('.').map_or(block, |(stage, _)| stage).to_ascii_lowercase();
    let stage = stage.rsplit('.').next().unwrap_or_default();
    let numbered = stage.strip_prefix("layer").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    let says_so = ["resnet", "resblock", "res_", "residual"].iter().any(|word| stage.contains(word)) || stage == "res";
    stage != "layer" && numbered || says_so
}

/// Does a name within a block say that it leads around it?
fn leads_around(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["downsample", "shortcut", "skip", "proj", "identity"].iter().any(|word| name.contains(word))
}

impl<'a> Block<'a> {
    /// What leads through and around a block that takes so many channels; nothing where its shapes are no such block's.
    fn of(name: &str, modules: &[&'a Module<'a>], before: usize) -> Option<Self> {
        let mut block = Self::default();
        for &module in modules {
            let is_around = leads_around(&module.name[name.len()..]);
            match Shape::of(module) {
                Some(shape) if is_around => block.around = Some(set(block.around, Conv { module, shape })?),
                Some(shape) => block.main.push(Conv { module, shape }),
                None if !is_norm(module) => return None,
                None if is_around => block.around_norm = Some(set(block.around_norm, module)?),
                None => block.norms.push(module),
            }
        }
        if block.around.is_none() && !is_chain(&block.main, before) {
            // Nothing but its shape tells it, and the modules that lead around are registered last.
            let last = block.main.pop()?;
            let leads = last.shape.kernel == [1, 1] && last.shape.takes(before);
            block.around = leads.then_some(last);
            block.around_norm = if block.norms.len() > block.main.len() { block.norms.pop() } else { None };
        }
        let ends = block.main.last()?.shape.channels;
        let meets = block.around.is_none_or(|around| around.shape.takes(before) && around.shape.channels == ends);
        let grows = block.around.is_some() || ends >= before;
        let norms = block.norms.is_empty() || block.norms.len() == block.main.len();
        let norms = norms && block.around_norm.is_none_or(|norm| block.around.is_some() && norm.width() == Some(ends));
        (block.main.len() > 1 && is_chain(&block.main, before) && meets && grows && norms).then_some(block)
    }
}

/// The second of its kind is one too many.
fn set<T>(old: Option<T>, new: T) -> Option<T> {
    if old.is_some() { None } else { Some(new) }
}

fn is_chain(convolutions: &[Conv], mut before: usize) -> bool {
    convolutions.iter().all(|conv| conv.shape.takes(std::mem::replace(&mut before, conv.shape.channels)))
}

/// Do blocks normalise what goes into their convolutions, rather than what comes out? Nothing where neither has the right widths.
fn normalises_before(modules: &[Module], blocks: &[Block], outside: &Outside, stem: Conv) -> Option<Result<bool>> {
    let (mut behind, mut ahead, mut channels) = (true, true, stem.shape.channels);
    for block in blocks {
        for (i, conv) in block.main.iter().enumerate() {
            if let Some(width) = block.norms.get(i).and_then(|norm| norm.width()) {
                behind &= width == conv.shape.channels;
                ahead &= width == channels;
            }
            channels = conv.shape.channels;
        }
    }
    let is_normalised = blocks.iter().any(|block| !block.norms.is_empty());
    match (behind, ahead && is_normalised) {
        (false, false) => None,
        (false, true) => Some(Ok(true)),
        (true, false) => Some(Ok(false)),
        // Blocks of one width: one that normalises before its convolutions needs another at the end, and the first convolution may have
        // none.
        (true, true) => Some(match outside.norms[..] {
            [] => Ok(false),
            [one] => ends_with(modules, one, blocks, stem),
            _ => Ok(true),
        }),
    }
}

/// Does the one normalisation outside of blocks stand behind them, and not behind the first convolution?
///
/// # Errors
/// `InvalidNetwork` where nothing tells it.
fn ends_with(modules: &[Module], norm: &Module, blocks: &[Block], stem: Conv) -> Result<bool> {
    let place = |module: &Module| modules.iter().position(|other| other.name == module.name);
    let inside: Vec<usize> = blocks.iter().flat_map(|block| &block.norms).filter_map(|norm| place(norm)).collect();
    let is_told = place(norm).and_then(|n| is_last(modules, n, &inside));
    if let Some(is_last) = is_told {
        return Ok(is_last);
    }
    let (parent, _) = stem.module.name.rsplit_once(['.', '/']).unwrap_or_default();
    let is_apart = |name: &str| name.rsplit_once(['.', '/']).is_some_and(|(other, _)| other == parent);
    let are_apart = !parent.is_empty()
        && is_apart(&norm.name)
        && !modules
            .iter()
            .any(|other| other.name != norm.name && other.name != stem.module.name && other.name.starts_with(parent));
    if are_apart || are_partners(&stem.module.name, &norm.name) {
        return Ok(false);
    }
    Err(Error::new(
        ErrorCode::InvalidNetwork,
        format!(
            "nothing tells whether {} stands behind {}, or behind the blocks, which would then normalise before their convolutions: say \
             which network they are of",
            norm.name, stem.module.name
        ),
    ))
}
