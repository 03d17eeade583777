"""PyTorch's gradient and Hessian products of the browser's work, natively on one thread: a rival in the rounds of scripts/bench/rounds.mjs.

Takes a folder that scripts/bench/python.mjs has filled with problem.json and raw little-endian values. Answers a line of JSON for each
line of standard input: "time OPERATION" (milliseconds of one run) or "read OPERATION FILE" (its last result as raw float64).
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional as F


def problem(folder):
    described = json.loads((folder / "problem.json").read_text())

    def values(name, kind):
        return torch.from_numpy(np.fromfile(folder / f"{name}.bin", dtype=kind))

    def blocks(name):
        flat, start, pieces = values(name, "<f4"), 0, []
        for shape in described["shapes"]:
            size = int(np.prod(shape))
            pieces.append(flat[start : start + size].reshape(shape).clone())
            start += size
        return pieces

    x = values("inputs", "<f4").reshape(described["samples"], *described["network"]["input"])
    y = values("labels", "<i4").long()
    parameters = [piece.requires_grad_() for piece in blocks("parameters")]
    return described["network"]["layers"], x, y, parameters, blocks("direction")


def apply(layer, operands, take):
    """A layer's output; `take` gives its next array of parameters."""
    x, kind = operands[0], layer["type"]
    bias = (lambda: take()) if layer.get("bias") else (lambda: None)
    if kind == "dense":
        return F.linear(x, take(), bias())
    if kind == "conv2d":
        return F.conv2d(x, take(), bias(), layer["stride"], layer["padding"])
    if kind == "scale":
        scaled, b = x * take().reshape(1, -1, 1, 1), bias()
        return scaled if b is None else scaled + b.reshape(1, -1, 1, 1)
    if kind == "relu":
        return F.relu(x)
    if kind == "max_pool2d":
        return F.max_pool2d(x, layer["size"], layer["stride"])
    if kind == "avg_pool2d":
        return F.avg_pool2d(x, layer["size"], layer["stride"])
    if kind == "pad_channels":
        return F.pad(x, (0, 0, 0, 0, layer["before"], layer["after"]))
    if kind == "global_avg_pool2d":
        return x.mean(dim=(2, 3), keepdim=True)
    if kind == "flatten":
        return x.flatten(1)
    if kind == "add":
        return sum(operands[1:], operands[0])
    raise ValueError(f"no layer {kind} here")


def forward(layers, x, parameters):
    rest, named, value = iter(parameters), {}, x
    for layer in layers:
        reads = layer.get("from")
        names = [] if reads is None else reads if isinstance(reads, list) else [reads]
        value = apply(layer, [named[name] for name in names] or [value], lambda: next(rest))
        if "name" in layer:
            named[layer["name"]] = value
    return value


def main(folder):
    torch.set_num_threads(1)
    layers, x, y, parameters, direction = problem(Path(folder))

    def gradient(create_graph=False):
        return torch.autograd.grad(F.cross_entropy(forward(layers, x, parameters), y), parameters, create_graph=create_graph)

    # The graph of the gradient is made once and kept, as isoflat keeps its point: a product is the second pass alone.
    kept = gradient(create_graph=True)
    operations = {
        "gradient": gradient,
        "product": lambda: torch.autograd.grad(kept, parameters, grad_outputs=direction, retain_graph=True),
        "plain": lambda: torch.autograd.grad(gradient(create_graph=True), parameters, grad_outputs=direction),
    }
    found = {}
    print(json.dumps({"adapter": f"PyTorch {torch.__version__}", "operations": list(operations)}), flush=True)
    for line in sys.stdin:
        command, operation, *rest = line.split(maxsplit=2)
        if command == "time":
            start = time.perf_counter()
            found[operation] = operations[operation]()
            print(json.dumps({"ms": 1000 * (time.perf_counter() - start)}), flush=True)
        else:
            flat = torch.cat([piece.detach().reshape(-1) for piece in found[operation]])
            flat.numpy().astype("<f8").tofile(rest[0].strip())
            print(json.dumps({}), flush=True)


if __name__ == "__main__":
    main(sys.argv[1])
