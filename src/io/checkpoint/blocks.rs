//! A residual network proposed for weights alone: their names come in blocks, `layer2.0.conv1` or `ResNetBlock_3/Conv_0`, and the
//! shapes tell which of a block's convolutions leads around it and whether it normalises before or behind them. A block that
//! changes the number of channels halves the image, but for the first; where no convolution leads around it, every second pixel
//! does, with channels of zeros (He et al. 2016, option A).

use super::modules::{Kind, Module, Order};
use crate::network::{Conv2d, Layer, NamedLayer, Names, Network, Padding, Pool2d};

/// A convolution's kernel and channels.
#[derive(Debug, Clone, Copy)]
struct Shape {
    kernel: [usize; 2],
    inputs: usize,
    channels: usize,
}

impl Shape {
    fn of(module: &Module) -> Option<Self> {
        let Kind::Affine { weight, order, .. } = &module.kind else { return None };
        match (order, weight.1.shape()) {
            (Order::OutputsLast, &[h, w, inputs, channels]) => Some(Self { kernel: [h, w], inputs, channels }),
            (Order::OutputsFirst, &[channels, inputs, h, w]) => Some(Self { kernel: [h, w], inputs, channels }),
            _ => None,
        }
    }

    /// Does it take so many channels, in groups perhaps? Those that look at one pixel have none.
    fn takes(self, channels: usize) -> bool {
        self.inputs > 0
            && if self.kernel == [1, 1] { self.inputs == channels } else { channels.is_multiple_of(self.inputs) }
    }
}

/// Inputs and units of a dense layer.
fn dense(module: &Module) -> Option<[usize; 2]> {
    let Kind::Affine { weight, order, .. } = &module.kind else { return None };
    match (order, weight.1.shape()) {
        (Order::OutputsLast, &[inputs, units]) | (Order::OutputsFirst, &[units, inputs]) => Some([inputs, units]),
        _ => None,
    }
}

/// A convolution of the file.
#[derive(Clone, Copy)]
struct Conv<'a> {
    module: &'a Module<'a>,
    shape: Shape,
}

/// The modules of one block.
#[derive(Default)]
struct Block<'a> {
    main: Vec<Conv<'a>>,
    norms: Vec<&'a Module<'a>>,
    around: Option<Conv<'a>>,
    around_norm: Option<&'a Module<'a>>,
}

/// The modules of each block, by its name.
type Blocks<'a> = Vec<(&'a str, Vec<&'a Module<'a>>)>;

/// What stands outside of the blocks.
#[derive(Default)]
struct Outside<'a> {
    convolutions: Vec<Conv<'a>>,
    norms: Vec<&'a Module<'a>>,
    dense: Vec<&'a Module<'a>>,
}

/// A residual network of these modules and what was assumed, if their names come in blocks whose shapes fit each other.
pub(super) fn proposed(modules: &[Module], input: Option<&[usize]>) -> Option<(Network, Vec<String>)> {
    let (outside, grouped) = grouped(modules)?;
    let [stem] = outside.convolutions[..] else { return None };
    let mut channels = stem.shape.channels;
    let mut blocks = Vec::new();
    for (name, modules) in &grouped {
        let block = Block::of(name, modules, channels)?;
        channels = block.main.last()?.shape.channels;
        blocks.push(block);
    }
    let is_told = blocks.iter().any(|block| block.around.is_some());
    if !is_told && !grouped.iter().all(|(name, _)| is_residual(name)) {
        return None;
    }
    let is_before = normalises_before(&blocks, &outside, stem.shape.channels)?;
    let Kind::Affine { order, .. } = stem.module.kind else { return None };
    let (layers, last) = (Vec::new(), String::new());
    let mut builder = Builder { layers, channels: 0, order, is_before, is_large: false, last };
    builder.stem(stem, &outside)?;
    for (i, block) in blocks.iter().enumerate() {
        builder.block(block, i > 0)?;
    }
    builder.head(&outside)?;
    let small = if stem.shape.inputs == 1 { 28 } else { 32 };
    let side = if builder.is_large { 224 } else { small };
    let usual = [stem.shape.inputs, side, side];
    let network = Network::graph(input.unwrap_or(&usual).to_vec(), builder.layers).ok()?;
    let notes = vec![
        format!(
            "the weights' names come in {} blocks: a residual network is assumed, with ReLU {} its normalisations, and half the size \
             where the channels grow",
            blocks.len(),
            if is_before { "and convolutions behind" } else { "behind" }
        ),
        format!("nor do weights tell sizes of images and pools: {} is assumed", network.summary()),
    ];
    Some((network, notes))
}

/// Those outside of blocks, and the blocks by their names, in the file's order.
fn grouped<'a>(modules: &'a [Module<'a>]) -> Option<(Outside<'a>, Blocks<'a>)> {
    let (mut outside, mut blocks) = (Outside::default(), Blocks::new());
    for module in modules {
        if let Some(name) = block_of(&module.name) {
            match blocks.iter_mut().find(|(known, _)| *known == name) {
                Some((_, block)) => block.push(module),
                None => blocks.push((name, vec![module])),
            }
        } else if let Some(shape) = Shape::of(module) {
            outside.convolutions.push(Conv { module, shape });
        } else if dense(module).is_some() {
            outside.dense.push(module);
        } else if module.width().is_some() {
            outside.norms.push(module);
        } else {
            return None;
        }
    }
    (!blocks.is_empty()).then_some((outside, blocks))
}

/// `layer2.0` of `layer2.0.downsample.1`: up to the last number that has a word behind it; what leads around is within a block.
fn block_of(name: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mut found, mut counted, mut end) = (None, None, 0);
    for part in name.split_inclusive(['.', '/']) {
        let word = part.trim_end_matches(['.', '/']);
        // Flax counts its modules by a line and a number.
        let is_counted = is_number(word) || word.rsplit_once('_').is_some_and(|(_, number)| is_number(number));
        if !is_number(word) {
            found = counted.or(found);
        }
        if leads_around(word) {
            break;
        }
        counted = if is_counted { Some(&name[..end + word.len()]) } else { counted };
        end += part.len();
    }
    found
}

/// Where nothing leads around any block: do the names say that they are residual? PyTorch's `layer1.0` are.
fn is_residual(block: &str) -> bool {
    let stage = block.rsplit_once('.').map_or(block, |(stage, _)| stage).to_ascii_lowercase();
    let stage = stage.rsplit('.').next().unwrap_or_default();
    let numbered = stage.strip_prefix("layer").is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()));
    stage != "layer" && numbered || stage.contains("res")
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
            match (Shape::of(module), module.width()) {
                (Some(shape), _) if is_around => block.around = Some(set(block.around, Conv { module, shape })?),
                (Some(shape), _) => block.main.push(Conv { module, shape }),
                (None, Some(_)) if is_around => block.around_norm = Some(set(block.around_norm, module)?),
                (None, Some(_)) => block.norms.push(module),
                _ => return None,
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
fn normalises_before(blocks: &[Block], outside: &Outside, stem: usize) -> Option<bool> {
    let (mut behind, mut ahead, mut channels) = (true, true, stem);
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
        (false, true) => Some(true),
        (true, false) => Some(false),
        // Blocks of one width: one that normalises before its convolutions needs another at the end.
        (true, true) => Some(outside.norms.len() > 1),
    }
}

/// A network on the way; layers with weights have the names that the weights have.
struct Builder {
    layers: Vec<NamedLayer>,
    channels: usize,
    order: Order,
    is_before: bool,
    /// Are the images large, so that the stem makes them smaller?
    is_large: bool,
    /// The layer that the next block reads.
    last: String,
}

impl Builder {
    fn push(&mut self, layer: Layer, name: &str, from: Option<&str>) {
        let (name, from) = ((!name.is_empty()).then(|| name.into()), from.map(|from| Names::One(from.into())));
        self.layers.push(NamedLayer { layer, name, from });
    }

    fn conv(&mut self, conv: Conv, before: usize, stride: usize, from: Option<&str>) {
        let Shape { kernel, inputs, channels } = conv.shape;
        let bias = matches!(conv.module.kind, Kind::Affine { bias: Some(_), .. });
        let layer = Conv2d {
            stride: [stride; 2],
            padding: self.padding(kernel, stride),
            groups: before / inputs,
            bias,
            ..Conv2d::new(channels, kernel)
        };
        self.push(Layer::Conv2d(layer), &conv.module.name, from);
    }

    /// What keeps an image's size, or halves it: PyTorch's is the same on all sides, Keras' and Flax' no more than is needed.
    fn padding(&self, kernel: [usize; 2], stride: usize) -> Padding {
        let [before, after] = match self.order {
            Order::OutputsLast => {
                let all = kernel.map(|side| side.saturating_sub(stride));
                [all.map(|all| all / 2), all.map(|all| all.div_ceil(2))]
            }
            _ => [kernel.map(|side| side / 2); 2],
        };
        Padding { before, after }
    }

    fn norm(&mut self, norm: &Module) {
        let bias = match &norm.kind {
            Kind::Scale { bias, .. } => bias.is_some(),
            _ => true,
        };
        self.push(Layer::Scale { bias }, &norm.name, None);
    }

    /// The name of the last layer, which gets this one if it has none.
    fn named(&mut self, name: &str) -> String {
        let last = self.layers.last_mut().map(|layer| layer.name.get_or_insert_with(|| name.into()).clone());
        last.unwrap_or_default()
    }

    /// The first convolution: large kernels are those of large images, of which a pool follows.
    fn stem(&mut self, stem: Conv, outside: &Outside) -> Option<()> {
        self.is_large = stem.shape.kernel[0] >= 7;
        self.conv(stem, stem.shape.inputs, if self.is_large { 2 } else { 1 }, None);
        self.channels = stem.shape.channels;
        let has_norm = outside.norms.len() > usize::from(self.is_before);
        if has_norm {
            self.norm(outside.norms.iter().find(|norm| norm.width() == Some(self.channels))?);
        }
        if has_norm || !self.is_before {
            self.push(Layer::Relu, "", None);
        }
        if self.is_large {
            let pool = Pool2d { stride: Some([2; 2]), padding: self.padding([3, 3], 2), ..Pool2d::new([3, 3]) };
            self.push(Layer::MaxPool2d(pool), "", None);
        }
        self.last = self.named(&format!("{} active", stem.module.name));
        Some(())
    }

    fn block(&mut self, block: &Block, may_halve: bool) -> Option<()> {
        let (before, ends) = (self.channels, block.main.last()?.shape.channels);
        let name = block.main[0].module.name.clone();
        let stride = if may_halve && (before != ends || block.around.is_some()) { 2 } else { 1 };
        let (input, mut active) = (std::mem::take(&mut self.last), String::new());
        if self.is_before
            && let Some(first) = block.norms.first()
        {
            self.norm(first);
            self.push(Layer::Relu, "", None);
            active = self.named(&format!("{name} active"));
        }
        let read = if active.is_empty() { &input } else { &active };
        let around = self.around(block, &input, read, before, ends, stride);
        // The image is halved by the first convolution that looks at more than a pixel.
        let halving = block.main.iter().position(|conv| conv.shape.kernel != [1, 1]).unwrap_or_default();
        for (i, &conv) in block.main.iter().enumerate() {
            let from = (i == 0).then_some(read.as_str());
            self.conv(conv, self.channels, if i == halving { stride } else { 1 }, from);
            self.channels = conv.shape.channels;
            let is_last = i + 1 == block.main.len();
            if let Some(norm) = block.norms.get(i + usize::from(self.is_before)) {
                self.norm(norm);
            }
            if !is_last {
                self.push(Layer::Relu, "", None);
            }
        }
        let inner = self.named(&format!("{name} inside"));
        self.layers.push(NamedLayer { layer: Layer::Add, name: None, from: Some(Names::Several(vec![inner, around])) });
        if !self.is_before {
            self.push(Layer::Relu, "", None);
        }
        self.last = self.named(&format!("{name} sum"));
        Some(())
    }

    /// What is added to a block's own: the name of the layer that gives it.
    fn around(&mut self, block: &Block, input: &str, read: &str, before: usize, ends: usize, stride: usize) -> String {
        if let Some(conv) = block.around {
            self.conv(conv, before, stride, Some(read));
            if let Some(norm) = block.around_norm {
                self.norm(norm);
            }
            return self.named("");
        }
        if before == ends && stride == 1 {
            return input.into();
        }
        let every = Pool2d { stride: Some([stride; 2]), ..Pool2d::new([1, 1]) };
        self.push(Layer::AvgPool2d(every), "", Some(input));
        let (new, half) = (ends - before, (ends - before) / 2);
        self.push(Layer::PadChannels { before: half, after: new - half }, "", None);
        self.named(&format!("{input} around"))
    }

    fn head(&mut self, outside: &Outside) -> Option<()> {
        // Blocks that normalise first leave a sum behind, which most networks normalise and activate, and some do not.
        let is_last = |norm: &&&Module| {
            norm.width() == Some(self.channels)
                && self.layers.iter().all(|layer| layer.name.as_ref() != Some(&norm.name))
        };
        if self.is_before
            && let Some(norm) = outside.norms.iter().find(is_last)
        {
            self.norm(norm);
            self.push(Layer::Relu, "", None);
        }
        self.push(Layer::GlobalAvgPool2d, "", None);
        self.push(Layer::Flatten, "", None);
        let mut before = self.channels;
        for (i, module) in outside.dense.iter().enumerate() {
            let [inputs, units] = dense(module)?;
            if inputs != before {
                return None;
            }
            if i > 0 {
                self.push(Layer::Relu, "", None);
            }
            let bias = matches!(module.kind, Kind::Affine { bias: Some(_), .. });
            self.push(Layer::Dense { units, bias }, &module.name, None);
            before = units;
        }
        (!outside.dense.is_empty()).then_some(())
    }
}
