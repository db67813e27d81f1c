"""``weights`` of a file as large as GPT-2's, against another tree of m2bridge if one is given.

Random float32 weights of 12 layers with 12 heads of width 768, with biases and norms. Each run is a
process of its own, in turns (A B A B …); the figures are medians of processor times, which other
work on the machine changes less than the time by the clock::

    python benchmarks/weights.py [--rounds 3] [--layers 12] [--against PATH]
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

import numpy

ROOT = Path(__file__).resolve().parents[1]
WIDTH, HEADS = 768, 12
RUN = """
import sys, time
tree, file, normalization = sys.argv[1:]
sys.path.insert(0, tree)
from m2bridge import weights
weights(K=[[1.0]], Q=[[1.0]], V=[[1.0]])  # so that modules are loaded
begin = time.process_time()
found = weights(file, heads=%d, normalization=normalization)
found.to_json()
str(found)
print(time.process_time() - begin)
"""


def write(file: Path, layers: int) -> None:
    """Write the state dict of a GPT-2 with random weights."""
    random = numpy.random.default_rng(1)

    def drawn(*shape: int) -> Any:
        return (random.standard_normal(shape) / WIDTH**0.5).astype(numpy.float32)

    state: dict[str, Any] = {}
    for number in range(layers):
        block = f"h.{number}"
        state[f"{block}.attn.c_attn.weight"] = drawn(WIDTH, 3 * WIDTH)
        state[f"{block}.attn.c_attn.bias"] = drawn(3 * WIDTH)
        state[f"{block}.attn.c_proj.weight"] = drawn(WIDTH, WIDTH)
        state[f"{block}.attn.c_proj.bias"] = drawn(WIDTH)
        state[f"{block}.ln_1.weight"] = 1 + drawn(WIDTH)
        state[f"{block}.ln_1.bias"] = drawn(WIDTH)
    numpy.savez(file, **state)


def seconds(tree: Path, file: Path, normalization: str) -> float:
    """Return the processor time of the analysis by the m2bridge in a tree."""
    command = [sys.executable, "-c", RUN % HEADS, str(tree), str(file), normalization]
    run = subprocess.run(command, capture_output=True, text=True, check=True, cwd=file.parent)
    return float(run.stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--layers", type=int, default=12)
    parser.add_argument("--against", type=Path, help="a tree of another release of m2bridge")
    options = parser.parse_args()
    trees = [ROOT]
    if options.against is not None:
        trees.insert(0, options.against.resolve())
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "gpt2.npz"
        write(file, options.layers)
        for normalization in ("none", "softmax"):
            times: dict[Path, list[float]] = {tree: [] for tree in trees}
            for _ in range(options.rounds):
                for tree in trees:
                    times[tree].append(seconds(tree, file, normalization))
            medians = [median(own) for own in times.values()]
            words = " / ".join(f"{value:.1f}" for value in medians)
            ratio = f", ratio {medians[-1] / medians[0]:.2f}" if len(trees) > 1 else ""
            print(f"{normalization:8} {words} s{ratio}", flush=True)


if __name__ == "__main__":
    main()
