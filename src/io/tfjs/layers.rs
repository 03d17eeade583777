//! Keras' layers by their names.

use super::activation::{Activation, leaky};
use super::builder::Builder;
use super::config::Config;
use super::tensor::Tensor;
use super::topology::Call;
use crate::error::{Result, bail, ensure};

impl Builder<'_, '_> {
    /// What a layer gives.
    ///
    /// # Errors
    /// `InvalidNetwork` for a layer that isoflat does not have, with what would do instead.
    pub fn layer(&mut self, call: &Call, reads: &[Tensor]) -> Result<Tensor> {
        match call.class {
            "Add" => return self.sum(call, reads),
            "Concatenate" => return self.concatenation(call, reads),
            _ => {}
        }
        let [read] = reads else { return unknown(call, reads) };
        let config = Config::new(call.config, &call.what);
        if let Some(activation) = Activation::of_layer(call.class, config)? {
            return self.activation(&call.what, read.clone(), activation, |_| call.name.to_string());
        }
        match call.class {
            // Nothing where there is no training.
            "InputLayer"
            | "Dropout"
            | "SpatialDropout1D"
            | "SpatialDropout2D"
            | "GaussianNoise"
            | "GaussianDropout"
            | "AlphaDropout"
            | "ActivityRegularization" => Ok(read.clone()),
            "Dense" => self.dense(call, config, read),
            "Conv2D" => self.conv(call, config, read),
            "DepthwiseConv2D" => self.depthwise(call, config, read),
            "SeparableConv2D" => self.separable(call, config, read),
            "BatchNormalization" => self.batch_norm(call, config, read),
            "PReLU" => self.prelu(call, read),
            "MaxPooling2D" | "AveragePooling2D" => self.pool(call, config, read),
            "GlobalAveragePooling2D" | "GlobalMaxPooling2D" => self.global_pool(call, config, read),
            "ZeroPadding2D" => self.zero_padding(call, config, read),
            "Flatten" => self.flatten(call, config, read),
            "Reshape" => self.reshape(call, config, read),
            "Permute" => permute(call, config, read),
            _ => unknown(call, reads),
        }
    }

    /// A PReLU with one slope is a leaky ReLU whose slope is no parameter any more.
    fn prelu(&mut self, call: &Call, read: &Tensor) -> Result<Tensor> {
        let what = &call.what;
        let shape = self.weights.shape(call.name, "alpha").map(<[usize]>::to_vec);
        let Some(shape) = shape else {
            bail!(Parse, "{what}: the weightsManifest has no weight \"{}/alpha\"", call.name)
        };
        ensure!(
            !shape.is_empty() && shape.iter().all(|&n| n == 1),
            InvalidNetwork,
            "{what} has slopes of shape {shape:?}, but isoflat's leaky ReLUs have one: build it with shared_axes over all of them, \
             or a LeakyReLU"
        );
        let taken = self.weights.take(what, call.name, &["alpha"], &shape)?;
        let slope = taken.values.first().copied().unwrap_or(f64::NAN);
        self.graph.notes.push(format!("{what} is a leaky ReLU of slope {slope}, which is no parameter here"));
        let activation = leaky(what, "alpha", slope)?;
        self.activation(what, read.clone(), activation, |_| call.name.to_string())
    }
}

/// A permutation of axes that leaves them where they are.
fn permute(call: &Call, config: Config, read: &Tensor) -> Result<Tensor> {
    let axes = config.list("dims")?;
    let is_trivial = axes.iter().enumerate().all(|(i, axis)| axis.as_u64() == Some(i as u64 + 1));
    ensure!(
        is_trivial && axes.len() == read.dims.len(),
        InvalidNetwork,
        "{} puts axes in another order, which isoflat does not do: give the model its inputs in that order",
        call.what
    );
    Ok(read.clone())
}

/// A layer that isoflat does not have.
fn unknown(call: &Call, reads: &[Tensor]) -> Result<Tensor> {
    let (class, what) = (call.class, &call.what);
    let instead = match class {
        "Rescaling" | "Normalization" | "CenterCrop" | "Resizing" => {
            "do that to the data before, and build the model without it"
        }
        "RandomFlip" | "RandomRotation" | "RandomZoom" | "RandomTranslation" | "RandomContrast" | "RandomCrop" => {
            "it does nothing but in training: build the model without it"
        }
        "Conv1D"
        | "SeparableConv1D"
        | "MaxPooling1D"
        | "AveragePooling1D"
        | "GlobalAveragePooling1D"
        | "GlobalMaxPooling1D"
        | "ZeroPadding1D" => "images of height 1 and a layer over two axes do the same",
        "Conv2DTranspose" | "UpSampling2D" | "Cropping2D" => {
            "isoflat's images become smaller by the strides of convolutions and pools, and not larger"
        }
        "LayerNormalization" | "GroupNormalization" | "UnitNormalization" => {
            "it depends on each sample's own mean; a BatchNormalization with frozen statistics can be read"
        }
        "Average" | "Subtract" | "Multiply" | "Maximum" | "Minimum" | "Dot" => {
            "of layers that join isoflat has Add and Concatenate"
        }
        "TFOpLambda" | "SlicingOpLambda" | "TensorFlowOpLayer" | "Lambda" => {
            "it is an operation of a program: use a layer of Keras where there is one, as Add or ReLU"
        }
        "LSTM" | "GRU" | "SimpleRNN" | "Bidirectional" | "Embedding" | "MultiHeadAttention" | "TimeDistributed" => {
            "isoflat's networks take one row or one image, no sequences"
        }
        _ => {
            "it has Dense, Conv2D, DepthwiseConv2D, SeparableConv2D, BatchNormalization, pools over two axes, Add, Concatenate, \
             Flatten, Reshape, ZeroPadding2D, ReLU, LeakyReLU and Activation"
        }
    };
    let dims: Vec<&[usize]> = reads.iter().take(4).map(|read| &read.dims[..]).collect();
    match reads {
        [_] => bail!(InvalidNetwork, "{what} reads {dims:?}: isoflat has no {class}; {instead}"),
        _ => bail!(
            InvalidNetwork,
            "{what} reads {} things, {dims:?}: isoflat has no such {class}; {instead}",
            reads.len()
        ),
    }
}
