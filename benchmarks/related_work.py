"""The numbers of docs/related-work.md, computed again: ``python benchmarks/related_work.py``.

Three tables: which generators of closures are of the kinds that Alexandr, Duan and Montúfar name
(arXiv 2604.15632); dimensions of three layers, proved, beside ranks of Jacobian matrices in single
precision, as the script NeuroDim computes them; ED degrees of decision boundaries. The kinds of
invariants are written here from their definitions, in Macaulay2, and with random vectors in place
of basis vectors, so that they span what is the same in all bases.
"""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy

from m2bridge import (
    DeepAttention,
    Macaulay2,
    SingleLayerAttention,
    closure,
    dimension,
    ed_degree,
    ideal,
)

SIZES = ((2, 1, 1), (2, 1, 2), (2, 2, 1), (2, 2, 2), (3, 1, 1), (3, 1, 2), (3, 1, 3))

KINDS = """
-- c_(k,i,p,q), p <= q, is the coefficient of y_p y_q in q_(k,i) = l_i v_k
coordinate = (k,i,p,q) -> c_(k,i,min(p,q),max(p,q));
-- the symmetric matrix of sum_k h_k sum_i u_i q_(k,i)
form = (h,u) -> matrix table(d, d, (p,q) -> sum(#h, k -> sum(d, i ->
    h#k * u#i * coordinate(k+1,i+1,p+1,q+1) / (if p == q then 1 else 2))));
at = (S,p,q) -> (matrix{p} * S * transpose matrix{q})_(0,0);
draw = n -> apply(n, i -> (random 19 - 9)_QQ);
-- a binary quadratic form on the line through p and q
onLine = (S,p,q) -> {at(S,p,p), 2*at(S,p,q), at(S,q,q)};
minorsOf = (f,g) -> {f#0*g#1-f#1*g#0, f#0*g#2-f#2*g#0, f#1*g#2-f#2*g#1};
resultantOf = (f,g) -> (D = minorsOf(f,g); D#1^2 - D#0*D#2);
pairs2 = select(toList((0,0)..(d-1,d-1)), (p,q) -> p <= q);
-- coefficients of the q_i of the output h: a row for each y_p y_q
rowsOf = h -> matrix apply(pairs2, (p,q) -> apply(d, i ->
    sum(#h, k -> h#k * coordinate(k+1,i+1,p+1,q+1))));
lowRank = h -> if alpha < d then flatten entries gens minors(alpha + 1, rowsOf h) else {};
basisVector = (n,i) -> apply(n, j -> if j == i then 1_QQ else 0_QQ);
lowRankOfAll = () -> if alpha < d then flatten entries gens minors(alpha + 1,
    matrix apply(outputs, k -> {rowsOf basisVector(outputs, k)})) else {};
rankTwo = h -> if d > 2 then flatten entries gens minors(3, form(h, draw d)) else {};
-- relations of the maximal minors of the matrix of y_c v are relations of those of rowsOf h
syzygies = h -> (
    T := QQ[w_0..w_(d-1)];
    P := matrix apply(pairs2, (p,q) -> apply(d, c ->
        if c == p then w_q else if c == q then w_p else 0_T));
    places := subsets(#pairs2, d);
    known := apply(places, r -> det P^r);
    among := gens ker transpose matrix apply(known, f -> apply(flatten entries basis(d, T),
        m -> lift(coefficient(m, f), QQ)));
    F := rowsOf h;
    flatten entries (matrix{apply(places, r -> det F^r)} * sub(among, R)));
resultants = h -> (p := draw d; q := draw d;
    {resultantOf(onLine(form(h, draw d), p, q), onLine(form(h, draw d), p, q))});
resultantsOfOutputs = () -> (u := draw d; p := draw d; q := draw d;
    {resultantOf(onLine(form(draw outputs, u), p, q), onLine(form(draw outputs, u), p, q))});
-- in the given basis: for two rows K and two columns L of A the minors of two slices are the
-- products of det A_KL and the monomials of degree 2 in the v_k with k in K
veronese = h -> flatten apply(subsets(d, 2), K -> (
    (p, q) := toSequence apply(K, k -> basisVector(d, k));
    blocks := apply(subsets(d, 2), L -> (
        D := minorsOf toSequence apply(L, i -> onLine(form(h, basisVector(d, i)), p, q));
        matrix{{D#0, D#1}, {D#1, D#2}}));
    flatten entries gens minors(2, fold(blocks, (A, B) -> A | B))));
products = () -> (y := draw d;
    flatten entries gens minors(2, matrix table(outputs, d, (k, i) ->
        at(form(basisVector(outputs, k), basisVector(d, i)), y, y))));
-- how many minimal generators of I of each degree are in the span, modulo those of lower degree
S = QQ[a_(1,1)..a_(d,d), b_(1,1)..b_(outputs,d)];
weightRing = if alpha < d then S / minors(alpha + 1, genericMatrix(S, a_(1,1), d, d)) else S;
onWeights = map(weightRing, R, apply(gens R, x -> ((k,i,p,q) := (baseName x)#1;
    if p == q then b_(k,p)_weightRing*a_(p,i)_weightRing
    else b_(k,p)_weightRing*a_(q,i)_weightRing + b_(k,q)_weightRing*a_(p,i)_weightRing)));
counted = L -> (
    L = select(L, f -> f != 0);
    assert all(L, f -> onWeights f == 0);
    apply({2,3,4}, n -> (
        lower := ideal select(I_*, f -> first degree f < n) + ideal 0_R;
        base := gb(lower, DegreeLimit => n);
        here := select(L, f -> first degree f == n);
        if #here == 0 then 0 else rank lift(
            (coefficients(matrix{here} % base, Monomials => basis(n, R)))#1, QQ))));
output := () -> draw outputs;
often = (n, kind) -> flatten apply(n, i -> kind output());
oftenAlone = (n, kind) -> flatten apply(n, i -> kind());
setRandomSeed 1;
kinds = {
    often(if outputs == 1 then 1 else 8, lowRank),
    lowRankOfAll(),
    often(30, rankTwo),
    if d > 2 then often(1, syzygies) else {},
    often(if alpha == 1 then 5 else if d > 2 then 130 else 15, resultants),
    often(1, veronese),
    if outputs > 1 then oftenAlone(15, resultantsOfOutputs) else {},
    if outputs > 1 then oftenAlone(15, products) else {}};
append(apply(kinds, counted), counted flatten kinds)
"""

NAMES = (
    "low rank, one output",
    "low rank, all outputs",
    "rank two",
    "context syzygies",
    "resultants",
    "Veronese, in coordinates",
    "resultants of outputs",
    "products",
    "together",
)


@dataclass(frozen=True)
class Kinds:
    """How many minimal generators of degrees 2, 3, 4 a closure has, and each kind spans."""

    generators: tuple[int, ...]
    by_kind: dict[str, tuple[int, ...]]


def kinds_of_generators(d: int, outputs: int, a: int) -> Kinds:
    """Of m2bridge's generators; Macaulay2 checks that each kind vanishes on all functions."""
    found = closure(SingleLayerAttention(d=d, d_out=outputs, a=a))
    degrees = found.generator_degrees or {}
    sizes = f"d = {d}; outputs = {outputs}; alpha = {min(a, d)};\n"
    with Macaulay2() as m2:
        rows = m2.value(found.to_macaulay2() + "\n" + sizes + KINDS)
    return Kinds(
        tuple(degrees.get(n, 0) for n in (2, 3, 4)),
        {name: tuple(map(int, row)) for name, row in zip(NAMES, rows, strict=True)},
    )


def jacobian_matrix(a: int, rng: np.random.Generator, *, softmax: bool, precision: Any) -> Any:
    """The Jacobian matrix of three layers of width 4 at random weights, on 100 random sequences of
    three tokens, as in NeuroDim: a row for each weight, by forward differentiation.
    """
    d, layers, shapes = 4, 3, ((a, 4), (a, 4), (4, 4))
    tokens = rng.standard_normal((100, 3, d)).astype(precision)
    size = layers * sum(rows * columns for rows, columns in shapes)
    slopes = np.zeros((size, *tokens.shape), precision)
    place = 0
    for _ in range(layers):
        images = []
        for shape in shapes:
            matrix = rng.standard_normal(shape).astype(precision)
            image, slope = tokens @ matrix.T, slopes @ matrix.T
            for entry in range(matrix.size):
                row, column = divmod(entry, d)
                slope[place + entry, :, :, row] += tokens[:, :, column]
            place += matrix.size
            images.append((image, slope))
        (query, query_slope), (key, key_slope), (value, value_slope) = images
        scores = np.einsum("nie,nje->nij", key, query)
        changes = np.einsum("pnie,nje->pnij", key_slope, query)
        changes += np.einsum("nie,pnje->pnij", key, query_slope)
        if softmax:
            scores = np.exp(scores - scores.max(axis=1, keepdims=True))
            scores /= scores.sum(axis=1, keepdims=True)
            changes = scores * (changes - (scores * changes).sum(axis=2, keepdims=True))
        tokens = np.einsum("nij,nie->nje", scores, value)
        slopes = np.einsum("pnij,nie->pnje", changes, value)
        slopes += np.einsum("nij,pnie->pnje", scores, value_slope)
    return slopes.reshape(size, -1)


def largest_rank(a: int, *, softmax: bool, precision: Any) -> int:
    """The largest numerical rank at five points, with NumPy's usual tolerance."""
    rng = np.random.default_rng(0)
    matrices = (jacobian_matrix(a, rng, softmax=softmax, precision=precision) for _ in range(5))
    return max(int(np.linalg.matrix_rank(matrix)) for matrix in matrices)


def proved_dimension(a: int, *, softmax: bool) -> tuple[int, float]:
    """The dimension of the same three layers, proved, and the seconds that it took."""
    begin = time.perf_counter()
    normalization = "softmax" if softmax else "none"
    found = dimension(DeepAttention(widths=(4, 4, 4, 4), a=a, t=3, normalization=normalization))
    assert found.status == "proved"
    assert found.dimension is not None
    return found.dimension, time.perf_counter() - begin


def boundary_degree(d: int, t: int, outputs: int, a: int, seed: int) -> int:
    """The ED degree of the tokens on which a random affine function of all outputs is zero."""
    rng = random.Random(seed)

    def drawn(rows: int, columns: int) -> Any:
        return sympy.Matrix(rows, columns, lambda i, j: rng.randint(-5, 5))

    tokens = sympy.Matrix(d, t, lambda i, j: sympy.Symbol(f"x{i + 1}{j + 1}"))
    key, query, value = drawn(a, d), drawn(a, d), drawn(outputs, d)
    output = value * tokens * tokens.T * key.T * query * tokens
    readout = (drawn(t, outputs) * output).trace() + rng.randint(1, 5)
    equation = str(sympy.expand(readout)).replace("**", "^")
    degree = ed_degree(ideal(equation), generic=False).ed_degree
    assert degree is not None
    return degree


BOUNDARIES = ((2, 1, 1, 1), (2, 2, 1, 1), (2, 2, 1, 2), (2, 2, 2, 2), (2, 3, 1, 1), (2, 3, 1, 2))
"""(d, t, d', a)."""


def main() -> None:
    """Print the three tables."""
    print("Minimal generators of degrees 2, 3, 4, and how many of them each kind spans")
    for size in SIZES:
        found = kinds_of_generators(*size)
        spanned = {name: numbers for name, numbers in found.by_kind.items() if any(numbers)}
        print(f"  (d, d', a) = {size}: {found.generators}", *spanned.items(), sep="\n    ")
    print("Three layers of width 4: a, proved dimension, seconds, ranks in single and double")
    for softmax in (True, False):
        for a in range(1, 5):
            proved, seconds = proved_dimension(a, softmax=softmax)
            ranks = [
                largest_rank(a, softmax=softmax, precision=precision)
                for precision in (np.float32, np.float64)
            ]
            print(f"  softmax {softmax}, a = {a}: {proved}, {seconds:.2f} s, {ranks}", flush=True)
    print("ED degrees of boundaries for two seeds, and of a general cubic")
    for d, t, outputs, a in BOUNDARIES:
        degrees = [boundary_degree(d, t, outputs, a, seed) for seed in (1, 2)]
        print(f"  (d, t, d', a) = {(d, t, outputs, a)}: {degrees}, {3 * (2 ** (d * t) - 1)}")


if __name__ == "__main__":
    main()
