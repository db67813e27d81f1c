"""The result of a computation of polar degrees: its numbers, how it is shown, and its picture."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log10
from typing import Any, NamedTuple

from m2bridge.maps.model import PolarData
from m2bridge.results.base import result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import BLUE, FAINT, SOFT, PictureResult, new_figure, styled
from m2bridge.results.sheet import Block, Facts, Picture, Sheet, Table, computed_by

MAX_LABELLED_BARS = 16
"""The largest number of bars that are labelled with their values."""
MIN_LOGARITHMIC_RATIO = 500
"""The ratio of largest and smallest nonzero degree from which bars are logarithmic."""


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
        Whether an ideal was given: then ``title`` is the title of the sheet, as it is.
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
        projective space, which may be larger than that of the variety itself: 4 for a parabola,
        which has 3.

        Source: Draisma, Horobeț, Ottaviani, Sturmfels, Thomas, *The Euclidean distance degree of an
        algebraic variety*, Found. Comput. Math. 16, 2016, Theorem 5.4.
        """
        return sum(self.degrees) if self._is_complete else None

    @property
    def _is_complete(self) -> bool:
        """Whether all of δ_n, …, δ_0 are known."""
        return len(self.degrees) == self.dimension + 1

    @property
    def _dual_variety(self) -> DualVariety | None:
        """The dimension and the degree of the dual variety; ``None`` unless all polar degrees are
        known.

        Let i be the least index with δ_i ≠ 0. The degree is δ_i, and the dimension is N − 1 − i.
        """
        if not self._is_complete:
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
        title = self.title if self.of_ideal else f"Polar degrees of the {self.title}"
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
            "loci": _strata_json(theorem),
            "unfinished": self.unfinished or None,
        }

    def to_macaulay2(self) -> str:
        """Return the polar degrees as a Macaulay2 list."""
        return f"polarDegrees = {{{', '.join(map(str, self.degrees))}}}"

    def to_csv(self) -> str:
        """Return a line (i, δ_i) for each polar degree."""
        return csv_text(("i", "polar_degree"), zip(self._indices, self.degrees, strict=True))

    @property
    def _indices(self) -> range:
        """n, n − 1, …: the i of each δ_i."""
        return range(self.dimension, self.dimension - len(self.degrees), -1)

    def figure(self) -> Any:
        """Return a figure of matplotlib with a bar for each of δ_n, δ_{n−1}, …

        Bars are logarithmic where the largest degree exceeds ``MIN_LOGARITHMIC_RATIO`` times the
        smallest one that is not zero.
        """
        degrees = self.degrees
        heights: Sequence[float] = degrees
        label = "polar degree δ$_i$"
        # small bars would not be seen next to the largest one
        if max(degrees) > MIN_LOGARITHMIC_RATIO * min(filter(None, degrees)):
            heights = [log10(value or 1) for value in degrees]  # a degree 0 has no bar
            label = f"log$_{{10}}$ of the {label}"
        with styled():
            figure = new_figure(width=6.8, height=4.6, title=f"Polar degrees of the {self.title}")
            axes = figure.subplots()
            axes.grid(axis="y", color=FAINT, linewidth=0.7)
            axes.set_axisbelow(True)
            bars = axes.bar(self._indices, heights, width=0.72, color=BLUE)
            axes.set_xlim(self.dimension + 0.7, -0.7)  # i = n is on the left, 0 on the right
            axes.margins(y=0.12)  # labels stand above the bars
            axes.set_xlabel("i  (from the degree down)", style="italic")
            axes.set_ylabel(label, style="italic")
            if len(degrees) <= MAX_LABELLED_BARS:
                axes.set_xticks(self._indices)
                values = list(map(short_number_text, degrees))
                axes.bar_label(bars, values, padding=3, fontsize=9.5, color=SOFT)
            axes.set_title(f"{self._heading}\n{self.title}", fontsize=12)
            figure.tight_layout()
            return figure

    @property
    def _heading(self) -> str:
        """The heading of the figure, with the generic ED degree if all polar degrees are known."""
        heading = "Polar degrees"
        if self.generic_ed_degree is not None:
            heading += f", generic ED degree {short_number_text(self.generic_ed_degree)}"
        if self.closure:
            heading += ", of the projective closure"
        return heading


def _strata_json(theorem: PolarData) -> list[dict[str, Any]]:
    """Return the strata of the source on which the theorem rests, for JSON: the orbit to which each
    is mapped, its codimension, and a bound for the kernel of the differential there.
    """
    strata = []
    for stratum in theorem.loci:
        numbers = {"codimension": stratum.codimension, "kernel_at_most": stratum.kernel}
        strata.append({"orbit": stratum.name, **numbers})
    return strata


def _facts(result: PolarDegrees) -> list[tuple[str, object]]:
    """Return the lines of the summary, as pairs of a name and a value; a line with the value
    ``None`` is not shown.
    """
    degrees_text = ", ".join(map(str, result.degrees))
    if result.generic_ed_degree is None:  # some polar degrees are not known
        degrees_text += ", …"
    primes_text = ", ".join(map(str, result.primes))
    return [
        ("variety", _variety_text(result)),
        ("polar degrees", degrees_text),
        ("generic ED degree", _ed_degree_text(result)),
        ("dual variety", _dual_text(result)),
        ("known", result.theorem.known),
        ("primes", primes_text or None),
        *_reasons(result.theorem),
        ("general fibre", _fibre_text(result.theorem.generic_fibre)),
        ("not finished", result.unfinished or None),
        ("computed by", computed_by(result.engine_version, result.seconds)),
    ]


def _variety_text(result: PolarDegrees) -> str:
    """Return the dimensions of the variety and of its space in words."""
    text = f"dimension {result.dimension} in P^{result.ambient}"
    if result.closure:
        text += "; of the closure in projective space"
    return text


def _ed_degree_text(result: PolarDegrees) -> str:
    """Return the generic ED degree, and whether it is that of a projective closure, in words."""
    if result.generic_ed_degree is None:
        return "not known"
    if result.closure:  # the affine variety itself may have fewer critical points
        return f"{result.generic_ed_degree}, of the projective closure"
    return str(result.generic_ed_degree)


def _dual_text(result: PolarDegrees) -> str:
    """Return the dimension and the degree of the dual variety in words."""
    if result.dual_degree is None:
        return "not known"
    if result.dual_degree == 0:
        return "empty"
    return f"dimension {result.dual_dimension}, degree {result.dual_degree}"


def _reasons(theorem: PolarData) -> list[tuple[str, object]]:
    """Return a row for each reason on which the numbers rest; only the first row has a name."""
    rows: list[tuple[str, object]] = []
    for reason in theorem.rests_on:
        rows.append(("" if rows else "rests on", reason))
    return rows


def _fibre_text(points: int | None) -> str | None:
    """Return the number of points of a general fibre in words; ``None`` if it was not observed."""
    if points is None:
        return None
    return f"{points} point{'s' if points > 1 else ''}, observed"


def short_number_text(value: int) -> str:
    """Return a number in few characters: its digits, or from 10^7 on a power of ten."""
    return str(value) if value < 10**7 else f"10^{log10(value):.2f}"
