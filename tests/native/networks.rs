//! Networks: the papers' ones, their JSON, and their short names.

use crate::support::*;
use isoflat::Network;
use isoflat::network::{BiasInitialization, Initialization, Preset, Shape};

/// Each preset with its number of parameters, worked out by hand from (inputs · window + 1) · outputs a layer.
#[test]
fn presets_have_the_papers_sizes() {
    let sizes = [
        (Preset::Small, "small", 784 * 64 + 64 + 64 * 32 + 32 + 32 * 10 + 10),
        (Preset::F1, "f1", 235_500 + 30_100 + 1_010),
        (Preset::MnistFc, "mnist_fc", 401_920 + 4 * 262_656 + 5_130),
        (Preset::StraightMnist, "straight_mnist", 50_176 + 3 * 4_096 + 640),
        (Preset::StraightCifar10, "straight_cifar10", 196_608 + 4 * 4_096 + 640),
        (Preset::PetzkaMnist, "petzka_mnist", 39_250 + 2_550 + 2_550 + 1_530 + 310),
        (Preset::C1, "c1", 260 + 5_020 + 38_520 + 10_164 + 850),
        (Preset::LeNet, "lenet", 156 + 2_416 + 48_120 + 10_164 + 850),
        (Preset::LeNet5, "lenet5", 456 + 2_416 + 48_120 + 10_164 + 850),
        (Preset::AlexNetCifar10, "alexnet_cifar10", 4_864 + 102_464 + 1_573_248 + 73_920 + 1_930),
        (
            Preset::Vgg16Cifar10,
            "vgg16_cifar10",
            (1_792 + 36_928)
                + (73_856 + 147_584)
                + (295_168 + 2 * 590_080)
                + (1_180_160 + 2 * 2_359_808)
                + 3 * 2_359_808
                + 262_656
                + 5_130,
        ),
        (Preset::ResNet20, "resnet20", resnet(3)),
        (Preset::ResNet32, "resnet32", resnet(5)),
        (Preset::ResNet56, "resnet56", resnet(9)),
        (Preset::ResNet20Projection, "resnet20_projection", resnet(3) + 2_752),
        (Preset::ResNet32Projection, "resnet32_projection", resnet(5) + 2_752),
        (Preset::ResNet56Projection, "resnet56_projection", resnet(9) + 2_752),
        (
            Preset::PreactResNet20,
            "preact_resnet20",
            432 + 3 * 4_672 + (14_432 + 2 * 18_560) + (57_536 + 2 * 73_984) + 128 + 650,
        ),
        (Preset::MobileNetCifar10, "mobilenet_cifar10", 928 + 2_528 + 9_152 + 18_048 + 34_688 + 68_864 + 2_570),
        (Preset::ResNet8, "resnet8", 88 + 1_184 + 3_520 + 13_952 + 330),
    ];
    assert_eq!(sizes.len(), Preset::ALL.len());
    for (preset, name, parameters) in sizes {
        let network = preset.network();
        assert_eq!(network.parameter_count(), parameters, "{name}");
        assert_eq!(network.output_len(), 10, "{name}");
        assert!([784, 3072].contains(&network.input_len()), "{name}");
        assert!(network.is_positively_homogeneous() && network.is_piecewise_linear(), "{name}");
        assert_eq!((preset.name(), Preset::from_name(name).expect("a name")), (name, preset));
    }
}

/// He et al.'s with so many blocks a stage: what a normalisation has is two numbers a channel.
fn resnet(blocks: usize) -> usize {
    let more = blocks - 1;
    464 + blocks * 4_672 + (13_952 + more * 18_560) + (55_552 + more * 73_984) + 650
}

/// What the papers say of the shapes between: 320 values before C1's dense layers, 4096 and 512 before the others'.
#[test]
fn presets_have_the_papers_shapes() {
    let before_dense = [
        (Preset::C1, Shape { channels: 20, height: 4, width: 4 }),
        (Preset::LeNet, Shape { channels: 16, height: 5, width: 5 }),
        (Preset::LeNet5, Shape { channels: 16, height: 5, width: 5 }),
        (Preset::AlexNetCifar10, Shape { channels: 64, height: 8, width: 8 }),
        (Preset::Vgg16Cifar10, Shape { channels: 512, height: 1, width: 1 }),
    ];
    for (preset, shape) in before_dense {
        let network = preset.network();
        let flatten = network.layers().position(|layer| layer.name() == "flatten").expect("a flatten");
        assert_eq!(network.layout().tensor(isoflat::network::Source::Layer(flatten)).shape, shape, "{}", preset.name());
    }
    assert_eq!(Preset::C1.network().layout().layers().len(), 5, "Table 3 has five factors");
    assert_eq!(Preset::LeNet5.network().layout().layers().len(), 5, "κ⁵ is there");
}

#[test]
fn summaries_are_short_names() {
    let summaries = [
        (Preset::F1, "784-300-100-10"),
        (Preset::C1, "1×28×28-conv5×5×10-pool2×2-conv5×5×20-pool2×2-120-84-10"),
        (Preset::AlexNetCifar10, "3×32×32-conv5×5×64-pool3×3-conv5×5×64-pool3×3-384-192-10"),
    ];
    for (preset, summary) in summaries {
        assert_eq!(preset.network().summary(), summary);
    }
    assert_eq!(Preset::ResNet20.network().summary(), "3×32×32-conv3×3×16-conv3×3×16-…-mean-10 (20 layers)");
    let json = r#"{"input": [1, 4, 6], "layers": [{"type": "avg_pool2d", "size": [2, 3]}, {"type": "conv2d", "channels": 3,
        "kernel": 2}]}"#;
    assert_eq!(Network::from_json(json).expect("a network").summary(), "1×4×6-mean2×3-conv2×2×3");
}

/// A network's JSON reads back as the same network, and so does what it says of sizes in short.
#[test]
fn json_round_trips() {
    for preset in Preset::ALL {
        let network = preset.network();
        let json = serde_json::to_string(&network).expect("a JSON");
        assert_eq!(Network::from_json(&json).expect("a network"), network, "{}", preset.name());
    }
    for seed in 0..40 {
        let network = random_image_network(&mut rng(6000 + seed), &ALL);
        let json = serde_json::to_string(&network).expect("a JSON");
        assert_eq!(Network::from_json(&json).expect("a network"), network, "seed {seed}");
    }
    let layers = |conv: &str, pool: &str| {
        let json = format!(
            r#"{{"input": [2, 9, 9], "layers": [{{"type": "conv2d", "channels": 2, {conv}}}, {{"type": "max_pool2d", {pool}}},
            {{"type": "flatten"}}, {{"type": "dense", "units": 2}}]}}"#
        );
        Network::from_json(&json).expect("a network")
    };
    let spelled_out = layers(
        r#""kernel": [3, 3], "stride": [2, 2], "padding": [1, 1], "bias": true"#,
        r#""size": [2, 2], "stride": [2, 2]"#,
    );
    let short = layers(r#""kernel": 3, "stride": 2, "padding": 1"#, r#""size": 2, "stride": 2"#);
    assert_eq!(short, spelled_out);
    // A pool steps by its size where nothing else is said; a convolution by one, without padding, with a bias.
    let defaults = layers(r#""kernel": 3"#, r#""size": 2"#);
    let written = layers(r#""kernel": 3, "stride": 1, "padding": 0, "bias": true"#, r#""size": 2, "stride": 2"#);
    assert_eq!(defaults.layout(), written.layout());
}

/// A convolution's fans count its window: C1's second has 10 · 25 inputs, and each of them reaches 20 · 25 outputs.
#[test]
fn convolutions_are_initialised_by_their_fans() {
    let network = Preset::C1.network();
    let block = network.layout().layers()[1].weight.clone();
    let weights =
        |scheme| network.initialize(scheme, BiasInitialization::Uniform, 1).expect("options")[block.clone()].to_vec();
    let variance = |w: &[f64]| w.iter().map(|w| w * w).sum::<f64>() / w.len() as f64;
    // 5000 draws: the variance is known to about 2 %.
    for (scheme, expected) in [
        (Initialization::KaimingNormal, 2.0 / 250.0),
        (Initialization::KaimingUniform, 2.0 / 250.0),
        (Initialization::XavierNormal, 2.0 / 750.0),
        (Initialization::Pytorch, 1.0 / (3.0 * 250.0)),
    ] {
        let found = variance(&weights(scheme));
        assert!((found / expected - 1.0).abs() < 0.1, "{scheme:?}: variance {found}, expected {expected}");
    }
    let largest = weights(Initialization::KaimingUniform).iter().fold(0.0, |m: f64, w| m.max(w.abs()));
    let bound = (6.0f64 / 250.0).sqrt();
    assert!(largest < bound && largest > 0.99 * bound);
    // In the last layer too, whose gain is 1.
    let own = network.initialize(Initialization::Pytorch, BiasInitialization::Uniform, 1).expect("options");
    for layer in network.layout().layers() {
        let (weights, bound) = (&own[layer.weight.clone()], 1.0 / (layer.inputs as f64).sqrt());
        let largest = weights.iter().fold(0.0, |m: f64, w| m.max(w.abs()));
        assert!(largest <= bound && largest > 0.99 * bound, "{largest}, {bound}");
    }
    let all = network.initialize(Initialization::KaimingUniform, BiasInitialization::Uniform, 1).expect("options");
    let bias = network.layout().layers()[1].bias.clone().expect("a bias");
    assert!(all[bias].iter().all(|b| *b != 0.0 && b.abs() <= 1.0 / 250.0f64.sqrt()));
}
