//! Layers over images: convolutions, pools, and padding, with the geometry of TensorFlow.

use super::super::Operation;
use super::activation::Activation;
use super::builder::{Builder, slot, transposed};
use super::config::{Config, items, size};
use super::tensor::{self, DataFormat, Tensor};
use super::topology::Call;
use crate::error::{Error, ErrorCode, Result, bail, ensure};
use crate::network::{Conv2d, Layer, Padding, Pool2d, Shape, Window};

/// Where the channels and features of a convolution's kernel go: (height, width, inputs, outputs) to isoflat's order.
const OUTPUTS_FIRST: [usize; 4] = [3, 2, 0, 1];

/// The same for a depthwise kernel, (height, width, channels, multiplier).
const CHANNELS_FIRST: [usize; 4] = [2, 3, 0, 1];

/// A kernel with its place in the file.
struct Kernel<'a> {
    /// The names that the weight may have.
    leaves: &'a [&'a str],
    shape: [usize; 4],
    axes: [usize; 4],
}

impl Builder<'_, '_> {
    /// Conv2D.
    pub(super) fn conv(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let shape = self.image(call, read)?;
        let (channels, groups) = (config.needed("filters")?, config.size("groups")?.unwrap_or(1));
        ensure!(
            groups > 0 && shape.channels % groups == 0,
            InvalidNetwork,
            "{} has {groups} groups, which do not divide its {} input channels",
            call.what,
            shape.channels
        );
        let window = window(config, "kernel_size", None, read, shape)?;
        let bias = config.flag("use_bias", true)?;
        let conv = conv2d(window, channels, groups, bias);
        let [height, width] = window.size;
        let kernel = [height, width, shape.channels / groups, channels];
        let kernel = Kernel { leaves: &["kernel"], shape: kernel, axes: OUTPUTS_FIRST };
        let given = self.convolved(call, call.name, conv, kernel, read, shape)?;
        self.activated(call, given, Activation::inside(config)?)
    }

    /// DepthwiseConv2D: as many groups as channels.
    pub(super) fn depthwise(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let bias = config.flag("use_bias", true)?;
        let given = self.depthwise_part(call, call.name, config, read, bias)?;
        self.activated(call, given, Activation::inside(config)?)
    }

    /// SeparableConv2D: a depthwise convolution, and one of single pixels behind it.
    pub(super) fn separable(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let middle = self.depthwise_part(call, &format!("{}/depthwise", call.name), config, read, false)?;
        let shape = self.image(call, &middle)?;
        let channels = config.needed("filters")?;
        let conv = conv2d(Window::pixel(), channels, 1, config.flag("use_bias", true)?);
        let kernel = [1, 1, shape.channels, channels];
        let kernel = Kernel { leaves: &["pointwise_kernel"], shape: kernel, axes: OUTPUTS_FIRST };
        let given = self.convolved(call, &format!("{}/pointwise", call.name), conv, kernel, &middle, shape)?;
        self.activated(call, given, Activation::inside(config)?)
    }

    fn depthwise_part(&mut self, call: &Call, name: &str, config: Config, read: &Tensor, bias: bool) -> Result<Tensor> {
        let shape = self.image(call, read)?;
        // TensorFlow.js forgets a separable convolution's; the weight has it.
        let own = || self.weights.shape(call.name, "depthwise_kernel").and_then(|shape| shape.get(3).copied());
        let multiplier = config.size("depth_multiplier")?.or_else(own).unwrap_or(1);
        let channels = shape.channels.checked_mul(multiplier).filter(|&n| n > 0);
        let Some(channels) = channels else {
            bail!(InvalidNetwork, "{} has depth_multiplier {multiplier}, which makes no channels", call.what)
        };
        let window = window(config, "kernel_size", None, read, shape)?;
        let conv = conv2d(window, channels, shape.channels, bias);
        let [height, width] = window.size;
        let kernel = [height, width, shape.channels, multiplier];
        // Keras 3 calls it as it calls other kernels.
        let kernel = Kernel { leaves: &["depthwise_kernel", "kernel"], shape: kernel, axes: CHANNELS_FIRST };
        self.convolved(call, name, conv, kernel, read, shape)
    }

    /// A dense layer over each pixel of an image.
    pub(super) fn pixelwise(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        ensure!(
            self.format == DataFormat::ChannelsLast,
            InvalidNetwork,
            "{} takes the last axis of images whose channels come first: put a Flatten before it",
            call.what
        );
        let shape = self.image(call, read)?;
        let units = config.needed("units")?;
        let window = Window { padding: read.padding, ..Window::pixel() };
        let conv = conv2d(window, units, 1, config.flag("use_bias", true)?);
        let (name, operation_shape) = (call.name, output(&call.what, &window, shape, units)?);
        let taken = self.weights.take(&call.what, name, &["kernel"], &[shape.channels, units])?;
        let weight = slot(taken, transposed([1, 1, shape.channels, units], OUTPUTS_FIRST)?)?;
        let bias = self.bias(call, conv.bias, units)?;
        let operation = Operation::Layer { layer: Layer::Conv2d(conv), weight: Some(weight), bias };
        let node = self.push(name, operation, &[read.node]);
        let given = Tensor::image(operation_shape, self.format, Some(node));
        self.activated(call, given, Activation::inside(config)?)
    }

    /// A convolution with its weights.
    fn convolved(
        &mut self,
        call: &Call,
        name: &str,
        conv: Conv2d,
        kernel: Kernel,
        read: &Tensor,
        shape: Shape,
    ) -> Result<Tensor> {
        let output = output(&call.what, &conv.window(), shape, conv.channels)?;
        let taken = self.weights.take(&call.what, call.name, kernel.leaves, &kernel.shape)?;
        let weight = slot(taken, transposed(kernel.shape, kernel.axes)?)?;
        let bias = self.bias(call, conv.bias, conv.channels)?;
        let operation = Operation::Layer { layer: Layer::Conv2d(conv), weight: Some(weight), bias };
        let node = self.push(name, operation, &[read.node]);
        Ok(Tensor::image(output, self.format, Some(node)))
    }

    /// MaxPooling2D and AveragePooling2D.
    pub(super) fn pool(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let what = &call.what;
        let shape = self.image(call, read)?;
        let window = window(config, "pool_size", Some([2, 2]), read, shape)?;
        let is_max = call.class == "MaxPooling2D";
        let own_padding = window.padding != read.padding;
        ensure!(
            is_max || !own_padding,
            InvalidNetwork,
            "{what} has padding \"same\", which is not in the mean of TensorFlow, but in isoflat's ({} of {}): choose a size and \
             strides that need none, or \"valid\"",
            window.padding,
            shape
        );
        ensure!(
            !is_max || read.padding.is_none() || read.is_positive,
            InvalidNetwork,
            "{what} reads what a ZeroPadding2D gives, and the values before that may be negative: a largest value is not taken \
             over zeros in isoflat; use padding \"same\" in it, or a ReLU before"
        );
        let output = output(what, &window, shape, shape.channels)?;
        let pool = Pool2d { size: window.size, stride: Some(window.stride), padding: window.padding };
        let layer = if is_max { Layer::MaxPool2d(pool) } else { Layer::AvgPool2d(pool) };
        let node = self.plain(call.name, layer, &[read.node]);
        Ok(Tensor { is_positive: read.is_positive, ..Tensor::image(output, self.format, Some(node)) })
    }

    /// GlobalAveragePooling2D and GlobalMaxPooling2D.
    pub(super) fn global_pool(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let shape = self.image(call, read)?;
        self.ensure_unpadded(&call.what, read)?;
        let layer = match call.class {
            "GlobalMaxPooling2D" => Layer::MaxPool2d(Pool2d::new([shape.height, shape.width])),
            _ => Layer::GlobalAvgPool2d,
        };
        let node = self.plain(call.name, layer, &[read.node]);
        let shape = Shape { height: 1, width: 1, ..shape };
        let given = Tensor { is_positive: read.is_positive, ..Tensor::image(shape, self.format, Some(node)) };
        let keeps = config.flag("keepdims", false)?;
        Ok(if keeps { given } else { Tensor { dims: vec![shape.channels], ..given } })
    }

    /// ZeroPadding2D: into the windows behind it.
    pub(super) fn zero_padding(&mut self, call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
        let what = &call.what;
        let shape = self.image(call, read)?;
        let fault = || {
            Error::new(
                ErrorCode::Parse,
                format!("{what}: padding must be a number, two, or [[top, bottom], [left, right]]"),
            )
        };
        let both = |value: &serde_json::Value| match items(value).as_deref() {
            Some([before, after]) => size(before).zip(size(after)),
            Some(_) => None,
            None => size(value).map(|n| (n, n)),
        };
        let sides = match config.get("padding").map(|value| (value, items(value))) {
            None => Some([(1, 1), (1, 1)]),
            Some((_, Some(axes))) => match axes[..] {
                [vertical, horizontal] => both(vertical).zip(both(horizontal)).map(|(v, h)| [v, h]),
                _ => None,
            },
            Some((value, None)) => both(value).map(|side| [side, side]),
        };
        let [(top, bottom), (left, right)] = sides.ok_or_else(fault)?;
        let padding = more(what, read.padding, Padding::from([top, left, bottom, right]))?;
        let [height, width] = padded(what, shape, padding)?;
        let dims = self.format.dims(Shape { height, width, ..shape });
        tensor::count(what, &dims)?;
        Ok(Tensor { padding, dims, ..read.clone() })
    }

    /// The image that comes into a layer.
    fn image(&self, call: &Call, read: &Tensor) -> Result<Shape> {
        let found = read.as_image(self.format);
        found.ok_or_else(|| {
            let message = format!(
                "{} takes images, but {:?} comes in: isoflat's networks make no images of rows, but of their inputs",
                call.what, read.dims
            );
            Error::new(ErrorCode::InvalidNetwork, message)
        })
    }
}

const fn conv2d(window: Window, channels: usize, groups: usize, bias: bool) -> Conv2d {
    let Window { size, stride, padding, dilation } = window;
    Conv2d { channels, kernel: size, stride, padding, dilation, groups, bias }
}

/// What a window gives, of one value at least, and not too large.
fn output(what: &str, window: &Window, input: Shape, channels: usize) -> Result<Shape> {
    window.output(what, input, channels)
}

/// The window of a layer. The padding before the layer is in it.
fn window(config: Config, size_key: &str, default: Option<[usize; 2]>, read: &Tensor, shape: Shape) -> Result<Window> {
    let what = config.what;
    let size = match (config.pair(size_key)?, default) {
        (Some(size), _) | (None, Some(size)) => size,
        (None, None) => bail!(Parse, "{what} has no {size_key}"),
    };
    // A pool's windows lie side by side where nothing is said.
    let steps = if size_key == "pool_size" { size } else { [1, 1] };
    let stride = config.pair("strides")?.unwrap_or(steps);
    let dilation = config.pair("dilation_rate")?.unwrap_or([1, 1]);
    let sizes = padded(what, shape, read.padding)?;
    let padding = match config.text("padding", "valid")? {
        "valid" => Padding::NONE,
        "same" => same(what, sizes, size, stride, dilation)?,
        other => bail!(InvalidNetwork, "{what} has padding \"{other}\", but isoflat has \"valid\" and \"same\""),
    };
    Ok(Window { size, stride, dilation, padding: more(what, read.padding, padding)? })
}

/// TensorFlow's padding for as many windows as steps begin within the image, the smaller half before it.
fn same(
    what: &str,
    sizes: [usize; 2],
    window: [usize; 2],
    stride: [usize; 2],
    dilation: [usize; 2],
) -> Result<Padding> {
    let mut sides = [[0, 0]; 2];
    for (axis, side) in sides.iter_mut().enumerate() {
        let [n, k, s, d] = [sizes[axis], window[axis], stride[axis], dilation[axis]].map(|n| n as u128);
        ensure!(s > 0 && k > 0, InvalidNetwork, "{what} has a window of {window:?} and strides of {stride:?}");
        let reach = (k - 1).saturating_mul(d) + 1;
        let total = ((n.div_ceil(s).saturating_sub(1)) * s).saturating_add(reach).saturating_sub(n);
        let Ok(total) = usize::try_from(total) else {
            bail!(TooLarge, "{what} has a window of {window:?} with dilation {dilation:?}")
        };
        *side = [total / 2, total - total / 2];
    }
    let [[top, bottom], [left, right]] = sides;
    Ok(Padding::from([top, left, bottom, right]))
}

/// One padding around another.
fn more(what: &str, a: Padding, b: Padding) -> Result<Padding> {
    let sum = |a: [usize; 2], b: [usize; 2]| Some([a[0].checked_add(b[0])?, a[1].checked_add(b[1])?]);
    match (sum(a.before, b.before), sum(a.after, b.after)) {
        (Some(before), Some(after)) => Ok(Padding { before, after }),
        _ => bail!(TooLarge, "{what}: so many zeros cannot be put around an image"),
    }
}

/// Height and width with the padding.
fn padded(what: &str, shape: Shape, padding: Padding) -> Result<[usize; 2]> {
    let [height, width] = more(what, padding, Padding { before: [shape.height, shape.width], after: [0, 0] })?.before;
    let more = |n: usize, after: usize| {
        let found = n.checked_add(after);
        found.ok_or_else(|| {
            Error::new(ErrorCode::TooLarge, format!("{what}: so many zeros cannot be put around an image"))
        })
    };
    Ok([more(height, padding.after[0])?, more(width, padding.after[1])?])
}

#[cfg(test)]
mod tests {
    use super::{Padding, same};

    #[test]
    fn same_padding_is_tensorflows() {
        // Of 10 values, a window of 4 at every second: 5 windows reach over 12, one before and one after.
        let found = |n, k, s, d| same("a layer", [n, 1], [k, 1], [s, 1], [d, 1]).map(|p| [p.before[0], p.after[0]]);
        for ([n, k, s, d], expected) in [
            ([10, 4, 2, 1], [1, 1]),
            ([10, 3, 2, 1], [0, 1]),
            ([9, 3, 2, 1], [1, 1]),
            ([5, 2, 1, 2], [1, 1]),
            ([5, 1, 2, 1], [0, 0]),
            ([6, 2, 5, 1], [0, 1]),
            ([7, 2, 5, 1], [0, 0]),
        ] {
            assert_eq!(found(n, k, s, d), Ok(expected), "{n} {k} {s} {d}");
        }
        assert!(found(3, 3, 0, 1).is_err());
        assert!(found(3, usize::MAX, 1, usize::MAX).is_err());
        assert_eq!(same("a layer", [4, 4], [3, 3], [2, 2], [1, 1]), Ok(Padding::from([0, 0, 1, 1])));
    }
}
