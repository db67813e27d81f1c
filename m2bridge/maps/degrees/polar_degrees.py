"""Polar degrees: the classes of the conormal variety, whose sum is the generic ED degree.

By a theorem of the family, where it has one; else Macaulay2 counts modulo random primes, with
random numbers: points of the source in general slices, which need free parameters, or the bidegree
of the conormal variety, which needs the ideal. What each means is in docs/polar-degrees.md.
"""

import secrets
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from math import comb, log10
from typing import Any, Literal, Unpack

import flint

from m2bridge.algebra.field import QQ
from m2bridge.algebra.linear_algebra import pivot_columns
from m2bridge.algebra.numbers import integer_coefficients, random_primes
from m2bridge.algebra.polynomial_map import PolynomialMap, jacobian_at
from m2bridge.algebra.ring import GeneratingSet, is_homogeneous
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import Answer, answer_to, answer_until_limit
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script, render
from m2bridge.errors import (
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
    check_choice,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.limits import clock
from m2bridge.maps.closure import closure
from m2bridge.maps.model import Model, PolarData
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.base import result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, FAINT, SOFT, PictureResult, new_figure, styled
from m2bridge.results.sheet import Block, Facts, Picture, Sheet, Table, computed_by, printable

PRIME_BITS = 15
"""Bits of the primes modulo which Macaulay2 counts points; those below 2^15 are the quickest."""
LONG_PRIME_BITS = 29
"""Bits of the primes for input with long coefficients; Macaulay2 accepts primes below 2^29."""
LONG_COEFFICIENTS = 1000
"""Bits of all coefficients together, from which longer primes are used.

Many of the 1612 primes of 15 bits could divide longer coefficients, or a discriminant.
"""
MIN_AGREEING_PRIMES = 2
"""The number of primes that must give equal numbers, and more than give any other numbers."""
MAX_CHEAP_SECONDS = 2.0
"""If these primes take less time, a further prime must agree."""
MAX_COUNTING_PRIMES = 7
"""The largest number of primes that are tried."""
COUNTS = ("no", "one", "two", "three", "four", "five")
MAX_SLICE_MINORS = 5000
"""The largest number of minors of one slice."""
MAX_LABELLED_BARS = 16
"""The largest number of bars that are labelled with their values."""
MIN_LOGARITHMIC_RATIO = 500
"""The ratio of largest and smallest nonzero degree from which bars are logarithmic."""

PolarMethod = Literal["auto", "theorem", "slices", "conormal"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarDegrees(PictureResult):
    """The polar degrees of a projective variety Z of dimension n in P^N.

    δ_i is the number of points of the conormal variety over i general hyperplanes in P^N and N − 1
    − i in its dual.

    Parameters
    ----------
    title : str
    case : dict or None
    ambient : int
        N.
    dimension : int
        n.
    method : {"theorem", "slices", "conormal"}
    theorem : PolarData
        The numbers, the method that gives them, and the strata that were observed.
    engine_version : str
    seconds : float
    unfinished : str
    closure : bool
        Whether Z is the closure in projective space of a variety that is not known to be a cone.
    of_ideal : bool
        Whether an ideal was given: then the title is the whole one.
    primes : tuple of int
        The random primes modulo which the numbers were counted; none where a theorem gives
        them. The numbers are those over QQ for all but finitely many primes; for these it is not
        proved.

    Examples
    --------
    >>> result = polar_degrees(SingleLayerAttention(d=2, d_out=1))
    >>> result.degrees, result.generic_ed_degree, result.dual_dimension, result.dual_degree
    ((4, 6, 4, 0, 0), 14, 2, 4)
    """

    title: str
    case: dict[str, Any] | None
    ambient: int
    dimension: int
    method: str
    theorem: PolarData
    engine_version: str = ""
    seconds: float
    unfinished: str = ""
    closure: bool = False
    of_ideal: bool = False
    primes: tuple[int, ...] = ()

    @property
    def degrees(self) -> tuple[int, ...]:
        """δ_n, δ_{n−1}, …: all down to δ_0, or fewer where ``unfinished``. The first is the degree
        of Z.
        """
        return self.theorem.degrees

    @property
    def generic_ed_degree(self) -> int | None:
        """The sum: of a cone over Z the number of complex critical points that the distance from a
        general point, by a general quadratic form, has on the smooth part.

        Of an affine variety that is not a cone, it is this number of the cone over its closure Z in
        projective space, which may be larger than that of the variety itself: 4 for a parabola,
        which has 3.

        Source: Draisma, Horobeț, Ottaviani, Sturmfels, Thomas, *The Euclidean distance degree of an
        algebraic variety*, Found. Comput. Math. 16, 2016, Theorem 5.4.
        """
        return sum(self.degrees) if self._complete else None

    @property
    def _complete(self) -> bool:
        return len(self.degrees) == self.dimension + 1

    @property
    def _dual(self) -> tuple[int, int] | None:
        """Dimension and degree of the dual variety; (−1, 0) if it is empty.

        Its degree is the last polar degree that is not zero, δ_i, and its dimension N − 1 − i.
        """
        if not self._complete:
            return None
        if self.dimension == self.ambient:
            return -1, 0
        defect = 0
        while not self.degrees[self.dimension - defect]:
            defect += 1
        return self.ambient - 1 - defect, self.degrees[self.dimension - defect]

    @property
    def dual_dimension(self) -> int | None:
        """The projective dimension of the dual variety; −1 if that is empty, as of P^N itself."""
        return None if self._dual is None else self._dual[0]

    @property
    def dual_degree(self) -> int | None:
        """The degree of the dual variety; 0 if it is empty."""
        return None if self._dual is None else self._dual[1]

    def to_sheet(self) -> Sheet:
        """The numbers, how they are known, and what was observed."""
        blocks: list[Block] = [Facts(_facts(self))]
        special = [locus for locus in self.theorem.loci if locus.kernel]
        if special:
            rows = [(locus.name, locus.codimension, locus.kernel) for locus in special]
            blocks.append(Table(("observed at orbit", "codimension", "kernel at most"), rows))
        blocks.append(Picture(self.page_svg))
        title = self.title if self.of_ideal else f"Polar degrees of the {self.title}"
        formulas = []
        if self.generic_ed_degree is not None:
            variety = r"(\overline{X})" if self.closure else ""
            formulas.append(rf"\operatorname{{gED}}{variety} = {self.generic_ed_degree}")
        return Sheet(title, blocks, formulas)

    def to_json(self) -> dict[str, Any]:
        """The numbers, how they are known, and what was observed."""
        theorem = self.theorem
        loci = []
        for locus in theorem.loci:
            numbers = {"codimension": locus.codimension, "kernel_at_most": locus.kernel}
            loci.append({"orbit": locus.name, **numbers})
        return result_json(self.case, "QQ", self.engine_version or None, self.seconds) | {
            "title": self.title or None,
            "dimension": self.dimension,
            "ambient_dimension": self.ambient,
            "projective_closure": self.closure,
            "polar_degrees": list(self.degrees),
            "generic_ed_degree": self.generic_ed_degree,
            "dual_dimension": self.dual_dimension,
            "dual_degree": self.dual_degree,
            "method": self.method,
            "known": theorem.known,
            "proved": not self.primes,
            "primes": list(self.primes),
            "rests_on": list(theorem.rests_on),
            "generic_fibre_points": theorem.generic_fibre,
            "loci": loci,
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return the polar degrees as a Macaulay2 list."""
        return f"polarDegrees = {{{', '.join(map(str, self.degrees))}}}"

    def to_csv(self) -> str:
        """Return a line for each polar degree."""
        return csv_text(("i", "polar_degree"), zip(self._places, self.degrees, strict=True))

    @property
    def _places(self) -> range:
        """n, n − 1, …: the i of each δ_i."""
        return range(self.dimension, self.dimension - len(self.degrees), -1)

    def figure(self) -> Any:
        """A bar for each of δ_n, δ_{n−1}, …; their sum is the generic ED degree."""
        degrees = self.degrees
        heights: Sequence[float] = degrees
        label = "polar degree δ$_i$"
        if max(degrees) > MIN_LOGARITHMIC_RATIO * min(filter(None, degrees)):
            heights = [log10(value or 1) for value in degrees]
            label = f"log$_{{10}}$ of the {label}"
        heading = "Polar degrees"
        if self._complete:
            heading += f", generic ED degree {short(sum(degrees))}"
        if self.closure:
            heading += ", of the projective closure"
        with styled():
            figure = new_figure(6.8, 4.6, f"Polar degrees of the {self.title}")
            axes = figure.subplots()
            axes.grid(axis="y", color=FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
            bars = axes.bar(self._places, heights, width=0.72, color=BLUE)
            axes.set_xlim(self.dimension + 0.7, -0.7)
            axes.margins(y=0.12)  # labels stand above the bars
            axes.set_xlabel("i  (from the degree down)", style="italic")
            axes.set_ylabel(label, style="italic")
            if len(degrees) <= MAX_LABELLED_BARS:
                axes.set_xticks(self._places)
                axes.bar_label(bars, list(map(short, degrees)), padding=3, fontsize=9.5, color=SOFT)
            axes.set_title(f"{heading}\n{self.title}", fontsize=12)
            figure.tight_layout()
            return figure


def _facts(result: PolarDegrees) -> list[tuple[str, object]]:
    """Return names and values for the summary: the polar degrees and their grounds."""
    variety = f"dimension {result.dimension} in P^{result.ambient}"
    if result.closure:
        variety += "; of the closure in projective space"
    shown = ", ".join(map(str, result.degrees))
    ed_degree = dual = "not known"
    if result.generic_ed_degree is None:
        shown += ", …"
    else:
        ed_degree = str(result.generic_ed_degree)
        if result.closure:  # the affine variety itself may have fewer critical points
            ed_degree += ", of the projective closure"
        dual = f"dimension {result.dual_dimension}, degree {result.dual_degree}"
        if not result.dual_degree:
            dual = "empty"
    facts: list[tuple[str, object]] = [
        ("variety", variety),
        ("polar degrees", shown),
        ("generic ED degree", ed_degree),
        ("dual variety", dual),
        ("known", result.theorem.known),
    ]
    if result.primes:
        facts.append(("primes", ", ".join(map(str, result.primes))))
    name = "rests on"
    for reason in result.theorem.rests_on:
        facts.append((name, reason))
        name = ""  # one heading for all of them
    points = result.theorem.generic_fibre
    if points is not None:
        facts.append(("general fibre", f"{points} point{'s' if points > 1 else ''}, observed"))
    return [
        *facts,
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


@computation
def polar_degrees(
    case: Case | Ideal,
    *,
    method: PolarMethod = "auto",
    title: str = "",
    **options: Unpack[RunOptions],
) -> PolarDegrees:
    """Compute the polar degrees of the projective variety of a cone, or of a projective closure.

    Parameters
    ----------
    case : a model, a PolynomialMap or an Ideal over QQ
    engine : Engine, optional
        A Macaulay2 to use; without one, that of the ``with`` block around it, else one that the
        process shares.
    method : {"auto", "theorem", "slices", "conormal"}
        ``theorem``: by a theorem of the family. ``slices``: points of the source are counted where
        a general linear space meets the image and a general linear space of hyperplanes is tangent.
        ``conormal``: by the bidegree of the conormal variety, from the ideal. Both compute modulo
        two random primes, drawn for each input, or three where that is quick, with random numbers:
        the numbers are right for all but finitely many primes, and but for few of the choices. So
        this is not a proof. ``auto`` is the first that there is.
    timeout : float, optional
        Seconds for the whole computation.
    title : str
        The variety of an ideal in words.

    Raises
    ------
    InvalidCaseError
        If there is no such method, or it is not for this case.
    MethodUnavailableError
        If no theorem is known, slices are asked for and the source has relations, or the points
        counted are not isolated.
    TooLargeError
        If the case is too large.

    Source: Kleiman's theorem on general translates, *Compositio Math.* 28, 1974, for counting.

    Examples
    --------
    >>> cubic = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2")
    >>> polar_degrees(cubic).degrees
    (3, 4)
    """
    check_choice("method", method, PolarMethod)
    if isinstance(case, Ideal):
        if method not in ("auto", "conormal"):
            raise InvalidCaseError("method", f"'{method}' is not for ideals: use conormal")
        found = _of_ideal(case, printable(title) or "variety of an ideal", None)
        return replace(found, of_ideal=True)
    model = as_model(case)
    theorem = model.polar_theorem() if method in ("auto", "theorem") else None
    if theorem is not None:
        return PolarDegrees(
            title=model.title,
            case=model.case,
            ambient=model.coordinate_count - 1,
            dimension=len(theorem.degrees) - 1,
            method="theorem",
            theorem=theorem,
            seconds=clock().seconds,
        )
    if method == "theorem":
        raise MethodUnavailableError(
            f"no theorem gives the polar degrees of the {model.title}: use slices or conormal"
        )
    # Slices are taken in the space of the parameters, which relations do not leave free.
    by_ideal = method == "conormal" or (method == "auto" and model.free_map.relations)
    return _of_closure(model) if by_ideal else _by_slices(model)


def _of_closure(model: Model) -> PolarDegrees:
    """The polar degrees by the equations of the closure, which has to be known completely."""
    variety = closure(model)
    if variety.ideal is None or not variety.completeness.proved:
        raise variety.incomplete()
    # The closure of an image is irreducible if the source is.
    prime = not model.polynomial_map.maybe_reducible
    return _of_ideal(variety.ideal, model.title, model.case, prime=prime)


def _of_ideal(
    ideal: GeneratingSet, title: str, case: dict[str, Any] | None, *, prime: bool = False
) -> PolarDegrees:
    """Return them by the conormal variety; ``prime``: the ideal is known to be prime over QQ."""
    if ideal.ring.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for polar degrees, not {ideal.ring.field}")

    script = conormal_script(ideal, title, prime=prime)

    def found(modulo: int) -> PolarDegrees:
        return _by_conormal(with_given_prime(script, modulo), ideal, title, case)

    primes = primes_for(map(integer_coefficients, ideal.generators_or_zero))
    return _of_random_primes(found, primes)


def with_given_prime(script: Script, prime: int) -> Script:
    """Return the program with this prime and a random seed."""
    return replace(script, given=(("givenPrime", prime), ("givenSeed", secrets.randbelow(2**31))))


CountedDegrees = PolarDegrees | InvalidCaseError | MethodUnavailableError


def _of_random_primes(found: Callable[[int], PolarDegrees], primes: Iterator[int]) -> PolarDegrees:
    """Return the numbers that most random primes give, by two or three primes more than any others.

    Modulo a prime the variety can change, for example from a conic to two lines, even if the prime
    divides no coefficient. If time does not suffice for a second prime, the numbers are those of
    the first one, the text says so, and the result is unfinished.

    Raises
    ------
    InvalidCaseError, MethodUnavailableError
        If the primes give this instead; if no numbers are those of enough primes.
    """
    outcomes: dict[int, CountedDegrees] = {}
    begin = clock().seconds
    for prime in islice(primes, MAX_COUNTING_PRIMES):
        try:
            outcomes[prime] = _outcome(found, prime)
        except (TimeLimitError, MemoryLimitError) as limit:
            return _until_limit(outcomes, limit)
        last = outcomes[prime]
        if isinstance(last, PolarDegrees) and last.unfinished:
            return _until_limit(outcomes, None)
        cheap = len(outcomes) >= MIN_AGREEING_PRIMES and clock().seconds - begin < MAX_CHEAP_SECONDS
        agreeing = _leading(outcomes, MIN_AGREEING_PRIMES + cheap)
        if agreeing:
            return _agreed(outcomes, agreeing)
    listed = ", ".join(map(str, outcomes))
    raise MethodUnavailableError(f"modulo the primes {listed} too few have the same numbers")


def _outcome(found: Callable[[int], PolarDegrees], prime: int) -> CountedDegrees:
    """Return the numbers modulo one prime, or the reason why there are none."""
    try:
        return found(prime)
    except (InvalidCaseError, MethodUnavailableError) as reason:
        return reason


def _leading(outcomes: Mapping[int, CountedDegrees], lead: int) -> tuple[int, ...]:
    """Return the primes with the most frequent outcome, if ``lead`` more than all other primes."""
    kinds: dict[int, object] = {}
    for prime, outcome in outcomes.items():
        kinds[prime] = type(outcome)
        if isinstance(outcome, PolarDegrees):
            kinds[prime] = outcome.dimension, outcome.degrees
    return leading(kinds, lead)


def leading(kinds: Mapping[int, object], lead: int) -> tuple[int, ...]:
    """Return the primes with the most frequent value, if ``lead`` more than all other primes."""
    alike: dict[object, list[int]] = {}
    for prime, kind in kinds.items():
        alike.setdefault(kind, []).append(prime)
    most = max(alike.values(), key=len)
    return tuple(most) if 2 * len(most) - len(kinds) >= lead else ()


def _agreed(outcomes: Mapping[int, CountedDegrees], primes: tuple[int, ...]) -> PolarDegrees:
    """Return the common result of these primes; its text names primes that give other numbers."""
    outcome = outcomes[primes[0]]
    if not isinstance(outcome, PolarDegrees):
        raise outcome
    count = COUNTS[len(primes)]
    known = f"{outcome.theorem.known}, modulo {count} random prime{'s' * (len(primes) > 1)}"
    others = [str(prime) for prime in outcomes if prime not in primes]
    if others:
        known += f" (other numbers modulo {', '.join(others)})"
    theorem = replace(outcome.theorem, known=f"{known}; this is not a proof over QQ")
    return replace(outcome, theorem=theorem, primes=primes, seconds=clock().seconds)


def _until_limit(
    outcomes: Mapping[int, CountedDegrees], limit: TimeLimitError | MemoryLimitError | None
) -> PolarDegrees:
    """Return the result at a limit; without ``limit``, the last prime reached it while counting.

    Raises
    ------
    TimeLimitError, MemoryLimitError
        The limit, where no prime gives numbers or they give different ones.
    """
    finished = dict(outcomes)
    unfinished = str(limit)
    if limit is None:
        last, outcome = finished.popitem()
        assert isinstance(outcome, PolarDegrees)
        if not finished:
            return _agreed(outcomes, (last,))
        unfinished = outcome.unfinished
        limit = TimeLimitError(unfinished)
    agreeing = _leading(finished, MIN_AGREEING_PRIMES) if finished else ()
    if agreeing:
        return _agreed(finished, agreeing)
    alone = _leading(finished, 1) if len(finished) == 1 else ()
    if not alone:
        raise limit
    return replace(_agreed(finished, alone), unfinished=unfinished)


def _by_conormal(
    script: Script, ideal: GeneratingSet, title: str, case: dict[str, Any] | None
) -> PolarDegrees:
    """Return them by the conormal variety modulo the prime that the program has."""
    answer = answer_to(script)
    version = current().version
    last = max(answer.integers("dimensions"), default=0) - 1
    if last < 0:
        raise InvalidCaseError("ideal", "the projective variety is empty")
    # δ_0, δ_1, … of each irreducible component; those above its dimension are zero.
    components = answer.integer_lists("polar_degrees")
    degrees = [0] * (last + 1)
    for component in components:
        for i, value in enumerate(component[: last + 1]):
            degrees[last - i] += value
    known = "by the conormal variety"
    if len(components) > 1:
        known += f", the sum over {len(components)} irreducible components"
    cone = all(map(is_homogeneous, ideal.generators))
    variables = len(ideal.ring.variables)
    return PolarDegrees(
        title=title,
        case=case,
        ambient=variables - 1 if cone else variables,
        dimension=last,
        method="conormal",
        theorem=PolarData(tuple(degrees), known, ()),
        engine_version=version,
        seconds=clock().seconds,
        closure=not cone,
    )


def conormal_script(ideal: GeneratingSet, title: str, *, prime: bool) -> Script:
    """The Macaulay2 program that computes the conormal variety of an ideal over QQ, modulo a prime
    that it is given.
    """
    variables = ", ".join(m2_syntax.all_to_macaulay2(ideal.ring.variables))
    integral = map(integer_coefficients, ideal.generators_or_zero)
    generators = tuple(map(ideal.ring.sympy_ring.from_dict, integral))
    values = {
        "title": title,
        "prime": "true" if prime else "",
        "ring": f"coefficients'[{variables}]",
    }
    return question("polar_conormal", {"givenIdeal": GeneratingSet(ideal.ring, generators)}, values)


def primes_for(
    polynomials: Iterable[Mapping[tuple[int, ...], int]], more: Collection[int] = ()
) -> Iterator[int]:
    """Random primes that divide no coefficient, and none of some more numbers.

    Modulo a prime that divides a coefficient, these are the polynomials of another variety.
    """
    numbers = {abs(int(c)) for polynomial in polynomials for c in polynomial.values()}
    numbers.update(more)
    long = sum(map(int.bit_length, numbers)) > LONG_COEFFICIENTS
    return random_primes(LONG_PRIME_BITS if long else PRIME_BITS, numbers)


def slices_program(model: Model) -> Script:
    """The Macaulay2 program that counts points in slices; it draws a prime if it is given none."""
    forms, _ = _forms(model)
    return slices_script(forms, _spanning_parameters(forms), model.title)


def _by_slices(model: Model) -> PolarDegrees:
    """The polar degrees by counting points on random hyperplanes, modulo random primes."""
    forms, cone = _forms(model)
    kept = _spanning_parameters(forms)
    last = len(kept)
    minors = max(comb(last + 1, cut + 2) for cut in range(last + 1))
    if minors > MAX_SLICE_MINORS:
        raise TooLargeError(
            f"slices of a variety of dimension {last} take {minors} minors; at most"
            f" {MAX_SLICE_MINORS}"
        )
    script = slices_script(forms, kept, model.title)

    def found(prime: int) -> PolarDegrees:
        answer, late = answer_until_limit(with_given_prime(script, prime))
        version = current().version
        known = "by counting points in random slices"
        return PolarDegrees(
            title=model.title,
            case=model.case,
            ambient=len(forms.coordinates) - 1,
            dimension=last,
            method="slices",
            theorem=PolarData(_counted(answer, last), known, ()),
            engine_version=version,
            seconds=clock().seconds,
            unfinished=late,
            closure=not cone,
        )

    return _of_random_primes(found, primes_for(forms.images))


def _forms(model: Model) -> tuple[PolynomialMap, bool]:
    """The parametrization of the cone over the projective variety; whether it is the model's.

    It is if weights of the parameters make all images homogeneous of weight 1; else 1 is the first
    coordinate. Images are multiplied by their denominators, which is a linear change of
    coordinates.
    """
    free = model.free_map
    if free.relations:
        raise MethodUnavailableError(
            "the parameters satisfy relations, and slices need free ones: use conormal"
        )
    if not any(free.images):
        raise InvalidCaseError("map", "its image is the point zero")
    cone = parametrizes_cone(free)
    names = free.coordinates
    images = tuple(image.clear_denoms()[1] for image in free.images)
    if not cone:
        number = 0
        while f"h{number}" in names:
            number += 1
        names = (f"h{number}", *names)
        images = (free.source.sympy_ring.one, *images)
    return PolynomialMap(free.source, names, images), cone


def parametrizes_cone(parametrization: PolynomialMap) -> bool:
    """Whether weights of the parameters make all images homogeneous of weight 1.

    There are such weights w if the equations ⟨w, monomial⟩ = 1 have a solution over QQ.
    """
    exponents = {monomial for image in parametrization.images for monomial in image.monoms()}
    if not exponents:
        return True
    matrix = [[*monomial, 1] for monomial in sorted(exponents)]
    rank = flint.fmpz_mat([row[:-1] for row in matrix]).rank()
    return bool(flint.fmpz_mat(matrix).rank() == rank)


def _spanning_parameters(forms: PolynomialMap) -> list[int]:
    """Return the positions of as few parameters as suffice; the others become random numbers.

    Their derivatives and the point itself span the tangent space of the cone, at a random point
    modulo a long random prime.
    """
    prime = next(random_primes(LONG_PRIME_BITS))
    point = [1 + secrets.randbelow(prime - 1) for _ in forms.source.variables]
    gradients = jacobian_at(forms.images, point, prime)
    rows = []
    for image, gradient in zip(forms.images, gradients, strict=True):
        rows.append([int(image(*point)) % prime, *gradient])
    pivots = pivot_columns(rows, prime)[0]
    if pivots[:1] != [0]:
        raise InvalidCaseError("map", "its image is the point zero")
    return [pivot - 1 for pivot in pivots[1:]]


def slices_script(forms: PolynomialMap, kept: Sequence[int], title: str) -> Script:
    """The Macaulay2 program that counts, modulo a prime that it is given; parameters that are not
    kept are random numbers.
    """
    names = m2_syntax.all_to_macaulay2(forms.source.variables)
    values = []
    for j, name in enumerate(names):
        values.append(f"sub({name}, sourceRing)" if j in kept else "randomNumber()")
    written = {
        "title": title,
        "parameters": ", ".join(names),
        "kept": ", ".join(names[j] for j in kept),
        "values": m2_syntax.sequence(values),
        "images": m2_syntax.sequence(m2_syntax.polynomial(image, names) for image in forms.images),
    }
    return render("polar_slices", ("wire",), written)


def _counted(answer: Answer, last: int) -> tuple[int, ...]:
    """The numbers of points that were counted, each divided by that of the general fibre."""
    names = [f"polar_{i}" for i in range(last, -1, -1)]
    counts = [answer.integer(name) for name in names if name in answer]
    fibre = answer.integer("fibre") if "fibre" in answer else 1
    if fibre < 1 or any(value < 0 or value % fibre for value in counts):
        raise MethodUnavailableError(
            f"the points in slices are not isolated: {counts} for fibres of {fibre}; use conormal"
        )
    return tuple(value // fibre for value in counts)


def short(value: int) -> str:
    """A number in few letters: its digits, or a power of ten."""
    return str(value) if value < 10**7 else f"10^{log10(value):.2f}"
