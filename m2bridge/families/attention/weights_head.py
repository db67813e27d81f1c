"""One head of trained weights: the orbit of its function and what follows from it, and its numerical side.

With an output matrix the values are OV, of rank at most v: functions are then those of {rk A ≤ α} × {rk V ≤ β}, where
α = min(a, d) and β = min(v, d, d'), a smaller variety than that of the paper, for which β = min(d, d'). The lemmas hold
for it with the same proofs, which are in ``docs/weights.md``.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from math import comb, sqrt
from typing import TYPE_CHECKING, Any, Self

from m2bridge.algebra.determinantal import determinantal_dimension, matrices_of_rank
from m2bridge.convert.weight_files import PRECISIONS
from m2bridge.families.attention.exact_weights import Ranks, exact_ranks, factors, is_onto
from m2bridge.families.attention.shape import ROUNDINGS, rank_words
from m2bridge.families.attention.weight_names import Head
from m2bridge.families.attention.weights_numerical import EPSILON, Measured, Pair, Spectrum, rounded

if TYPE_CHECKING:
    from m2bridge.families.attention.orbits import Orbit


@dataclass(frozen=True, slots=True)
class HeadShape:
    """The numbers of a head.

    Parameters
    ----------
    d, d_out, a : int
    v : int or None
        The dimension of the values, where an output matrix takes them to dimension d'.
    factored : bool
        Whether K and Q are given, and not A.
    softmax : bool
    """

    d: int
    d_out: int
    a: int
    v: int | None
    factored: bool
    softmax: bool

    @property
    def alpha(self) -> int:
        """The largest rank of A."""
        return min(self.a, self.d)

    @property
    def most_V(self) -> int:
        """The largest rank of a d' × d matrix."""
        return min(self.d, self.d_out)

    @property
    def beta(self) -> int:
        """The largest rank of V."""
        return min(self.most_V, self.v or self.most_V)

    @property
    def parameters(self) -> int:
        """The number of entries of K and Q (or A) and of V (and O)."""
        attention = 2 * self.a * self.d if self.factored or self.a < self.d else self.d**2
        return attention + (self.d_out * self.d if self.v is None else self.v * (self.d + self.d_out))

    @property
    def dimension(self) -> int:
        """The dimension of the neuromanifold for t ≥ 2; softmax has no rescaling (Theorem S)."""
        values = determinantal_dimension(self.d_out, self.d, self.beta)
        return matrices_of_rank(self.d, self.alpha) + values - (not self.softmax)

    def redundant(self) -> list[tuple[str, int]]:
        """The directions of generic weights in which the function does not change, by name, with their numbers."""
        found = []
        if self.a <= self.d and (self.factored or self.a < self.d):
            found.append((f"GL({self.a}) on K and Q", self.a**2))
        elif self.factored:
            found.append(("K and Q with the same KᵀQ", 2 * self.a * self.d - self.d**2))
        if self.v is not None and self.v <= self.most_V:
            found.append((f"GL({self.v}) on O and V", self.v**2))
        elif self.v is not None:
            found.append(("O and V with the same OV", self.v * (self.d + self.d_out) - self.d * self.d_out))
        return found + ([] if self.softmax else [("rescaling of A against V", 1)])

    def is_singular(self, r: int, s: int, m: int) -> bool:
        """Whether a function of lightning attention in this orbit is a singular point of the Zariski closure.

        Where α > 1 or β > 1 the parametrization is finite and birational: a point is smooth exactly if its fibre is one
        reduced point, where the source is smooth. For α = β = 1 the closure is the cone over a Segre product of
        projective spaces and the quadrics of rank at most 2, which are singular at rank 1 if d ≥ 3.
        """
        d = self.d
        if d == 1:
            return False
        if not (r and s):
            return self.dimension < self.d_out * d * comb(d + 1, 2)
        if self.alpha == self.beta == 1:
            return m == 1 and d >= 3
        return r == s == 1 or r < self.alpha < d or s < self.beta < self.most_V

    def is_boundary(self, r: int, s: int, m: int) -> bool:
        """Whether it is a limit of real functions of the closure without real weights."""
        return self.d > 1 and (not (r and s) or (r, s, m) == (1, 1, 1))


@dataclass(frozen=True, slots=True, eq=False)
class Numerical:
    """What is computed in floating point; ``None`` stands for what is not told apart from 0, or not computed.

    Parameters
    ----------
    kind : str
        The type in which the weights are stored.
    tolerance : float
        For effective ranks, times the largest singular value; the precision of the type.
    singular_values_A, singular_values_V : list of float
    effective_rank_A, effective_rank_V : int
    distances_to_lower_rank_A, distances_to_lower_rank_V : list of float
        To rank at most 0, 1, 2, …
    principal_angles : list of float
        Between the column space of A and the row space of V, in radians.
    distance_to_singular_locus, distance_to_boundary : float
    nearest_singular_locus : str
        The nearest part of it.
    relative_change_of_function : float
        By the truncations that reach it.
    """

    kind: str
    tolerance: float
    singular_values_A: list[float | None]
    singular_values_V: list[float | None]
    effective_rank_A: int
    effective_rank_V: int
    distances_to_lower_rank_A: list[float | None]
    distances_to_lower_rank_V: list[float | None]
    principal_angles: list[float | None]
    distance_to_singular_locus: float | None
    distance_to_boundary: float | None
    nearest_singular_locus: str
    relative_change_of_function: float | None


@dataclass(frozen=True, slots=True, eq=False)
class HeadWeights:
    """The weights of one head.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    shape : HeadShape
    ranks : Ranks
    onto : bool or None
        Whether all A and V near these have weights near these: then the weights are a regular point unless their
        function is critical.
    numerical : Numerical
    """

    layer: int
    head: int
    shape: HeadShape
    ranks: Ranks
    onto: bool | None
    numerical: Numerical

    @classmethod
    def of(cls, head: Head, a: int | None, softmax: bool, tolerance: float | None) -> Self:
        """Compute everything about a head; ``a`` is the largest rank of A where A is given."""
        matrices = head.matrices
        shape = _shape(matrices, a, softmax)
        ranks = exact_ranks(matrices)
        numerical = _numerical(matrices, head.kind, shape, ranks, tolerance)
        return cls(head.layer, head.head, shape, ranks, _onto(matrices, shape, ranks), numerical)

    @property
    def known(self) -> str:
        """How the ranks of A and V are known."""
        return "proved" if self.ranks.proved else "lower bound"

    @property
    def orbit(self) -> Orbit | None:
        """``None`` for the zero function."""
        from m2bridge.families.attention.orbits import Orbit  # needs SymPy, which is slow to import

        return None if self.is_zero else Orbit(*self.ranks.numbers)

    @property
    def is_zero(self) -> bool:
        """Whether V is 0, or, for lightning attention, A."""
        return not self.ranks.s or not (self.ranks.r or self.shape.softmax)

    @property
    def is_outside(self) -> bool:
        """Whether A has a larger rank than the model allows."""
        return self.ranks.r > self.shape.alpha

    @property
    def is_decided(self) -> bool:
        """Whether something can be said of the function as a point of the closure; of softmax nothing is known."""
        return self.ranks.proved and not self.is_outside and not self.shape.softmax

    @property
    def singular(self) -> bool | None:
        """Whether the function is a singular point of the Zariski closure."""
        return self.shape.is_singular(*self.ranks.numbers) if self.is_decided else None

    @property
    def boundary(self) -> bool | None:
        """Whether it is a boundary point of the neuromanifold."""
        return self.shape.is_boundary(*self.ranks.numbers) if self.is_decided else None

    @property
    def regular(self) -> bool | None:
        """Whether the rank of the differential at these weights is the dimension; at 0 for d = 1 not decided."""
        if not self.ranks.proved or self.is_outside:
            return None
        if self.is_zero:
            return None if self.shape.d == 1 and not self.shape.softmax else False
        critical = not self.shape.softmax and self.ranks.numbers == (1, 1, 1) and self.shape.d > 1
        return False if critical else self.onto

    @property
    def point(self) -> str:
        """What kind of point the function is, in words."""
        if not self.is_decided:
            return "outside" if self.is_outside else "softmax" if self.shape.softmax else "undecided"
        words = (
            ["zero"] * self.is_zero + ["singular" if self.singular else "smooth"] + ["boundary"] * bool(self.boundary)
        )
        return ", ".join(words)

    def words(self) -> str:
        """What the function says about the weights."""
        if self.is_outside:
            distances, most = self.numerical.distances_to_lower_rank_A, self.shape.alpha
            distance, rounding = distances[most] or 0.0, ROUNDINGS * sqrt(len(distances)) * self.numerical.tolerance
            return rank_words(self.ranks.r, most, distance, distance <= rounding)
        if self.is_zero:
            return f"the zero function: all weights with {'' if self.shape.softmax else 'A = 0 or '}V = 0 have it"
        if not self.ranks.proved:
            return "not decided: exact ranks take too long here, and a generic function of these ranks is not assumed"
        pair = "A and OV" if self.shape.v is not None else "A and V"
        if self.shape.softmax:
            return f"{pair} are determined by the function (t ≥ 2){self._factors()}"
        scaling = "(A, V) → (λA, V/λ)"
        if self.ranks.numbers == (1, 1, 0):
            return f"two classes of weights up to {scaling}: A = kqᵀ, V = hvᵀ, and A = vqᵀ, V = hkᵀ{self._factors()}"
        double = ", as a double point" if self.ranks.numbers == (1, 1, 1) and self.shape.d > 1 else ""
        return f"{pair} are determined by the function up to the scaling {scaling}{double}{self._factors()}"

    def _factors(self) -> str:
        """What A says of K and Q, and OV of O and V."""
        shape, words = self.shape, []
        for given, size, rank, names in (
            (shape.factored, shape.a, self.ranks.r, "K and Q"),
            (shape.v is not None, shape.v, self.ranks.s, "O and V"),
        ):
            if given and rank == size:
                words.append(f"{names} by {'A' if names[0] == 'K' else 'OV'} up to GL({size})")
            elif given:
                words.append(f"{names} up to more than GL({size})")
        return "; " + ", ".join(words) if words else ""

    def to_json(self) -> dict[str, Any]:
        """For ``json.dumps``."""
        shape, known = self.shape, self.known
        return {
            "layer": self.layer,
            "head": self.head,
            "d": shape.d,
            "d_out": shape.d_out,
            "a": shape.a,
            "v": shape.v,
            "rank_A": self.ranks.r,
            "rank_V": self.ranks.s,
            "dim_intersection": self.ranks.m,
            "ranks": {
                "rank_A": known,
                "rank_V": known,
                "dim_intersection": known if self.ranks.proved else "not decided",
                "method": self.ranks.method or None,
            },
            "orbit": None if self.is_zero else dict(zip("rsm", self.ranks.numbers, strict=True)),
            "singular": self.singular,
            "boundary": self.boundary,
            "regular": self.regular,
            "fibre": self.words(),
            "parameters": shape.parameters,
            "dimension": shape.dimension,
            "redundant": shape.parameters - shape.dimension,
            "redundant_directions": [{"name": name, "dimension": size} for name, size in shape.redundant()],
            "numerical": asdict(self.numerical),
        }


def _shape(matrices: Any, a: int | None, softmax: bool) -> HeadShape:
    V, O = matrices["V"], matrices.get("O")
    d_out, v = (V.shape[0], None) if O is None else (O.shape[0], V.shape[0])
    own = matrices["K"].shape[0] if "K" in matrices else (a or V.shape[1])
    return HeadShape(V.shape[1], d_out, own, v, "K" in matrices, softmax)


def _onto(matrices: Any, shape: HeadShape, ranks: Ranks) -> bool | None:
    """Whether factors near these have all products near A, of rank ≤ α, and near OV: where they have full rank."""
    if not ranks.proved:
        return None
    sides = ((ranks.r, shape.alpha, shape.d, "KQ"), (ranks.s, shape.beta, shape.most_V, "OV"))
    decided = [
        # Where ranks are bounded, the product has the largest rank; else one of the factors is enough.
        rank == most or (most == free and is_onto(matrices, letters))
        for rank, most, free, letters in sides
    ]
    return False if False in decided else None if None in decided else True


def _numerical(matrices: Any, kind: str, shape: HeadShape, ranks: Ranks, tolerance: float | None) -> Numerical:
    products, exact = factors(matrices), (ranks.r, ranks.s) if ranks.proved else (None, None)
    A, V = (Spectrum.of(product, rank) for product, rank in zip(products, exact, strict=True))
    level = PRECISIONS[kind] if tolerance is None else tolerance
    effective = A.effective_rank(level), V.effective_rank(level)
    pair = Pair.of(A, V) if all(effective) else None
    boundary = _to_boundary(pair, shape, ranks)
    to_singular, locus, change = _to_singular(A, V, pair, shape, boundary)
    lower_A, lower_V = ([rounded(*s.distance(k)) for k in range(len(s.values) + 1)] for s in (A, V))
    return Numerical(
        kind=kind,
        tolerance=level,
        singular_values_A=A.shown(),
        singular_values_V=V.shown(),
        effective_rank_A=effective[0],
        effective_rank_V=effective[1],
        distances_to_lower_rank_A=lower_A,
        distances_to_lower_rank_V=lower_V,
        principal_angles=_angles(pair, effective, ranks),
        distance_to_singular_locus=rounded(*to_singular) if to_singular else None,
        distance_to_boundary=rounded(*boundary) if boundary else None,
        nearest_singular_locus=locus,
        relative_change_of_function=rounded(*change) if change else None,
    )


def _angles(pair: Pair | None, effective: tuple[int, int], ranks: Ranks) -> list[float | None]:
    """Principal angles; as many as the spaces have dimensions in common are 0 exactly."""
    if pair is None:
        return []
    zeros = ranks.m if ranks.proved and effective == (ranks.r, ranks.s) else 0
    return [0.0 if place < zeros else angle for place, angle in enumerate(pair.angles(effective))]


def _to_boundary(pair: Pair | None, shape: HeadShape, ranks: Ranks) -> Measured | None:
    """To A = v qᵀ, V = h vᵀ; there is no boundary for d = 1, and none is known for softmax."""
    if shape.d == 1 or shape.softmax:
        return None
    if pair is None or (ranks.proved and shape.is_boundary(ranks.r, ranks.s, ranks.m)):
        return 0.0, 0.0
    return pair.boundary_distance()


def _to_singular(
    A: Spectrum, V: Spectrum, pair: Pair | None, shape: HeadShape, boundary: Measured | None
) -> tuple[Measured | None, str, Measured | None]:
    """The distance to the nearest part of the singular locus, its name, and the change of the function on the way."""
    alpha, beta, d = shape.alpha, shape.beta, shape.d
    if d == 1 or shape.softmax:
        return None, "", None
    if pair is None:
        return (0.0, 0.0), "zero", (0.0, 0.0)
    found: list[tuple[Measured | None, str, Measured | None]] = [((1.0, EPSILON), "zero", (1.0, EPSILON))]
    if alpha == beta == 1:
        if d >= 3 and boundary:  # the forms k and v, at the angle 2·arcsin of the distance, become one
            half = 2 * boundary[0] ** 2
            found.append((boundary, "A = vqᵀ, V = hvᵀ", (half / sqrt((2 - half) ** 2 + half**2), 4 * boundary[1])))
    else:
        found.append((max(A.distance(1), V.distance(1)), "rk A = rk V = 1", pair.change(1, 1)))
    if 1 < alpha < d:
        found.append((A.distance(alpha - 1), f"rk A ≤ {alpha - 1}", pair.change(alpha - 1, len(V.values))))
    if 1 < beta < shape.most_V:
        found.append((V.distance(beta - 1), f"rk V ≤ {beta - 1}", pair.change(len(A.values), beta - 1)))
    return min(found, key=lambda part: part[0] or (1.0, 0.0))
