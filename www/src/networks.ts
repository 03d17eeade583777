/** The package's networks as the page offers them: what each takes, and how many samples of it are quick to compute. */

import type { PresetName } from "isoflat";
import type { NetworkChoice } from "./worker/protocol";

/** Inputs of the networks' papers: MNIST's images are 1 × 28 × 28, CIFAR-10's 3 × 32 × 32. */
const INPUTS = {
  mnist: { values: 784, shape: "1×28×28" },
  cifar10: { values: 3072, shape: "3×32×32" },
};

export interface Defaults {
  /** Of MNIST, for training. */
  training: number;
  /** Drawn at random where the data are. */
  random: number;
  /** The first of them, which landscape and measures are of. */
  measured: number;
  epochs: number;
}

interface Entry {
  label: string;
  group: "dense" | "convolutional" | "residual";
  over: keyof typeof INPUTS;
  defaults?: Partial<Defaults>;
}

export const MNIST_SAMPLES = 60000;

/** Those that the page loads at once (www/src/worker/mnist.ts). */
const USUAL: Defaults = { training: 24000, random: 500, measured: 500, epochs: 8 };
/** A convolution is computed at every pixel: fewer samples take as long. */
const FEWER: Partial<Defaults> = { training: 6000, random: 200, measured: 100, epochs: 3 };
const FEW: Partial<Defaults> = { random: 32, measured: 8, epochs: 2 };

/** A `Record` over the package's own type: a preset that is new there is missed here by the type checker. */
const PRESETS: Record<PresetName, Entry> = {
  small: { label: "small · 784-64-32-10", group: "dense", over: "mnist" },
  f1: { label: "F1 · 784-300-100-10", group: "dense", over: "mnist" },
  petzka_mnist: { label: "Petzka · 784-50-50-50-30-10", group: "dense", over: "mnist" },
  straight_mnist: { label: "straight · 784-64×4-10", group: "dense", over: "mnist" },
  mnist_fc: { label: "wide · 784-512×5-10", group: "dense", over: "mnist" },
  straight_cifar10: { label: "straight · 3072-64×5-10", group: "dense", over: "cifar10" },
  c1: { label: "C1 · 2 convolutions, 3 dense", group: "convolutional", over: "mnist", defaults: FEWER },
  lenet: { label: "LeNet · 2 convolutions, 3 dense", group: "convolutional", over: "mnist", defaults: FEWER },
  lenet5: { label: "LeNet-5 · 2 convolutions, 3 dense", group: "convolutional", over: "cifar10", defaults: FEWER },
  alexnet_cifar10: {
    label: "AlexNet · 2 convolutions, 3 dense",
    group: "convolutional",
    over: "cifar10",
    defaults: { random: 32, measured: 8, epochs: 2 },
  },
  vgg16_cifar10: {
    label: "VGG16 · 13 convolutions, 2 dense",
    group: "convolutional",
    over: "cifar10",
    defaults: { random: 8, measured: 8, epochs: 1 },
  },
  resnet8: { label: "ResNet-8 · 7 convolutions, 1 dense", group: "residual", over: "mnist", defaults: FEWER },
  resnet20: { label: "ResNet-20", group: "residual", over: "cifar10", defaults: FEW },
  resnet32: { label: "ResNet-32", group: "residual", over: "cifar10", defaults: FEW },
  resnet56: { label: "ResNet-56", group: "residual", over: "cifar10", defaults: FEW },
  resnet20_projection: { label: "ResNet-20, projections", group: "residual", over: "cifar10", defaults: FEW },
  resnet32_projection: { label: "ResNet-32, projections", group: "residual", over: "cifar10", defaults: FEW },
  resnet56_projection: { label: "ResNet-56, projections", group: "residual", over: "cifar10", defaults: FEW },
  preact_resnet20: { label: "ResNet-20, pre-activation", group: "residual", over: "cifar10", defaults: FEW },
  mobilenet_cifar10: { label: "MobileNet · depthwise separable", group: "residual", over: "cifar10", defaults: FEW },
};

const GROUPS: Record<Entry["group"], string> = {
  dense: "Fully connected",
  convolutional: "Convolutional",
  residual: "Residual and separable",
};

export interface NetworkGroup {
  title: string;
  networks: { name: PresetName; label: string }[];
}

/** The networks in the order in which they are offered. */
export function networkGroups(): NetworkGroup[] {
  const all = Object.entries(PRESETS) as [PresetName, Entry][];
  return (Object.entries(GROUPS) as [Entry["group"], string][]).map(([group, title]) => ({
    title,
    networks: all.filter(([, entry]) => entry.group === group).map(([name, { label }]) => ({ name, label })),
  }));
}

export function defaultsOf(network: NetworkChoice): Defaults {
  return { ...USUAL, ...(network.kind === "preset" ? PRESETS[network.name].defaults : {}) };
}

/** Why MNIST's digits are nothing for this network; null where they fit. */
export function unfitForMnist(network: NetworkChoice): string | null {
  if (network.kind === "preset") {
    // An address may name one that there is none of, which the engine says.
    const { values, shape } = INPUTS[PRESETS[network.name]?.over ?? "mnist"];
    if (values === INPUTS.mnist.values) return null;
    return `This network takes colour images (${shape} = ${values} values), and MNIST’s digits are 1×28×28 = 784`;
  }
  const [first = 0, last = 0] = [network.widths[0], network.widths.at(-1)];
  if (first !== INPUTS.mnist.values) {
    return `This network takes ${first} values, and MNIST’s digits have 784`;
  }
  if (last < 10) {
    return `This network has ${last} outputs, and there are ten digits`;
  }
  return null;
}
