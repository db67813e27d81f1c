"""Deep attention networks: lightning or softmax, with or without skip connections, one head or several.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and Dimension*, ICLR 2025
(arXiv 2408.17221), sections 3.2 to 4. What is proved here is in ``docs/deep-attention.md``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from m2bridge.errors import InvalidCaseError
from m2bridge.families.deep_attention import bounds
from m2bridge.families.deep_attention import network as parameters
from m2bridge.families.deep_attention.network import gradient, output, virtual_weights
from m2bridge.families.deep_attention.number_systems import Integers, NumberSystem, Residues
from m2bridge.families.deep_attention.shape import Shape
from m2bridge.families.definition import positive_integers
from m2bridge.maps.model import DifferentiableModel, Expectation, LowerBound, UpperBound
from m2bridge.maps.statement import Statement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.engine import Engine
    from m2bridge.families.deep_attention.observed import ObservedNetwork

NAME = "deep-attention"
Normalization = Literal["none", "softmax"]
Row = Sequence[int]

MAX_LAYERS = 1000


@dataclass(frozen=True, slots=True, init=False)
class DeepAttention(DifferentiableModel):
    """The model X ↦ φ_l(… φ_1(X)) with layers φ_k(Y) = Σ_h V_h Y σ(Yᵀ K_hᵀ Q_h Y), plus Y with skip connections.

    Parameters
    ----------
    widths : iterable of int
        d_0, …, d_l; at least two.
    a : int or iterable of int
        The query/key dimensions a_1, …, a_l, or one for all layers: K_h and Q_h have a_k rows.
    t : int
        The number of tokens, columns of X.
    heads : int
        The number of heads of each layer.
    skip : bool
        Whether each layer adds its input to its output; then all widths are equal.
    normalization : {"none", "softmax"}
        σ: the identity (lightning), or the softmax of each column.

    Raises
    ------
    InvalidCaseError
        If these numbers name no network; ``option`` says which of them.

    Examples
    --------
    >>> network = DeepAttention([3, 3, 3], a=[1, 2], t=2)
    >>> network.key
    '3-3-3-a1-2-t2'
    >>> network.upper_bounds(0)[0].value
    18
    """

    widths: tuple[int, ...]
    a: tuple[int, ...]
    t: int
    heads: int
    skip: bool
    normalization: Normalization
    family: ClassVar[str] = NAME

    def __init__(
        self,
        widths: Iterable[int],
        a: int | Iterable[int],
        t: int = 2,
        heads: int = 1,
        skip: bool = False,
        normalization: str = "none",
    ) -> None:
        listed = positive_integers("widths", widths)
        if not 2 <= len(listed) <= MAX_LAYERS + 1:
            raise InvalidCaseError("widths", f"must be from 2 to {MAX_LAYERS + 1} integers, not {len(listed)}")
        layers = len(listed) - 1
        ranks = positive_integers("a", [a] if isinstance(a, int) else a)
        ranks = ranks * layers if len(ranks) == 1 else ranks
        if len(ranks) != layers:
            raise InvalidCaseError("a", f"must be one integer, or one for each of the {layers} layers")
        if not isinstance(skip, bool):
            raise InvalidCaseError("skip", f"must be true or false, not {skip!r:.60}")
        if skip and len(set(listed)) > 1:
            raise InvalidCaseError("skip", "needs widths that are all equal: a layer adds its input to its output")
        if normalization not in get_args(Normalization):
            raise InvalidCaseError("normalization", f"must be none or softmax, not {normalization!r:.60}")
        values = (
            listed,
            ranks,
            *positive_integers("t", [t]),
            *positive_integers("heads", [heads]),
            skip,
            normalization,
        )
        for field, value in zip(self.__slots__, values, strict=True):
            object.__setattr__(self, field, value)

    @classmethod
    def from_key(cls, key: str) -> DeepAttention:
        """The network with this key, such as ``3-3-3-a2-2-t2`` or ``3-3-a2-t2-h2-skip-softmax``."""
        number = "[1-9][0-9]{0,8}"
        match = re.fullmatch(
            rf"({number}(?:-{number})+)-a({number}(?:-{number})*)-t({number})(?:-h({number}))?(-skip)?(-softmax)?",
            key,
            re.ASCII,
        )
        if match is None:
            raise InvalidCaseError("key", f"'{key}' does not name a deep attention network: write 3-3-3-a2-2-t2")
        widths, a, t, heads, skip, softmax = match.groups()
        listed, ranks = ([*map(int, text.split("-"))] for text in (widths, a))
        return cls(listed, ranks, int(t), int(heads or 1), skip is not None, "softmax" if softmax else "none")

    @property
    def key(self) -> str:
        """Such as ``3-3-3-a2-2-t2``; then ``-h2``, ``-skip`` and ``-softmax`` where they apply."""
        parts = ["-".join(map(str, self.widths)), f"a{'-'.join(map(str, self.a))}", f"t{self.t}"]
        parts += [f"h{self.heads}"] * (self.heads > 1) + ["skip"] * self.skip + ["softmax"] * self.softmax
        return "-".join(parts)

    @property
    def title(self) -> str:
        """In words."""
        kind = "softmax" if self.softmax else "lightning"
        more = f", {self.heads} heads" * (self.heads > 1) + ", skip connections" * self.skip
        return f"{kind} self-attention of widths {_tuple(self.widths)}, a = {_tuple(self.a)}, t = {self.t}{more}"

    def to_json(self) -> dict[str, Any]:
        """The numbers of the case."""
        return {
            "widths": list(self.widths),
            "a": list(self.a),
            "t": self.t,
            "heads": self.heads,
            "skip": self.skip,
            "normalization": self.normalization,
        }

    @property
    def softmax(self) -> bool:
        """Whether scores are normalized."""
        return self.normalization == "softmax"

    @property
    def layers(self) -> int:
        """l."""
        return len(self.a)

    @property
    def shape(self) -> Shape:
        """Widths and ranks."""
        return Shape(self.widths, self.a)

    @property
    def is_plain(self) -> bool:
        """Whether there is one head and no skip connection; then functions depend on the virtual weights only."""
        return self.heads == 1 and not self.skip

    @property
    def parameter_count(self) -> int:
        """The number of entries of all A (or K and Q) and V; see ``parameters.py``."""
        return self.heads * sum(block.size for block in parameters.blocks(self.widths, self.a, 1))

    @property
    def input_count(self) -> int:
        """d_0·t, the entries of X row by row."""
        return self.widths[0] * self.t

    @property
    def output_count(self) -> int:
        """d_l·t, the entries of the last tokens row by row."""
        return self.widths[-1] * self.t

    def parametrization(self) -> PolynomialMap:
        """From the parameters to coordinates of the function; see ``expansion.py``.

        Raises
        ------
        InvalidCaseError
            If the functions are not polynomial.
        TooLargeError
            If it is too large to be expanded.
        """
        from m2bridge.families.deep_attention.expansion import expanded  # needs SymPy, which is slow to import

        return expanded(self)

    def gauge_dimension(self) -> int:
        """See :func:`m2bridge.families.deep_attention.bounds.gauge_dimension`."""
        return bounds.gauge_dimension(self)

    def gauge_group(self) -> tuple[str, ...]:
        """Factors of a group that acts on (K, Q, V) and keeps the function, such as ``GL(3)`` of a hidden layer."""
        return bounds.gauge_group(self)

    def upper_bounds(self, characteristic: int) -> tuple[UpperBound, ...]:
        """Bounds proved in docs/deep-attention.md, in every characteristic, the smallest first."""
        return bounds.upper_bounds(self)

    def lower_bounds(self, characteristic: int) -> Iterator[LowerBound]:
        """Bounds by ranks; see ``lower_bounds.py``."""
        from m2bridge.families.deep_attention.lower_bounds import lower_bounds  # it imports this module

        return lower_bounds(self, characteristic)

    def expectations(self) -> tuple[Expectation, ...]:
        """The dimension by formulas; see ``statements/``."""
        from m2bridge.families.deep_attention.statements import expectations  # it imports this module

        return expectations(self)

    def expected_dimension(self) -> tuple[int | None, str]:
        """By the first formula whose hypotheses hold."""
        for expectation in self.expectations():
            if expectation.value is not None and not expectation.fails:
                return expectation.value, expectation.statement
        return None, "no formula is known for such a network"

    def statements(self) -> tuple[Statement, ...]:
        """See ``statements/``."""
        from m2bridge.families.deep_attention.statements import STATEMENTS  # it imports this module

        return STATEMENTS

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Fibres and closedness do."""
        from m2bridge.families.deep_attention.observation import BY_ENGINE  # it imports this module

        return not BY_ENGINE.keys().isdisjoint(observables)

    def observe(
        self, observables: Collection[str], engine: Engine | None, *, certified: bool = False
    ) -> ObservedNetwork | None:
        """See ``observation.py``; for a certificate ``certified.py``."""
        from m2bridge.families.deep_attention.observation import certified_part, observe_part

        return certified_part(self, observables, engine) if certified else observe_part(self, observables, engine)

    def values(self, parameters: Row, inputs: Sequence[Row], prime: int) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`; for lightning attention."""
        numbers = Residues(prime)
        network = self._point(parameters, numbers).network()
        return [
            [int(y) for y in output(network, numbers.matrix(self._tokens(x)), numbers, self.skip).entries()]
            for x in inputs
        ]

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """See :class:`~m2bridge.maps.model.DifferentiableModel`; for lightning attention."""
        numbers = Residues(prime)
        point = self._point(parameters, numbers)
        network = point.network()
        found = []
        for x, g in zip(inputs, covectors, strict=True):
            X, G = numbers.matrix(self._tokens(x)), numbers.matrix(self._tokens(g))
            entries = point.flattened(gradient(network, X, G, numbers, self.skip))
            found.append([int(entry) for entry in entries])
        return found

    def evaluate(self, parameters: Row, X: Sequence[Row]) -> list[list[int]]:
        """The tokens after the last layer, for integer weights and tokens: X has d_0 rows and t columns.

        Raises
        ------
        InvalidCaseError
            For softmax, whose values are not integers.
        """
        if self.softmax:
            raise InvalidCaseError("normalization", "the values of softmax attention are not rational numbers")
        numbers = Integers()
        found = output(self._point(parameters, numbers).network(), numbers.matrix(X), numbers, self.skip)
        return [[int(entry) for entry in row] for row in found.table()]

    def virtual_weights(self, parameters: Row) -> tuple[list[list[list[int]]], list[list[int]]]:
        """The virtual weights A'_1, …, A'_l and M of integer weights.

        Raises
        ------
        InvalidCaseError
            With several heads or skip connections, where the function depends on more.
        """
        if not self.is_plain:
            raise InvalidCaseError("heads", "virtual weights are those of one head without skip connections")
        matrices, M = virtual_weights(self._point(parameters, Integers()).network())
        *attention, values = [[[int(entry) for entry in row] for row in A.table()] for A in (*matrices, M)]
        return attention, values

    def _point(self, given: Row, numbers: NumberSystem) -> parameters.Point:
        if len(given) != self.parameter_count:
            raise InvalidCaseError("parameters", f"are {self.parameter_count} numbers, not {len(given)}")
        return parameters.Point.read(self.widths, self.a, self.heads, given, numbers)

    def _tokens(self, entries: Row) -> list[Row]:
        """The rows of a matrix with t columns."""
        return [entries[i : i + self.t] for i in range(0, len(entries), self.t)]


def _tuple(numbers: tuple[int, ...]) -> str:
    """``(3, 2, 3)``; ``13 × 64`` for many equal ones."""
    if len(numbers) > 6 and len(set(numbers)) == 1:
        return f"{len(numbers)} × {numbers[0]}"
    return f"({', '.join(map(str, numbers))})"
