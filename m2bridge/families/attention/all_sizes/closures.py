"""Zariski closures for all sizes at once: generators as representations, Hilbert function,
dimension and degree.

For each core (m; e, f) the sizes that have it, with e = min(a, d), f = min(d, d') and
m = min(d, e + f), are a range of (d, d', a); what holds for the core holds in all of it
(docs/representations.md). X, H and Y are the spaces of the linear forms l_i and v_k and of the
variables, of dimensions d, d' and d. A type of generators is (degree, shapes, multiplicity), with
the three partitions of a product of Schur functors in X, H and Y: so many copies of this
representation are minimal generators of this degree. H(n) is the Hilbert function of a closure, and
h(n) the dimension of the sections of O(n) on it, as a projective variety.
"""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, NamedTuple

from sympy import Expr, Integer, Mul, Symbol, binomial, factor, factorial, latex

from m2bridge.algebra.schur import Representation, columns
from m2bridge.certificates.form import Content
from m2bridge.convert.printing import expression_text
from m2bridge.errors import check_flag, check_kind
from m2bridge.families.all_sizes import AllSizesCase, complete_result
from m2bridge.families.attention.hypotheses import WORDS
from m2bridge.families.attention.ideal import highest_weights
from m2bridge.families.attention.ideal.representations import (
    CoordinateRing,
    RepresentationType,
    coordinate_ring,
    generators,
    representation,
)
from m2bridge.families.attention.ideal.sections import CoreSize, PartitionTriple, total_dimension
from m2bridge.families.attention.sizes import LayerSizes
from m2bridge.families.base import ComputedQuestion
from m2bridge.limits import clock, limited, performed_within_limit
from m2bridge.results.base import Proof, Result
from m2bridge.results.sheet import (
    Block,
    Facts,
    Formula,
    Polynomials,
    Sheet,
    Table,
    duration,
    in_brackets,
    m2_list,
    plural,
    quoted,
)

# The pairs (e, f) of numbers of linear forms l_i and v_k in the cores below.
FORM_COUNTS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1), (2, 2), (2, 3), (3, 2), (3, 3))


def _cores() -> Iterator[CoreSize]:
    """Yield the cores (m; e, f) with numbers of forms in :data:`FORM_COUNTS`."""
    for e, f in FORM_COUNTS:
        largest_m = e + f
        if largest_m > 4:
            largest_m = 3  # larger cores take long
        for m in range(max(e, f), largest_m + 1):
            yield CoreSize(m, e, f)


# The cores of all sizes with min(a, d) ≤ 2 and min(d, d') ≤ 2; with one of these 3 and the other 1;
# and with d = 3.
CORES = tuple(_cores())

PROOF = "ranks of covariants over QQ and the bound on degrees (docs/representations.md)"
D = Symbol("d", integer=True, positive=True)
D_OUT = Symbol("d'", integer=True, positive=True)
SECTIONS = (
    "h(n) = dim C[D_e]_n · C(n + d d' − 1, n) − dim S_n X · dim S_n H · C(dim S_n Y, 2) − Σ dim"
    " S_(n−i, 1^i) X · dim S_(n−j, 1^j) H · dim S_(2n−i−j−1, 1^(i+j+1)) Y over i < e, j < d', 1 ≤ i"
    " + j ≤ d − 2"
)


class WrittenVector(NamedTuple):
    """A highest weight vector in its two forms, as texts: by determinants, and as a polynomial."""

    by_determinants: str
    as_polynomial: str


@dataclass(frozen=True, slots=True)
class ClosureOfSizes:
    """The closures of all sizes with one core (m; e, f), of m variables and e and f
    linear forms.
    """

    generators: tuple[RepresentationType, ...]
    ring: CoordinateRing
    # the highest weight vectors of each type of generators; empty if they were not asked for
    vectors: tuple[tuple[WrittenVector, ...], ...] = ()

    @property
    def core(self) -> CoreSize:
        """The core (m; e, f) of all these sizes."""
        return self.ring.size

    @property
    def condition(self) -> str:
        """The sizes, such as ``d ≥ 4, d' = 2, a = 2``: d can be above m if m = e + f, and a and d'
        above e and f if these are d, which is then m.
        """
        e, f, m = self.core.dimensions
        of_d = f"d ≥ {m}" if m == e + f else f"d = {m}"
        of_d_out = f"d' = {f}" if f < m else f"d' ≥ {f}"
        of_a = f"a = {e}" if e < m else f"a ≥ {e}"
        return f"{of_d}, {of_d_out}, {of_a}"

    @property
    def sizes(self) -> tuple[Expr, Expr]:
        """d and d' as numbers where they are fixed, else as symbols (as in ``condition``)."""
        e, f, m = self.core.dimensions
        d = D if m == e + f else Integer(m)
        d_out = D_OUT if f == m else Integer(f)
        return d, d_out

    @property
    def dimension(self) -> Expr:
        """The dimension of the closures as cones, as a polynomial in d and d'."""
        d, d_out = self.sizes
        e = self.core.columns  # min(a, d), the largest rank of A
        return (e * (2 * d - e) + d * d_out - 1).expand()

    @property
    def degree(self) -> Expr:
        """The degree, in d and d': the degree of the source or half of it
        (docs/mathematics.md#theorem-degree).
        """
        d, d_out = self.sizes
        e = self.core.columns  # min(a, d), the largest rank of A
        # The degree of the projective variety of matrices of rank ≤ e, by Giambelli's formula.
        of_matrices = Integer(1)
        for j in range(e):
            of_matrices *= factorial(2 * d - 2 * e + j) * factorial(j) / factorial(d - e + j) ** 2
        projective_dimension = e * (2 * d - e) + d * d_out - 2
        of_source = binomial(projective_dimension, d * d_out - 1) * of_matrices
        # One form l_1 and one form v_1, which can be exchanged: the map is two to one, but for
        # d = 1, where both are multiples of the only variable.
        has_one_of_each = e == 1 and self.core.rows == 1
        is_two_to_one = has_one_of_each and self.core.variables > 1
        return of_source / 2 if is_two_to_one else of_source

    def number(self, shapes: PartitionTriple) -> Expr:
        """The dimension of the product of Schur functors with these shapes, a polynomial in d and
        d'.
        """
        d, d_out = self.sizes
        return factor(Mul(*map(_schur_dimension, shapes, (d, d_out, d))))

    def numbers(self, shape: LayerSizes | None = None) -> dict[int, Expr]:
        """The numbers of generators by degree, where there are any, as polynomials in d and d', or
        as their values at ``shape``, a size with this core.
        """
        counts: dict[int, Expr] = {}
        for degree, shapes, multiplicity in self.generators:
            of_type = multiplicity * self.number(shapes)
            counts[degree] = counts.get(degree, Integer(0)) + of_type
        if shape is not None:
            size = {D: shape.d, D_OUT: shape.d_out}
            counts = {degree: count.subs(size) for degree, count in counts.items()}
        return {degree: factor(count) for degree, count in counts.items() if count != 0}

    def table(self) -> Table:
        """Return the table of generators of this closure."""
        header = ["degree", "generators", "how many"]
        if self.vectors:
            header.append("highest weight vector")
        rows = list[tuple[object, ...]]()
        for kind in self._types_of_all_sizes():
            named = _representation_of_any_size(*kind)
            row = [
                kind.degree,
                Formula(str(named), named.latex),
                _polynomial_formula(kind.multiplicity * self.number(kind.shapes)),
            ]
            vectors = self._vectors(kind)
            if vectors:
                row.append("; ".join(vector.by_determinants for vector in vectors))
            rows.append(tuple(row))
        return Table(header, rows or [("–", "none", 0)], f"{self.condition}: {self.core}")

    def _types_of_all_sizes(self) -> Iterator[RepresentationType]:
        """Yield the types of generators whose dimension, a polynomial in the sizes, is not zero."""
        for kind in self.generators:
            if self.number(kind.shapes) != 0:
                yield kind

    def _vectors(self, kind: RepresentationType) -> tuple[WrittenVector, ...] | None:
        """Return the highest weight vectors of a type; ``None`` if they were not asked for."""
        if not self.vectors:
            return None
        return self.vectors[self.generators.index(kind)]

    def polynomials(self) -> list[Polynomials]:
        """One block with the highest weight vectors, in the order of the table; none without
        vectors.
        """
        texts = list[str]()
        for kind in self._types_of_all_sizes():
            # nothing is added where vectors were not asked for
            texts += [vector.as_polynomial for vector in self._vectors(kind) or ()]
        if not texts:
            return []
        # a block takes a function that writes the texts, which are here already
        return [Polynomials(len(texts), lambda: texts, "highest weight vectors")]

    def facts(self) -> Facts:
        """The facts that are shown below the table: dimension, degree and Hilbert function."""
        equations = "; ".join(self.hilbert_equations())
        numbers = [
            ("dimension", _polynomial_formula(self.dimension)),
            ("degree", _polynomial_formula(self.degree)),
        ]
        function = f"{equations}, where e = {self.core.columns}"
        return Facts([*numbers, ("Hilbert function", function)])

    def missing_in_degree(self, n: int) -> list[Representation]:
        """The representations in the sections of O(n) that no form of degree n restricts to, of
        dimension h(n) − H(n) together (docs/completeness.md, Proposition 2).
        """
        return [
            _representation_of_any_size(degree, shapes, multiplicity)
            for degree, shapes, multiplicity in self.ring.missing
            if degree == n
        ]

    def hilbert_equations(self) -> list[str]:
        """Return the Hilbert function H, by h and :meth:`missing_in_degree`: an equation for each
        small n, and one for all larger n.
        """
        # the least degree from which on H(n) = h(n)
        first_equal = self.ring.all_sections_from
        if first_equal == 0:
            return ["H(n) = h(n) for all n ≥ 0"]
        equations = []
        for n in range(first_equal):
            subtracted = ""
            for kind in self.missing_in_degree(n):
                subtracted += f" − dim {kind}"
            equations.append(f"H({n}) = h({n}){subtracted}")
        return [*equations, f"H(n) = h(n) for n ≥ {first_equal}"]

    def to_certificate(self) -> dict[str, Any]:
        """Return the entry of a certificate about these closures, with the core's H(0), …, H(s),
        where s + 1 is the bound on the degrees of generators.
        """
        values = []
        for n in range(self.ring.bound):
            # how often each product of Schur functors occurs in the core's coordinate ring
            types = self.ring.multiplicities[n]
            values.append(total_dimension(types, self.core.dimensions))
        return {
            "core": asdict(self.core),
            "bound": self.ring.bound,
            "hilbert_function": values,
            "sections_from": self.ring.all_sections_from,
            "representations": [
                _representation_of_any_size(*kind).type_json() for kind in self.generators
            ],
        }

    def to_json(self) -> dict[str, Any]:
        """Return the sizes, the types of generators and the formulas.

        The ideal of the core is generated in degrees up to "bound". H(n) = h(n) from the degree
        "sections_from" on; in lower degrees "less_than_sections" has the types of the difference.
        """
        degrees = [degree for degree, _shapes, _multiplicity in self._types_of_all_sizes()]
        return {
            "sizes": self.condition,
            "core": asdict(self.core),
            "representations": [self._type_json(kind) for kind in self._types_of_all_sizes()],
            "generated_in_degrees_at_most": max(degrees, default=0),
            "dimension": str(self.dimension),
            "degree": str(self.degree),
            "bound": self.ring.bound,
            "sections_from": self.ring.all_sections_from,
            "less_than_sections": [
                _representation_of_any_size(*kind).type_json() for kind in self.ring.missing
            ],
        }

    def _type_json(self, kind: RepresentationType) -> dict[str, Any]:
        """A type of generators, with their number as a polynomial, and its vectors if asked for."""
        vectors = self._vectors(kind)
        as_polynomials = by_determinants = None
        if vectors is not None:
            as_polynomials = [vector.as_polynomial for vector in vectors]
            by_determinants = [vector.by_determinants for vector in vectors]
        return _representation_of_any_size(*kind).type_json() | {
            "dimension": str(kind.multiplicity * self.number(kind.shapes)),
            "highest_weight_vectors": as_polynomials,
            "products_of_determinants": by_determinants,
        }


@dataclass(frozen=True, slots=True)
class AllClosures(Result):
    """Zariski closures of attention for all sizes at once.

    Parameters
    ----------
    ranges : tuple of ClosureOfSizes
    seconds : float
    unfinished : str
        Empty, or the limit that was reached.

    Examples
    --------
    >>> from m2bridge.families.attention.all_sizes.closures import CORES
    >>> result = closures_of_all_sizes(CORES[:3])
    >>> [part.condition for part in result.ranges]
    ["d = 1, d' ≥ 1, a ≥ 1", "d ≥ 2, d' = 1, a = 1", "d = 2, d' ≥ 2, a = 1"]
    """

    ranges: tuple[ClosureOfSizes, ...]
    seconds: float
    unfinished: str = ""

    def proof(self) -> Proof:
        """Return whether the closures of all ranges that were asked for are known."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        return Proof(True, PROOF)

    def __repr__(self) -> str:
        return in_brackets(self, "is_proved", "unfinished")

    def to_sheet(self) -> Sheet:
        """A table of generators for each range of sizes, and formulas."""
        facts = [
            (
                "spaces",
                "X and Y of dimension d (indices i of x_i, and y), H of dimension d' (the outputs)",
            ),
            ("sections", SECTIONS),
            ("proved by", PROOF),
            ("computed by", f"exact linear algebra (FLINT), {duration(self.seconds)}"),
            ("not finished", self.unfinished or None),
        ]
        blocks: list[Block] = [Facts(facts)]
        for closure in self.ranges:
            blocks += [closure.table(), *closure.polynomials(), closure.facts()]
        title = "Zariski closures of lightning self-attention for all sizes, t ≥ 2, over QQ"
        return Sheet(title, blocks)

    def to_json(self) -> dict[str, Any]:
        """Return the ranges of sizes with the closures in each of them, for ``json.dumps``."""
        return {
            "scope": "t ≥ 2, in characteristic 0",
            "field": "QQ",
            "seconds": round(self.seconds, 3),
            "sections": SECTIONS,
            "closures": [closure.to_json() for closure in self.ranges],
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return a Macaulay2 hash table: for each range the largest degree of a generator, or 0."""
        entries = []
        for closure in self.ranges:
            largest = closure.to_json()["generated_in_degrees_at_most"]
            entries.append(f"{quoted(closure.condition, readable=True)} => {largest}")
        return f"generatedInDegreesAtMost = hashTable {m2_list(entries)}"


def closures_of_all_sizes(
    cores: tuple[CoreSize, ...] = CORES, *, vectors: bool = False, timeout: float | None = None
) -> AllClosures:
    """Compute the closures for all sizes with these cores, one core after the other.

    At the limit on time the closures so far are returned, and ``unfinished`` names the limit.

    Parameters
    ----------
    cores : tuple of CoreSize
        By default those that are decided in seconds together; sizes with other cores are left out.
    vectors : bool
        Whether to write a polynomial for each representation.
    timeout : float, optional
        The limit on time, in seconds.

    Raises
    ------
    MethodUnavailableError
        If Hilbert functions do not decide which representations are generators, or, with
        ``vectors``, a polynomial for one of them was not found.
    TooLargeError
        If a core has too many types of representations.
    TimeLimitError
        If the limit was reached before the first result.

    Examples
    --------
    >>> from m2bridge.families.attention.all_sizes.closures import CORES
    >>> print(closures_of_all_sizes(CORES[1:2]).ranges[0].generators[0])
    RepresentationType(degree=2, shapes=((1, 1), (2,), (3, 1)), multiplicity=1)
    """
    check_kind("cores", cores, (tuple, list), "a tuple of CoreSizes")
    for core in cores:
        check_kind("cores", core, CoreSize, "a tuple of CoreSizes")
    check_flag("vectors", vectors)
    with limited(timeout):
        closures, limit_message = performed_within_limit(
            (str(core), partial(_closure_of_sizes, core, vectors)) for core in cores
        )
        return AllClosures(ranges=closures, seconds=clock().seconds, unfinished=limit_message)


def _closure_of_sizes(size: CoreSize, vectors: bool = False) -> ClosureOfSizes:
    """The closures with the core ``size``, on request with highest weight vectors in two forms."""
    types = generators(size)
    types_with_vectors = types if vectors else ()
    polynomials = []
    for kind, vectors_of_type in highest_weights.vectors_by_type(size, types_with_vectors):
        both_forms = []
        for vector in vectors_of_type:
            as_polynomial = highest_weights.vector_text(vector, kind.shapes)
            both_forms.append(WrittenVector(vector.formula, as_polynomial))
        polynomials.append(tuple(both_forms))
    return ClosureOfSizes(generators=types, ring=coordinate_ring(size), vectors=tuple(polynomials))


def _schur_dimension(shape: tuple[int, ...], size: Expr) -> Expr:
    """The dimension of a Schur functor of a space of dimension ``size``: Π (size + j − i)/hook(i,
    j) over all cells (i, j) of the shape (hook content formula).
    """
    heights = columns(shape)
    numerator = Integer(1)
    hooks = 1
    for i, length in enumerate(shape):
        for j in range(length):
            numerator *= size + j - i
            cells_to_the_right = length - j - 1
            cells_below = heights[j] - i - 1
            hooks *= 1 + cells_to_the_right + cells_below
    return numerator / hooks


# The representation of a type (degree, shapes, multiplicity), with spaces X, H and Y of dimension
# 0: only its name is used, as the dimension is a polynomial in d and d'.
_representation_of_any_size = partial(representation, (0, 0, 0))


def _polynomial_formula(expression: Expr) -> Formula:
    """A polynomial as text and in LaTeX."""
    return Formula(expression_text(expression), latex(expression))


# The cores whose certificates the checker, which computes weight spaces, verifies in minutes.
LARGE_CORES = (CoreSize(3, 3, 3), CoreSize(4, 2, 2))
# All others take seconds together.
SMALL_CORES = tuple(core for core in CORES if core not in LARGE_CORES)


@dataclass(frozen=True, slots=True, kw_only=True)
class ClosuresQuestion(ComputedQuestion[AllSizesCase, AllClosures]):
    """What the generators of closures are, for all sizes with one of some cores."""

    key: str
    text: str
    cores: tuple[CoreSize, ...]

    def observe(self, model: AllSizesCase) -> AllClosures:
        """Compute the closures with these cores; TimeLimitError if a limit leaves some of them."""
        closures: AllClosures = complete_result(closures_of_all_sizes(self.cores))
        return closures

    def content(self, model: AllSizesCase, observed: AllClosures) -> Content:
        """The generators for each core, with its Hilbert function, and the lemmas behind them."""
        lemmas = tuple(WORDS.lemmas[name] for name in WORDS.closure["for-all-sizes"])
        generators = [part.to_certificate() for part in observed.ranges]
        return Content(answer={"closures": generators}, evidence={}, trusted=lemmas)

    def summary(self, answer: dict[str, Any]) -> str:
        """Return the numbers of cores and representations, and the largest degree, in words."""
        closures = answer["closures"]
        degrees = list[int]()
        for closure in closures:
            degrees += [kind["degree"] for kind in closure["representations"]]
        return (
            f"{plural(len(closures), 'core')}, {len(degrees)} representations of generators,"
            f" of degree ≤ {max(degrees)}; these are all"
        )


def _question(key: str, cores: tuple[CoreSize, ...], in_words: str) -> ClosuresQuestion:
    """The question about the closures for all sizes with these cores, which ``in_words`` names."""
    text = (
        "Minimal generators of the ideal of the Zariski closure as representations, with the"
        f" Hilbert function of the core, for all sizes with {in_words}."
    )
    return ClosuresQuestion(key=key, text=text, cores=cores)


def _questions() -> Iterator[ClosuresQuestion]:
    """Yield the questions: one for all small cores, and one for each large core."""
    of_small_cores = "one of the cores that are small enough to be verified"
    yield _question("closures", SMALL_CORES, of_small_cores)
    for core in LARGE_CORES:
        m, e, f = core.variables, core.columns, core.rows
        yield _question(f"closures-{m}-{e}-{f}", (core,), f"the core ({m}; {e}, {f})")


QUESTIONS = tuple(_questions())
