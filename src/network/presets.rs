//! The papers' networks.

use super::residual::{
    self,
    Shortcut::{Padded, Projection},
};
use super::{Conv2d, Layer, Network, Pool2d};
use crate::error::{Result, bail};

/// A network of one of the papers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Preset {
    /// 784-300-100-10 (Rangamani, Table 1: F₁).
    F1,
    /// 784-512×5-10 (Rangamani section 4, after Keskar et al.: MNIST-FC).
    MnistFc,
    /// 784-64×4-10 without biases (Jestädt, MNIST).
    StraightMnist,
    /// 3072-64×5-10 without biases (Jestädt, CIFAR-10).
    StraightCifar10,
    /// 784-50-50-50-30-10 (Petzka, Figures 3 to 6).
    PetzkaMnist,
    /// 1×28×28: conv 5×5×10, max pool 2, conv 5×5×20, max pool 2, 120-84-10 (Rangamani, Table 1: C₁); 54,814 parameters.
    /// The table names convolutions and dense layers alone. The 320 inputs of its first dense layer, over 28 × 28 pixels, are
    /// what kernels without padding and two halvings leave; max pools and ReLU are chosen.
    C1,
    /// 1×28×28: conv 5×5×6 with padding 2, max pool 2, conv 5×5×16, max pool 2, 120-84-10: 61,706 parameters.
    ///
    /// Rangamani section 4 says "based on LeNet", two convolutions with pools, 120, 84 and 10. Channels, kernels and padding are
    /// chosen as in LeCun et al. 1998, whose input is the digit in a frame of 32 × 32; max pools and ReLU instead of its trained
    /// means and tanh; with biases, as everywhere in the paper's theory (the authors' program leaves them out).
    LeNet,
    /// 3×32×32: conv 5×5×6, max pool 2, conv 5×5×16, max pool 2, 120-84-10 (Petzka, Figures 1 and 2: LeNet5 on CIFAR-10);
    /// 62,006 parameters. The paper gives the name alone: sizes from LeCun et al. 1998, over three channels; ReLU, since the
    /// measure needs it, and max pools. κ⁵ is read as the fifth layer with parameters, which is the output layer; the paper
    /// calls its l = 5 the last hidden one.
    LeNet5,
    /// 3×32×32: twice conv 5×5×64 and max pool 3 with stride 2, then 384-192-10: 1,756,426 parameters (Rangamani section 4:
    /// AlexNet type, after the network C₁ of Keskar et al. 2017, without batch normalisation and dropout).
    ///
    /// Both groups' programs have convolutions of stride 1 with padding 2 and padded pools: 32, 16 and 8 pixels a
    /// side, and 4096 inputs of the first dense layer. A pool has no padding here. The convolutions have padding 3 instead, and
    /// so the same windows and the same parameters; a border value is then the convolution's there, and not left out.
    AlexNetCifar10,
    /// 3×32×32: conv 3×3 with padding 1 of 64, 64, M, 128, 128, M, 256, 256, 256, M, 512, 512, 512, M, 512, 512, 512, M
    /// channels, M a max pool 2, then 512-10: 14,982,474 parameters (Rangamani section 4: VGG16 type, after the network C₃ of
    /// Keskar et al. 2017, without batch normalisation and dropout).
    ///
    /// Keskar's one hidden dense layer of 512 is taken; Rangamani's program has two, of 512 and 240.
    Vgg16Cifar10,
    /// 3×32×32: ResNet-20 (He et al. 2016, section 4.2): three stages of 16, 32 and 64 channels with three blocks each; 269,722
    /// parameters with the scales that its batch normalisations are. Shortcuts pad channels with zeros.
    ResNet20,
    /// The same with five blocks a stage; 464,154 parameters. In this and the next the paper has the padded shortcut too.
    ResNet32,
    /// With nine; 853,018 parameters.
    ResNet56,
    /// ResNet-20 with projections, convolutions of 1 × 1, where the size changes.
    ResNet20Projection,
    /// ResNet-32, likewise.
    ResNet32Projection,
    /// ResNet-56, likewise.
    ResNet56Projection,
    /// 3×32×32: ResNet-20's stages of blocks that activate before their convolutions (He et al. 2016, “Identity mappings”).
    PreactResNet20,
    /// 3×32×32: conv 3×3×32, then depthwise separable blocks of 64, 128, 128, 256 and 256 channels (after Howard et al. 2017).
    MobileNetCifar10,
    /// 1×28×28: one block a stage of 8, 16 and 32 channels: a residual network that learns MNIST in a minute. Not of a paper.
    ResNet8,
    /// 784-64-32-10: small enough to learn MNIST in seconds on any machine. Not of a paper.
    Small,
}

impl Preset {
    /// All of them.
    pub const ALL: [Self; 20] = [
        Self::Small,
        Self::ResNet8,
        Self::F1,
        Self::C1,
        Self::MnistFc,
        Self::LeNet,
        Self::StraightMnist,
        Self::PetzkaMnist,
        Self::StraightCifar10,
        Self::LeNet5,
        Self::AlexNetCifar10,
        Self::Vgg16Cifar10,
        Self::ResNet20,
        Self::ResNet32,
        Self::ResNet56,
        Self::ResNet20Projection,
        Self::ResNet32Projection,
        Self::ResNet56Projection,
        Self::PreactResNet20,
        Self::MobileNetCifar10,
    ];

    /// The stable name.
    pub fn name(self) -> &'static str {
        match self {
            Self::F1 => "f1",
            Self::MnistFc => "mnist_fc",
            Self::StraightMnist => "straight_mnist",
            Self::StraightCifar10 => "straight_cifar10",
            Self::PetzkaMnist => "petzka_mnist",
            Self::C1 => "c1",
            Self::LeNet => "lenet",
            Self::LeNet5 => "lenet5",
            Self::AlexNetCifar10 => "alexnet_cifar10",
            Self::Vgg16Cifar10 => "vgg16_cifar10",
            Self::ResNet20 => "resnet20",
            Self::ResNet32 => "resnet32",
            Self::ResNet56 => "resnet56",
            Self::ResNet20Projection => "resnet20_projection",
            Self::ResNet32Projection => "resnet32_projection",
            Self::ResNet56Projection => "resnet56_projection",
            Self::PreactResNet20 => "preact_resnet20",
            Self::MobileNetCifar10 => "mobilenet_cifar10",
            Self::ResNet8 => "resnet8",
            Self::Small => "small",
        }
    }

    /// The preset of this name.
    ///
    /// # Errors
    /// `InvalidOption`, with the names there are.
    pub fn from_name(name: &str) -> Result<Self> {
        match Self::ALL.into_iter().find(|preset| preset.name() == name) {
            Some(preset) => Ok(preset),
            None => {
                let names: Vec<_> = Self::ALL.iter().map(|preset| preset.name()).collect();
                bail!(InvalidOption, "no preset is named \"{name}\"; there are {}", names.join(", "))
            }
        }
    }

    /// The network.
    pub fn network(self) -> Network {
        let dense = Network::dense;
        let (mnist, cifar10) = ([1, 28, 28], [3, 32, 32]);
        let resnet = |blocks, kind| residual::resnet(&cifar10, [16, 32, 64], blocks, kind);
        let network = match self {
            Self::F1 => dense(&[784, 300, 100, 10], true),
            Self::MnistFc => dense(&[784, 512, 512, 512, 512, 512, 10], true),
            Self::StraightMnist => dense(&[784, 64, 64, 64, 64, 10], false),
            Self::StraightCifar10 => dense(&[3072, 64, 64, 64, 64, 64, 10], false),
            Self::PetzkaMnist => dense(&[784, 50, 50, 50, 30, 10], true),
            Self::Small => dense(&[784, 64, 32, 10], true),
            Self::C1 => convolutional(mnist, &[Conv(10, 5, 0), Pool(2, 2), Conv(20, 5, 0), Pool(2, 2)], &[120, 84, 10]),
            Self::LeNet => {
                convolutional(mnist, &[Conv(6, 5, 2), Pool(2, 2), Conv(16, 5, 0), Pool(2, 2)], &[120, 84, 10])
            }
            Self::LeNet5 => {
                convolutional(cifar10, &[Conv(6, 5, 0), Pool(2, 2), Conv(16, 5, 0), Pool(2, 2)], &[120, 84, 10])
            }
            Self::AlexNetCifar10 => {
                convolutional(cifar10, &[Conv(64, 5, 3), Pool(3, 2), Conv(64, 5, 3), Pool(3, 2)], &[384, 192, 10])
            }
            Self::Vgg16Cifar10 => {
                let mut parts = Vec::new();
                for (channels, count) in [(64, 2), (128, 2), (256, 3), (512, 3), (512, 3)] {
                    parts.extend([Conv(channels, 3, 1); 3].iter().take(count));
                    parts.push(Pool(2, 2));
                }
                convolutional(cifar10, &parts, &[512, 10])
            }
            Self::ResNet20 => resnet(3, Padded),
            Self::ResNet32 => resnet(5, Padded),
            Self::ResNet56 => resnet(9, Padded),
            Self::ResNet20Projection => resnet(3, Projection),
            Self::ResNet32Projection => resnet(5, Projection),
            Self::ResNet56Projection => resnet(9, Projection),
            Self::PreactResNet20 => residual::preactivated(&cifar10, [16, 32, 64], 3),
            Self::MobileNetCifar10 => {
                residual::separable(&cifar10, 32, &[(64, 1), (128, 2), (128, 1), (256, 2), (256, 1)])
            }
            Self::ResNet8 => residual::resnet(&mnist, [8, 16, 32], 1, Padded),
        };
        network.expect("the presets are valid networks")
    }
}

/// What the papers' convolutional networks are made of, squares all.
#[derive(Clone, Copy)]
enum Part {
    /// Channels, side of the kernel, padding; stride 1, a bias, and a ReLU after it.
    Conv(usize, usize, usize),
    /// Side of the window and stride.
    Pool(usize, usize),
}
use Part::{Conv, Pool};

/// The parts, a flatten, and dense layers of these widths with biases and a ReLU between them.
fn convolutional(input: [usize; 3], parts: &[Part], widths: &[usize]) -> Result<Network> {
    let mut layers = Vec::new();
    for part in parts {
        match *part {
            Conv(channels, side, padding) => {
                let padding = [padding; 2].into();
                layers.push(Layer::Conv2d(Conv2d { padding, ..Conv2d::new(channels, [side; 2]) }));
                layers.push(Layer::Relu);
            }
            Pool(side, stride) => {
                layers.push(Layer::MaxPool2d(Pool2d { stride: Some([stride; 2]), ..Pool2d::new([side; 2]) }));
            }
        }
    }
    layers.push(Layer::Flatten);
    for (i, &units) in widths.iter().enumerate() {
        if i > 0 {
            layers.push(Layer::Relu);
        }
        layers.push(Layer::Dense { units, bias: true });
    }
    Network::new(input.to_vec(), layers)
}
