"""Whole answers by PyTorch with SciPy, and with PyHessian where it is installed: what scripts/bench/answers.mjs holds isoflat against.

Takes the checkpoint, MNIST's test images and labels (IDX files), and the number of samples. Prints a JSON object a line:
{"answer", "who", "seconds", "found"}. Float32, one thread.
"""

import importlib.util
import json
import sys
import time

import numpy as np
import torch
from scipy.sparse.linalg import LinearOperator, eigsh
from torch import nn

RUNS = 7


def lenet():
    return nn.Sequential(
        nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2),
        nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
        nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10),
    )


def idx(path, header):
    with open(path, "rb") as file:
        return np.frombuffer(file.read()[header:], dtype=np.uint8)


def tell(answer, who, seconds, found=None):
    print(json.dumps({"answer": answer, "who": who, "seconds": seconds, "found": found}), flush=True)


def timed(work):
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


def main(checkpoint, images, labels, samples):
    torch.set_num_threads(1)
    model = lenet()
    state = torch.load(checkpoint, map_location="cpu", weights_only=True)
    state = state.get("state_dict", state) if isinstance(state, dict) else state
    # By their order: the names are another module's.
    model.load_state_dict(dict(zip(model.state_dict(), state.values(), strict=True)))
    model.eval()
    x = torch.from_numpy(idx(images, 16)[: samples * 784].reshape(samples, 1, 28, 28).astype(np.float32) / 255)
    y = torch.from_numpy(idx(labels, 8)[:samples].astype(np.int64))
    parameters = list(model.parameters())
    sizes = [p.numel() for p in parameters]
    criterion = nn.CrossEntropyLoss()

    def gradient(create_graph=False):
        return torch.autograd.grad(criterion(model(x), y), parameters, create_graph=create_graph)

    # The graph of the gradient is made once and kept: a product is the second pass alone.
    kept = gradient(create_graph=True)

    def product(vector):
        pieces = torch.from_numpy(np.asarray(vector, dtype=np.float32).reshape(-1)).split(sizes)
        pieces = [piece.view_as(p) for piece, p in zip(pieces, parameters)]
        found = torch.autograd.grad(kept, parameters, grad_outputs=pieces, retain_graph=True)
        return torch.cat([piece.reshape(-1) for piece in found]).numpy().astype(np.float64)

    def product_anew(vector):
        pieces = [piece.view_as(p) for piece, p in zip(torch.from_numpy(vector).split(sizes), parameters)]
        return torch.autograd.grad(gradient(create_graph=True), parameters, grad_outputs=pieces)

    n = sum(sizes)
    vector = np.random.default_rng(0).standard_normal(n).astype(np.float32)
    forms = [("gradient", gradient), ("Hessian product", lambda: product(vector)),
             ("Hessian product, plain", lambda: product_anew(vector))]
    for answer, work in forms:
        work()
        tell(answer, "PyTorch", sorted(timed(work)[0] for _ in range(RUNS))[RUNS // 2])

    count = 0

    def counted(v):
        nonlocal count
        count += 1
        return product(v)

    operator = LinearOperator((n, n), matvec=counted, dtype=np.float64)
    start = np.random.default_rng(1).standard_normal(n)
    seconds, values = timed(lambda: eigsh(operator, k=6, which="LA", tol=1e-4, v0=start, return_eigenvectors=False))
    tell("six eigenvalues", "SciPy's eigsh over PyTorch", seconds, {"values": sorted(values, reverse=True), "products": count})

    if importlib.util.find_spec("pyhessian") is None:
        return
    from pyhessian import hessian

    computed = hessian(model, criterion, data=(x, y), cuda=False)
    seconds, (values, _) = timed(lambda: computed.eigenvalues(top_n=2, tol=1e-4, maxIter=200))
    tell("two eigenvalues", "PyHessian", seconds, {"values": values})
    seconds, trace = timed(lambda: computed.trace())
    tell("trace", "PyHessian", seconds, {"values": [float(np.mean(trace))]})


if __name__ == "__main__":
    main(*sys.argv[1:4], int(sys.argv[4]))
