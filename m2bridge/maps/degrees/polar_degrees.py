"""Polar degrees: the classes of the conormal variety, whose sum is the generic ED degree.

By a theorem of the family, where it has one; else Macaulay2 counts modulo random primes, with
random numbers: points of the source in general slices (:mod:`.slices`), which need free parameters,
or the bidegree of the conormal variety, which needs the ideal. What each means is in
docs/polar-degrees.md.

``PolarDegrees`` are the result. Its field ``theorem`` has the numbers and the method in words, also
where they are counted. It is ``unfinished`` where a limit left only some numbers, or one prime.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from math import log10
from typing import Any, Literal, NamedTuple, TypeAlias, Unpack

from m2bridge.algebra.field import QQ
from m2bridge.algebra.numbers import integer_coefficients
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import answer_to
from m2bridge.convert.printing import variety_text
from m2bridge.engine import RunOptions, computation, current
from m2bridge.engine.script import Script
from m2bridge.errors import (
    InvalidCaseError,
    MemoryLimitError,
    MethodUnavailableError,
    TimeLimitError,
    TooLargeError,
    check_choice,
    check_kind,
)
from m2bridge.ideals.ideal import Ideal
from m2bridge.ideals.program import question
from m2bridge.limits import clock, limited, share
from m2bridge.maps.degrees.counting_primes import (
    MAX_CHEAP_SECONDS,
    count_modulo_primes,
    modulo_primes,
    primes_for,
    with_given_prime,
)
from m2bridge.maps.degrees.distance import Variety, variety_of_closure
from m2bridge.maps.degrees.slices import RandomSlices
from m2bridge.maps.model import Model, PolarData
from m2bridge.maps.polynomial_map_model import Case, as_model
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, FAINT, SOFT, PictureResult, new_figure, styled
from m2bridge.results.sheet import (
    Block,
    Facts,
    Picture,
    Sheet,
    Table,
    computed_by,
    in_brackets,
    m2_list,
    printable,
    with_article,
)

MAX_SLICES_SECONDS = 20.0
"""Seconds of ``auto`` for points in slices, before it tries the conormal variety."""
MAX_CONORMAL_SECONDS = 60.0
"""Seconds of ``auto`` for the conormal variety, before slices have the rest of the time."""
PolarMethod = Literal["auto", "theorem", "slices", "conormal"]


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
    case : a model, a PolynomialMap, a mapping ``{"x": expression}`` or an Ideal over QQ
    engine : Engine, optional
        A Macaulay2 to use; without one, the Macaulay2 of the ``with`` block around it, else one
        that the process shares.
    method : {"auto", "theorem", "slices", "conormal"}
        ``theorem``: by a theorem of the family. ``slices``: points of the source are counted where
        a general linear space meets the image and a general linear space of hyperplanes is tangent;
        the parameters must be free. ``conormal``: by the bidegree of the conormal variety, from the
        ideal. The last two count modulo two random primes, drawn for each input, or three where
        that is quick, with random choices. The numbers are right for all but finitely many primes
        and all but few of the choices, so this is not a proof. ``auto`` is ``conormal`` for an
        ideal; for a map ``theorem`` if there is one, else ``conormal`` if the parameters satisfy
        relations, else ``slices`` for 20 seconds, ``conormal`` for 60 (each at most 3/10 of the
        time that is left), and ``slices`` again.
    timeout : float, optional
        Seconds for the whole computation.
    title : str
        The variety of an ideal in words.

    Raises
    ------
    InvalidCaseError
        If there is no such method, or it is not for this case.
    MethodUnavailableError
        If no theorem is known, slices are asked for and the parameters satisfy relations, the
        points counted are not isolated, or the ideal of the closure is not known completely.
    TooLargeError
        If the case is too large.
    TimeLimitError, MemoryLimitError
        If a limit was reached before any number was found.

    Source: Kleiman's theorem on general translates, *Compositio Math.* 28, 1974, for counting.

    Examples
    --------
    >>> cubic = ideal("x*z - y^2", "x*w - y*z", "y*w - z^2")
    >>> polar_degrees(cubic).degrees
    (3, 4)
    """
    check_choice("method", method, PolarMethod)
    check_kind("title", title, str, "a text")
    if isinstance(case, Ideal):
        if method not in ("auto", "conormal"):
            raise InvalidCaseError("method", f"'{method}' is not for ideals: use conormal")
        # an ideal is no case of a family
        degrees = _by_conormal(Variety(case, printable(title) or variety_text(case)), case=None)
        return replace(degrees, of_ideal=True, coordinates=case.ring.variables)
    model = as_model(case)
    theorem = model.polar_theorem() if method in ("auto", "theorem") else None
    if theorem is not None:
        return PolarDegrees(
            title=model.title,
            case=model.case,
            # N + 1 coordinates of a cone are homogeneous coordinates of P^N; an affine space of
            # dimension N is a part of P^N
            ambient=model.coordinate_count if theorem.closure else model.coordinate_count - 1,
            dimension=len(theorem.degrees) - 1,
            method="theorem",
            closure=theorem.closure,
            theorem=theorem,
            seconds=clock().seconds,
        )
    if method == "theorem":
        raise MethodUnavailableError(
            f"no theorem gives the polar degrees of the {model.title}: use slices or conormal"
        )
    # Slices are taken in the space of the parameters, which relations do not leave free.
    needs_ideal = method == "conormal" or (method == "auto" and model.free_map.relations)
    if needs_ideal:
        return _by_closure(model)
    if method == "auto":
        return _by_quicker_method(model)
    return _by_slices(model)


def _by_quicker_method(model: Model) -> PolarDegrees:
    """Return the polar degrees by the first method that ends in the time that it has: slices have a
    short time, then the conormal variety has; then slices take as long as they need.

    Which of the methods is quicker is not seen from the map: slices have few variables where the
    dimension of the variety is small, and the conormal variety has few equations where the
    codimension is small.
    """
    methods = ((_by_slices, MAX_SLICES_SECONDS), (_by_closure, MAX_CONORMAL_SECONDS))
    for compute, seconds in methods:
        # a limit, or a method that is not available, leaves the case to the next one
        with suppress(TimeLimitError, MemoryLimitError, TooLargeError, MethodUnavailableError):
            with share(0.3), limited(seconds):  # the shorter of both
                degrees = compute(model)
            if not degrees.unfinished:
                # the seconds of the whole computation, not of this method only
                return replace(degrees, seconds=clock().seconds)
    return _by_slices(model)


def second_opinion(case: Case) -> PolarDegrees:
    """Return the polar degrees by slices, to be compared with a theorem.

    Two primes are enough if they agree: a third one would guard against two primes that give the
    same wrong numbers, but the comparison with the theorem does that too.
    """
    # no time is cheap enough for a third prime
    return _by_slices(as_model(case), cheap_seconds=0.0)


def _by_slices(model: Model, cheap_seconds: float = MAX_CHEAP_SECONDS) -> PolarDegrees:
    """Return the polar degrees by points in random slices, modulo random primes."""
    slices = RandomSlices.of(model)
    slices.check_minors()

    def degrees_modulo(prime: int) -> PolarDegrees:
        """The polar degrees by slices modulo a prime; unfinished, maybe without any, at a limit."""
        degrees, limit = slices.degrees_modulo(prime)
        return PolarDegrees(
            title=model.title,
            case=model.case,
            ambient=len(slices.map.forms.coordinates) - 1,
            dimension=slices.dimension,
            method="slices",
            theorem=PolarData(
                degrees=degrees, known="by counting points in random slices", rests_on=()
            ),
            engine_version=current().version,
            seconds=clock().seconds,
            unfinished=limit,
            closure=not slices.map.is_cone,  # then the variety is the projective closure
        )

    primes = primes_for(slices.map.forms.images)
    return _agreed_by_random_primes(degrees_modulo, primes, cheap_seconds=cheap_seconds)


def _by_closure(model: Model) -> PolarDegrees:
    """Return the polar degrees by the conormal variety, from the equations of the closure."""
    return _by_conormal(variety_of_closure(model), model.case)


def _by_conormal(variety: Variety, case: dict[str, Any] | None) -> PolarDegrees:
    """Return the polar degrees of a variety with known ideal, by its conormal variety; ``case`` has
    the numbers that define it, for JSON.
    """
    ideal = variety.ideal
    if ideal.ring.field != QQ:
        raise InvalidCaseError("field", f"must be QQ for polar degrees, not {ideal.ring.field}")
    script = conormal_script(ideal, variety.title, prime=variety.prime)

    def degrees_modulo(prime: int) -> PolarDegrees:
        """The polar degrees by the conormal variety modulo a prime number."""
        answer = answer_to(with_given_prime(script, prime))
        version = current().version
        # for each irreducible component of the projective variety there is the dimension of the
        # affine cone over it, which is one larger
        dimension = max(answer.integers("dimensions"), default=0) - 1
        if dimension < 0:
            raise InvalidCaseError("ideal", "the projective variety is empty")
        # … and the list of its δ_0, δ_1, …, which may be shorter; entries from n + 1 on are zero
        degrees_of_components = answer.integer_lists("polar_degrees")
        sums = [0] * (dimension + 1)
        for degrees in degrees_of_components:
            for i, degree in enumerate(degrees[: dimension + 1]):
                sums[i] += degree
        method_text = "by the conormal variety"
        if len(degrees_of_components) > 1:
            method_text += f", the sum over {len(degrees_of_components)} irreducible components"
        # N variables are homogeneous coordinates of P^(N−1). If the ideal is not homogeneous, the
        # variety is the closure in P^N.
        variable_count = len(ideal.ring.variables)
        return PolarDegrees(
            title=variety.title,
            case=case,
            ambient=variable_count - 1 if variety.is_cone else variable_count,
            dimension=dimension,
            method="conormal",
            # δ_n comes first
            theorem=PolarData(degrees=tuple(reversed(sums)), known=method_text, rests_on=()),
            engine_version=version,
            seconds=clock().seconds,
            closure=not variety.is_cone,
        )

    primes = primes_for(map(integer_coefficients, ideal.generators_or_zero))
    return _agreed_by_random_primes(degrees_modulo, primes)


CountedDegrees: TypeAlias = "PolarDegrees | InvalidCaseError | MethodUnavailableError"
"""The outcome modulo one prime: the numbers, or the error that says why there are none."""


def _agreed_by_random_primes(
    degrees_modulo: Callable[[int], PolarDegrees],
    primes: Iterator[int],
    *,
    cheap_seconds: float = MAX_CHEAP_SECONDS,
) -> PolarDegrees:
    """Return the polar degrees, or raise the error, on which enough random primes agree.

    At a limit before that, the numbers of a single prime, also if they are not all, are an
    unfinished result; but an error modulo one prime decides nothing, since the variety may have
    changed there.
    """
    unfinished: dict[int, CountedDegrees] = {}

    def outcome_modulo(prime: int) -> CountedDegrees:
        """The numbers modulo one prime, or the error that says why there are none."""
        try:
            degrees = degrees_modulo(prime)
        except (InvalidCaseError, MethodUnavailableError) as reason:
            return reason
        if degrees.unfinished:
            unfinished[prime] = degrees
            raise TimeLimitError(degrees.unfinished)
        return degrees

    def compared(outcome: CountedDegrees) -> tuple[object, ...]:
        """What is compared with other primes: dimension and degrees, or the class of the error."""
        if isinstance(outcome, PolarDegrees):
            return outcome.dimension, outcome.degrees
        return (type(outcome),)

    counted = count_modulo_primes(
        outcome_modulo, primes, value=compared, cheap_seconds=cheap_seconds
    )
    outcomes, limit = counted.by_prime, counted.limit
    if counted.agreeing:
        return _common_outcome(outcomes, counted.agreeing)
    assert limit is not None
    # some of the numbers modulo the first prime, which are unfinished already
    for prime, degrees in unfinished.items():
        if not outcomes and isinstance(degrees, PolarDegrees) and degrees.degrees:
            return _common_outcome(unfinished, (prime,))
    # all numbers modulo one prime
    if len(outcomes) == 1 and isinstance(next(iter(outcomes.values())), PolarDegrees):
        return replace(_common_outcome(outcomes, tuple(outcomes)), unfinished=str(limit))
    raise limit


def _common_outcome(
    outcomes: Mapping[int, CountedDegrees], primes: tuple[int, ...]
) -> PolarDegrees:
    """Return the common result of ``primes``, or raise it if it is an error; its text names the
    primes that gave other numbers.
    """
    outcome = outcomes[primes[0]]
    if not isinstance(outcome, PolarDegrees):
        raise outcome
    method_text = f"{outcome.theorem.known}, {modulo_primes(primes, outcomes)}"
    # the numbers of all primes that agree, with the method and the primes in words
    numbers = replace(outcome.theorem, known=method_text)
    return replace(outcome, theorem=numbers, primes=primes, seconds=clock().seconds)


def conormal_script(ideal: GeneratingSet, title: str, *, prime: bool) -> Script:
    """Return the Macaulay2 program for the conormal variety of an ideal over QQ, modulo a prime
    that it is given; ``prime`` says whether the ideal is known to be prime, else it is decomposed.
    """
    # The program reduces the generators modulo p. Denominators are cleared, so that it can do so
    # for every p.
    integral = map(integer_coefficients, ideal.generators_or_zero)
    generators = tuple(map(ideal.ring.sympy_ring.from_dict, integral))
    integral_ideal = GeneratingSet(ideal.ring, generators)
    variables = ", ".join(m2_syntax.all_to_macaulay2(ideal.ring.variables))
    values = {
        "title": title,
        # for the template a text is true unless it is empty
        "prime": "true" if prime else "",
        # In the program ``coefficients'`` is ZZ/p.
        "ring": f"coefficients'[{variables}]",
    }
    return question(name="polar_conormal", ideals={"givenIdeal": integral_ideal}, values=values)


class DualVariety(NamedTuple):
    """The projective dimension and the degree of a dual variety: −1 and 0 if it is empty."""

    dimension: int
    degree: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PolarDegrees(PictureResult):
    """The polar degrees of a projective variety Z of dimension n in P^N.

    δ_i is the number of points of the conormal variety over i general hyperplanes in P^N and N − 1
    − i in its dual.

    Parameters
    ----------
    title : str
        The case in words, such as the title of the model.
    case : dict or None
        The numbers that define the case, for JSON; ``None`` without a family.
    ambient : int
        N, the dimension of the projective space.
    dimension : int
        n, the dimension of Z.
    method : {"theorem", "slices", "conormal"}
    theorem : PolarData
        The numbers, also where no theorem gives them; the method in words; and the strata that were
        observed.
    engine_version : str
        Empty if Macaulay2 was not used.
    seconds : float
    unfinished : str
        Empty, or the limit that was reached: then some numbers may be missing, or only one prime
        was used.
    closure : bool
        Whether Z is the closure in projective space of a variety that is not known to be a cone.
    of_ideal : bool
        Whether an ideal was given.
    coordinates : tuple of str
        The variables of the ring of this ideal; empty where no ideal was given.
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
    coordinates: tuple[str, ...] = ()
    primes: tuple[int, ...] = ()

    @property
    def degrees(self) -> tuple[int, ...]:
        """δ_n, δ_{n−1}, …: all down to δ_0, or fewer where ``unfinished``. The first is the degree
        of Z.
        """
        return self.theorem.degrees

    @property
    def generic_ed_degree(self) -> int | None:
        """The sum of the polar degrees; ``None`` unless all are known.

        It is the number of complex critical points that the distance from a general point, by a
        general quadratic form, has on the smooth part of the cone over Z.

        Of an affine variety that is not a cone, it is this number of the cone over its closure Z in
        projective space, which may be larger than the number of the variety itself: 4 for a
        parabola, which has 3.

        Source: Draisma, Horobeț, Ottaviani, Sturmfels, Thomas, *The Euclidean distance degree of an
        algebraic variety*, Found. Comput. Math. 16, 2016, Theorem 5.4.
        """
        return sum(self.degrees) if len(self.degrees) == self.dimension + 1 else None

    @property
    def _dual_variety(self) -> DualVariety | None:
        """The dimension and the degree of the dual variety; ``None`` unless all polar degrees are
        known.

        Let i be the least index with δ_i ≠ 0. The degree is δ_i, and the dimension is N − 1 − i.
        """
        if self.generic_ed_degree is None:
            return None
        # no hyperplane is tangent to P^N itself
        if self.dimension == self.ambient:
            return DualVariety(dimension=-1, degree=0)
        from_below = self.degrees[::-1]  # δ_0, δ_1, …, δ_n, the last of which is not zero
        i = 0
        while from_below[i] == 0:
            i += 1
        return DualVariety(dimension=self.ambient - 1 - i, degree=from_below[i])

    @property
    def dual_dimension(self) -> int | None:
        """The projective dimension of the dual variety; −1 if it is empty, as that of P^N is.

        ``None`` unless all polar degrees are known.
        """
        dual = self._dual_variety
        return None if dual is None else dual.dimension

    @property
    def dual_degree(self) -> int | None:
        """The degree of the dual variety; 0 if it is empty.

        ``None`` unless all polar degrees are known.
        """
        dual = self._dual_variety
        return None if dual is None else dual.degree

    def proof(self) -> Proof:
        """Return whether a theorem gives all polar degrees."""
        theorem = self.theorem
        if self.unfinished or self.primes:
            reasons: tuple[str, ...] = (theorem.known, self.unfinished)
        else:
            reasons = (theorem.known, *theorem.rests_on)
        is_proved = not self.primes and not self.unfinished
        return Proof(is_proved, "; ".join(filter(None, reasons)))

    def __repr__(self) -> str:
        return in_brackets(self, "title", "degrees", "is_proved")

    def to_sheet(self) -> Sheet:
        """Return the numbers with their grounds, a table of critical strata, and the picture.

        The strata are those of the source of the parametrization where a theorem observed that the
        differential can have a kernel.
        """
        blocks: list[Block] = [Facts(_facts(self))]
        # `kernel` is an upper bound for the dimension of the kernel of the differential
        with_kernel = [stratum for stratum in self.theorem.loci if stratum.kernel > 0]
        if with_kernel:
            header = ("observed at orbit", "codimension", "kernel at most")
            rows = [(one.name, one.codimension, one.kernel) for one in with_kernel]
            blocks.append(Table(header, rows))
        blocks.append(Picture(self.page_svg))
        title = f"Polar degrees of {with_article(self.title)}"
        formulas = []
        if self.generic_ed_degree is not None:
            # gED of the closure X̄ is a number of X̄, not of X, if X is not a cone
            variety = r"(\overline{X})" if self.closure else ""
            formulas.append(rf"\operatorname{{gED}}{variety} = {self.generic_ed_degree}")
        return Sheet(title, blocks, formulas)

    def to_json(self) -> dict[str, Any]:
        """Return the numbers, their grounds, and all strata that were observed, for JSON."""
        theorem = self.theorem
        return result_json(self.case, "QQ", self.engine_version or None, self.seconds) | {
            "title": self.title or None,
            "coordinates": list(self.coordinates) or None,
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
            # the strata of the source on which the theorem rests
            "loci": [
                {
                    "orbit": stratum.name,
                    "codimension": stratum.codimension,
                    "kernel_at_most": stratum.kernel,
                }
                for stratum in theorem.loci
            ],
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
        }

    def to_macaulay2(self) -> str:
        """Return the polar degrees as a Macaulay2 list."""
        return f"polarDegrees = {m2_list(self.degrees)}"

    def to_csv(self) -> str:
        """Return a line (i, δ_i) for each polar degree."""
        return csv_text(("i", "polar_degree"), zip(self._indices, self.degrees, strict=True))

    @property
    def _indices(self) -> range:
        """n, n − 1, …: the i of each δ_i."""
        return range(self.dimension, self.dimension - len(self.degrees), -1)

    def figure(self) -> Any:
        """Return a figure of matplotlib with a bar for each of δ_n, δ_{n−1}, …

        Bars are logarithmic where the largest degree exceeds 500 times the
        smallest one that is not zero.
        """
        degrees = self.degrees
        heights: Sequence[float] = degrees
        label = "polar degree δ$_i$"
        # small bars would not be seen next to the largest one
        if max(degrees) > 500 * min(filter(None, degrees)):
            heights = [log10(value or 1) for value in degrees]  # a degree 0 has no bar
            label = f"log$_{{10}}$ of the {label}"
        heading = "Polar degrees"
        if self.generic_ed_degree is not None:
            heading += f", generic ED degree {short_number_text(self.generic_ed_degree)}"
        if self.closure:
            heading += ", of the projective closure"
        with styled():
            figure = new_figure(
                width=6.8, height=4.6, title=f"Polar degrees of {with_article(self.title)}"
            )
            axes = figure.subplots()
            axes.grid(axis="y", color=FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
            bars = axes.bar(self._indices, heights, width=0.72, color=BLUE)
            axes.set_xlim(self.dimension + 0.7, -0.7)  # i = n is on the left, 0 on the right
            axes.margins(y=0.12)  # labels stand above the bars
            axes.set_xlabel("i  (from the degree down)", style="italic")
            axes.set_ylabel(label, style="italic")
            if len(degrees) <= 16:  # values of more bars would overlap
                axes.set_xticks(self._indices)
                values = list(map(short_number_text, degrees))
                axes.bar_label(bars, values, padding=3, fontsize=9.5, color=SOFT)
            axes.set_title(f"{heading}\n{self.title}", fontsize=12)
            figure.tight_layout()
            return figure


def _facts(result: PolarDegrees) -> list[tuple[str, object]]:
    """Return the lines of the summary; a line with the value ``None`` is not shown."""
    variety = f"dimension {result.dimension} in P^{result.ambient}"
    degrees = ", ".join(map(str, result.degrees))
    ed_degree = dual = "not known"
    if result.closure:
        variety += "; of the closure in projective space"
    if result.generic_ed_degree is None:  # some polar degrees are not known
        degrees += ", …"
    else:
        ed_degree = str(result.generic_ed_degree)
        dual = f"dimension {result.dual_dimension}, degree {result.dual_degree}"
        if result.closure:  # the affine variety itself may have fewer critical points
            ed_degree += ", of the projective closure"
        if result.dual_degree == 0:
            dual = "empty"
    points = result.theorem.generic_fibre
    fibre = None
    if points is not None:
        fibre = f"{points} point{'s' if points > 1 else ''}, observed"
    # only the first reason on which the numbers rest has a name
    reasons = result.theorem.rests_on
    return [
        ("variety", variety),
        ("polar degrees", degrees),
        ("generic ED degree", ed_degree),
        ("dual variety", dual),
        ("known", result.theorem.known),
        ("primes", ", ".join(map(str, result.primes)) or None),
        *zip(["rests on", *[""] * len(reasons)], reasons, strict=False),
        ("general fibre", fibre),
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def short_number_text(value: int) -> str:
    """Return a number in few characters: its digits, or from 10^7 on a power of ten."""
    return str(value) if value < 10**7 else f"10^{log10(value):.2f}"
