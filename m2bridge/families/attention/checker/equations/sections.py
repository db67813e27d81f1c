"""The numbers h(n) of sections over the closure, and the bound on degrees of generators (docs/completeness.md)."""

from collections.abc import Callable
from itertools import pairwise, product
from math import comb, prod

from m2bridge.families.attention.checker.case import Case
from m2bridge.families.attention.checker.equations.products import balanced, partitions, products_of


def symmetric(size: int, n: int) -> int:
    return comb(size + n - 1, n) if n >= 0 else 0


def hook(size: int, n: int, legs: int) -> int:
    """dim S_(n − legs, 1^legs), by S_(n−i) ⊗ Λ^i = S_(n−i, 1^i) + S_(n−i+1, 1^(i−1))."""
    return sum((-1) ** (legs - i) * symmetric(size, n - i) * comb(size, i) for i in range(legs + 1)) if legs < n else 0


def determinantal(size: int, rank: int, n: int) -> int:
    """Polynomials of degree n on matrices of rank at most this; dimensions of Schur functors by hooks and contents."""

    def schur(shape: tuple[int, ...]) -> int:
        cells = [(i, j) for i, row in enumerate(shape) for j in range(row)]
        hooks = prod(shape[i] - j + sum(row > j for row in shape[i + 1 :]) for i, j in cells)
        return prod(size + j - i for i, j in cells) // hooks

    return symmetric(size * size, n) if rank >= size else sum(schur(s) ** 2 for s in partitions(n, rank, n))


def number_of_sections(rows: int, columns: int, variables: int, alpha: int) -> Callable[[int], int]:
    """The function h; ``columns`` is ``variables``, or α."""

    def value(n: int) -> int:
        source = symmetric(columns * variables, n) if alpha == columns else determinantal(columns, alpha, n)
        odd = symmetric(columns, n) * symmetric(rows, n) * comb(symmetric(variables, n), 2)
        labels = [(i, j) for i, j in product(range(alpha), range(rows)) if 1 <= i + j <= variables - 2]
        hooks = (hook(columns, n, i) * hook(rows, n, j) * hook(variables, 2 * n, i + j + 1) for i, j in labels)
        return source * symmetric(rows * variables, n) - odd - sum(hooks)

    return value


def hilbert_coefficients(h: Callable[[int], int], most: int) -> list[int]:
    """The e_i with P(n) = Σ (−1)^i e_i C(n + D − i − 1, D − i − 1), for P = h at n ≥ 1 of degree D − 1 < most."""
    values = [h(n) for n in range(1, most + 1)]
    tops = list[int]()
    while values:
        differences = values
        for _ in range(len(values) - 1):
            differences = [y - x for x, y in pairwise(differences)]
        tops.append(differences[0])
        size = len(values) - 1
        values = [x - differences[0] * comb(n + size, size) for n, x in enumerate(values[:-1], 1)]
    first = next(i for i, top in enumerate(tops) if top)
    return [(-1) ** i * top for i, top in enumerate(tops[first:])]


class Core:
    """Products of e = α and f = min(d', d) forms in m = min(d, e + f) variables; generators have degree at most B."""

    def __init__(self, case: Case) -> None:
        e, f = case.alpha, min(case.d, case.d_out)
        m = min(case.d, e + f)
        self.products, self.sizes, self.h = products_of(case), (f, e, m), number_of_sections(f, e, m, e)
        self.bound = max(m * min(e, f), min(max(e, f) - 1, m - 2) + 4)
        minors = ((e + 1, e < case.d), (case.d + 1, f < case.d_out), (e + f + 1, m < case.d))
        self.least = max([1, *(degree for degree, vanish in minors if vanish)])

    def sections_from(self) -> int | None:
        """From which degree on the Hilbert function is h; ``None`` if that is not decided."""
        start = self.bound
        while start and self.products.hilbert_function(start - 1, self.sizes) == self.h(start - 1):
            start -= 1
        return start if start < self.bound else None

    def generated(self, last: int) -> bool:
        """Whether the generators of degree ≤ last are all, of the core and of the closure."""
        weights = (self.products.padded(balanced(n, self.sizes)) for n in range(last + 1, self.bound + 1))
        return last >= self.least and not any(map(self.products.generators, weights))
