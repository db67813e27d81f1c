"""Statements, which predict, and observations, with which the predictions are compared.

Statements do not compute anything, and observations use no method of the predictions.

A *model* is one member of a family of polynomial maps, such as a network with its widths; a *case*
is a model about which results are computed. Its *orbits*, where a family has finitely many, are the
sets of functions that come from one of them by changes of coordinates. An *observable* is the name
of a value of the model, or of each orbit, such as ``dimension``, which statements predict and
observations compute. A value is yes or no, a number, the points of a fibre, or one that can be
known in part; ``None`` where it is not known.

:class:`GlobalStatement`, :class:`OrbitStatement`, :class:`PartialValue` and :class:`Observed` are
what families make, also families of other packages.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, Protocol, TypeVar

from m2bridge.errors import InvalidCaseError, check_kind
from m2bridge.results.base import Decision
from m2bridge.results.known import UNKNOWN, Bounds
from m2bridge.results.sheet import value_text

M = TypeVar("M")  # a model
O = TypeVar("O")  # an orbit


class FibrePoints(Protocol):
    """The points of a fibre: ``==`` compares them as sets, and ``str`` is their text in tables."""

    def __hash__(self) -> int: ...

    def to_json(self) -> Any:
        """Return the points as certificates contain them."""


class PartialValue(ABC):
    """A value that can be known in part, such as numbers by degree, up to a degree."""

    __slots__ = ()

    @abstractmethod
    def against(self, predicted: Any) -> tuple[Decision, str]:
        """Return the decision on a predicted value, and the reason as a clause for people.

        The decision is REFUTED, CONFIRMED or UNDECIDED; a clause is ``computed (4, 6), stated (4,
        7)``.
        """

    @abstractmethod
    def to_json(self) -> Any:
        """Return the value as certificates contain it."""


@dataclass(frozen=True, slots=True)
class Numbers(PartialValue):
    """A list of numbers, some of which may be unknown.

    Examples
    --------
    >>> str(Numbers((4, 6, None)))
    '(4, 6, –)'
    """

    entries: tuple[int | None, ...]

    def against(self, predicted: Numbers) -> tuple[Decision, str]:
        """Return REFUTED for one different number or a different length, CONFIRMED if all numbers
        are known and the same, else UNDECIDED; and both lists in words.
        """
        text = f"computed {self}, stated {predicted}"
        if len(self.entries) != len(predicted.entries):
            return Decision.REFUTED, text
        for seen_number, stated_number in zip(self.entries, predicted.entries, strict=True):
            # one different number refutes, whatever the unknown ones are
            if seen_number is not None and seen_number != stated_number:
                return Decision.REFUTED, text
        if None in self.entries:
            return Decision.UNDECIDED, text
        return Decision.CONFIRMED, text

    def to_json(self) -> list[int | None]:
        """Return the list of numbers."""
        return list(self.entries)

    def __str__(self) -> str:
        return value_text(self.to_json())


METHODS_MODULO_PRIMES = frozenset({"slices"})
"""The methods of :class:`NumbersByMethod` whose numbers are known modulo random primes only."""


@dataclass(frozen=True, slots=True)
class NumbersByMethod(PartialValue):
    """The same numbers, found by methods that share nothing; each finds all or some of them.

    Examples
    --------
    >>> seen = NumbersByMethod((("integrals", Numbers((4, 6))), ("slices", Numbers((4, None)))))
    >>> print(seen)
    2 of 2 by integrals, 1 of 2 by slices modulo random primes
    >>> str(seen.against(Numbers((4, 7)))[0])
    'REFUTED'
    """

    numbers: tuple[tuple[str, Numbers], ...]

    def against(self, predicted: Numbers) -> tuple[Decision, str]:
        """Return REFUTED if an exact method found a different number, CONFIRMED if no method did
        and an exact one found all numbers, else UNDECIDED; and in words what each method found.

        Numbers that are known modulo primes only neither refute nor confirm.
        """
        exact_decisions = []
        differs_modulo_primes = False
        for name, numbers in self.numbers:
            decision, _ = numbers.against(predicted)
            if name not in METHODS_MODULO_PRIMES:
                exact_decisions.append(decision)
            elif decision is Decision.REFUTED:
                differs_modulo_primes = True
        # the numbers of every method, so that one sees which of them are different
        by_method = [f"{numbers} by {self._words(name)}" for name, numbers in self.numbers]
        all_numbers = f"computed {', '.join(by_method)}, stated {predicted}"
        if Decision.REFUTED in exact_decisions:
            return Decision.REFUTED, all_numbers
        if differs_modulo_primes:
            return Decision.UNDECIDED, f"{all_numbers}; numbers modulo primes alone refute nothing"
        if Decision.CONFIRMED in exact_decisions:
            return Decision.CONFIRMED, str(self)
        return Decision.UNDECIDED, str(self)

    def to_json(self) -> dict[str, list[int | None]]:
        """Return the numbers by the name of the method."""
        return {name: numbers.to_json() for name, numbers in self.numbers}

    def __str__(self) -> str:
        clauses = []
        for name, numbers in self.numbers:
            known_count = sum(number is not None for number in numbers.entries)
            clauses.append(f"{known_count} of {len(numbers.entries)} by {self._words(name)}")
        return ", ".join(clauses)

    @staticmethod
    def _words(name: str) -> str:
        """Return the name of a method in words."""
        return "slices modulo random primes" if name == "slices" else name.replace("_", " ")


Value = bool | int | str | FibrePoints | PartialValue
"""A value that can be predicted and observed; a text is a bound, as :func:`excluding_bound` has it.
"""


def excluding_bound(bounds: Bounds, predicted: Value | None) -> str | None:
    """Return the proved bound that a predicted number violates, as ``at most 43``; ``None`` if it
    violates none, or is not a number.
    """
    if type(predicted) is not int:
        return None
    if bounds.upper is not None and predicted > bounds.upper:
        return f"at most {bounds.upper}"
    if bounds.lower is not None and predicted < bounds.lower:
        return f"at least {bounds.lower}"
    return None


def value_json(value: Value | None) -> Any:
    """Return a value as JSON has it."""
    if value is None or isinstance(value, bool | int | str):
        return value
    return value.to_json()


def about_every_orbit(orbit: Any) -> bool:
    """Return True for every orbit, the default of ``OrbitStatement.concerns``."""
    return True


@dataclass(frozen=True, slots=True)
class _Statement(Generic[M]):
    """The fields that both kinds of statements have; GlobalStatement documents them."""

    key: str
    part: str
    text: str
    source: str
    observable: str
    predict: Callable[..., Value | None]
    hypotheses: Callable[[M], str]
    computed: tuple[str, ...] = ()
    trusted: tuple[str, ...] = ()
    machine_checked: str = ""
    separate_computation: bool = False
    follows_from: tuple[str, ...] = ()
    printed_hypotheses: Callable[[M], str] | None = None

    def is_printed_for(self, model: M) -> bool:
        """Return whether the source prints the statement, with hypotheses that the model has."""
        return self.printed_hypotheses is not None and self.printed_hypotheses(model) == ""


@dataclass(frozen=True, slots=True)
class GlobalStatement(_Statement[M]):
    """A statement about the closure of the image of every model of a family.

    It predicts a value for each model and does not compute anything.

    Parameters
    ----------
    key, part : str
        Name of the statement on the command line, or its number in the paper, and its part.
    text : str
        The statement in words, with its hypotheses.
    source : str
        Where it is stated, and whether as a theorem, conjecture or remark.
    observable : str
        Name of the predicted value: ``dimension``, ``degree``, ``closed``, … .
    predict : callable
        Returns the prediction for a model; ``None`` where it is undefined, because a hypothesis
        fails, or where it would be too large to compute.
    hypotheses : callable
        Returns why the statement does not apply to a model; an empty text if it does.
    computed, trusted : tuple of str
        What is computed for a verdict on it, and exactly the lemmas on which the verdict relies.
        ``{orbits}`` in ``computed`` stands for the orbits that were observed.
    machine_checked : str
        What part of it is formally verified for all sizes, and where; empty if none is.
    separate_computation : bool
        Whether it needs a separate computation, which can be long. Such a statement is decided only
        if it is asked for by its name, without other statements, and it has
        certificates only where the family has a question with its key.
    follows_from : tuple of str
        Keys of statements that imply it: asking for one of them includes this statement.
    printed_hypotheses : callable, optional
        Returns why the statement, as its source prints it, says nothing about a model; an empty
        text if it says something. It differs from ``hypotheses`` where m2bridge adds one. ``None``
        for a statement that no source prints in these words.
    nothing : bool or int, optional
        The observed value for which the statement is vacuous, since the case has no object that it
        is about.
    """

    predict: Callable[[M], Value | None]
    nothing: Value | None = None


@dataclass(frozen=True, slots=True)
class OrbitStatement(_Statement[M], Generic[M, O]):
    """A statement about every function of a model with finitely many orbits, or about some orbits.

    The fields are as in :class:`GlobalStatement`; ``predict`` takes an orbit and the model, and
    ``concerns`` says whether the statement is about an orbit. In a case without such an orbit the
    statement is vacuously true.
    """

    predict: Callable[[O, M], Value]
    concerns: Callable[[O], bool] = about_every_orbit


Statement = GlobalStatement[Any] | OrbitStatement[Any, Any]


@dataclass(frozen=True, slots=True)
class Always:
    """A prediction with the same value for all orbits and models: a class and not a lambda, so that
    results that contain statements can be pickled.
    """

    value: Value

    def __call__(self, *_: object) -> Value:
        """Return the value."""
        return self.value


ALL_STATEMENTS = "all"
"""The name of all statements that share one observation."""


def check_statements(statements: object) -> None:
    """Raise InvalidCaseError if ``statements`` is not a sequence of statements."""
    check_kind("statements", statements, Sequence, "a sequence of statements")
    assert isinstance(statements, Sequence)
    for statement in statements:
        kinds = (GlobalStatement, OrbitStatement)
        check_kind("statements", statement, kinds, "a sequence of statements")


def sharing_one_observation(statements: Iterable[Statement]) -> tuple[Statement, ...]:
    """Return the statements without a separate computation, which share one observation."""
    return tuple(statement for statement in statements if not statement.separate_computation)


def statements_named(statements: Iterable[Statement], name: str) -> tuple[Statement, ...]:
    """Return the statements with this key or name, and the statements that follow from them.

    The name of a statement is its key and part, as results and reports write it, or as people do:
    ``3.4 (iii)``, ``3.4iii``, ``Theorem 3.4``. ``all`` names all statements that need no separate
    computation.
    """
    all_statements = tuple(statements)
    if name == ALL_STATEMENTS:
        return sharing_one_observation(all_statements)
    named = []
    spelled = _plain_name(name)
    for statement in all_statements:
        own_names = (statement.key, statement.key + statement.part, *statement.follows_from)
        if spelled in map(_plain_name, own_names):
            named.append(statement)
    if not named:
        # each key once
        keys = dict.fromkeys(statement.key for statement in all_statements)
        key_list = ", ".join((*keys, ALL_STATEMENTS))
        raise InvalidCaseError("statement", f"'{name:.60}' is not one of {key_list}")
    return tuple(named)


_SPELLED = re.compile(
    r"(?:(?:theorem|thm\.?|lemma|lem\.?|proposition|prop\.?|corollary|cor\.?|remark|statement)\s+)?"
    r"(?P<key>[^()\s]+)\s*(?:\((?P<part>[^()]+)\)|(?P<bare_part>[^()]+))?"
)
"""How people write the name of a statement: perhaps a word for its kind, a key, and a part."""


def _plain_name(name: str) -> str:
    """Return key and part of a statement in one word; the name itself if it is not spelled so."""
    spelled = _SPELLED.fullmatch(name.strip().lower())
    if spelled is None:
        return name
    part = spelled["part"] or spelled["bare_part"] or ""
    return spelled["key"] + "".join(part.split())


IntegerMatrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Witness:
    """A counterexample to a statement: an orbit, a function in it, and numbers that prove it."""

    orbit: Any | None  # ``None`` for statements about the closure as a whole
    weights: Mapping[str, IntegerMatrix]  # parameters of a function in the orbit, by name
    predicted: Value | None
    observed: Value | None
    numbers: Mapping[str, int]  # further numbers, such as dimensions, by name

    def to_json(self) -> dict[str, Any]:
        """Return the fields, with an entry for each matrix of weights, named as in the paper."""
        orbit = None if self.orbit is None else self.orbit.to_json()
        matrices = {name: list(map(list, matrix)) for name, matrix in self.weights.items()}
        return {
            "orbit": orbit,
            **matrices,
            "predicted": value_json(self.predicted),
            "observed": value_json(self.observed),
            "numbers": dict(self.numbers),
        }


class Observed(ABC):
    """Observations of one case, each by at least one exact method that uses no prediction.

    This base class has no orbits; families with orbits override the methods about orbits.
    Subclasses are frozen dataclasses with these attributes as fields.

    Attributes
    ----------
    model : Model
        The case.
    weights : tuple of str
        The names of the parameters in a witness; empty without orbits.
    remarks : tuple of str
        Which independent methods agreed.
    engine_version : str
        The version of Macaulay2; empty if it was not used.
    seconds : float
        The time that the observations took.
    """

    __slots__ = ()

    weights: ClassVar[tuple[str, ...]] = ()
    model: Any
    remarks: tuple[str, ...]
    engine_version: str
    seconds: float

    @property
    def unfinished(self) -> str:
        """The limit that was reached, in words; empty if the observation is complete."""
        return ""

    @property
    def progress(self) -> str:
        """The part that was done before the limit; empty if the observation is complete."""
        return ""

    @abstractmethod
    def value(self, observable: str) -> Value | None:
        """Return the value for the closure as a whole; ``None`` if it is undecided."""

    @abstractmethod
    def unknown(self, observable: str) -> str:
        """Return in words why :meth:`value` is ``None``; it is called only where it is."""

    def bounds(self, observable: str) -> Bounds:
        """Return proved bounds for a number that :meth:`value` leaves open: a prediction outside of
        them is refuted.
        """
        return UNKNOWN

    def all_orbits(self) -> tuple[Any, ...]:
        """Return all orbits of the case in increasing order, observed or not."""
        return ()

    def at_orbits(self, observable: str) -> Mapping[Any, Value | None]:
        """Return the value at each orbit that was observed; ``None`` if it is undecided."""
        return {}

    def undecided_reason(self, observable: str, orbits: Sequence[Any]) -> str:
        """Return in words why the observable is undecided at these orbits; empty without orbits."""
        return ""

    def witness(
        self, orbits: Sequence[Any]
    ) -> tuple[Any, Mapping[str, IntegerMatrix], dict[str, int]]:
        """Return (orbit, weights, numbers) for a statement that fails at these orbits.

        ``orbit`` is the most informative one of them, ``weights`` are the parameters of a function
        in it by their names, and ``numbers`` prove the failure, by name.
        """
        # without orbits no statement fails at one
        raise LookupError("there are no orbits")

    @abstractmethod
    def numbers(self) -> dict[str, int]:
        """Return the numbers of the closure as a whole, by name, that a witness includes."""

    def evidence(self) -> dict[str, Any]:
        """Return the evidence that a certificate contains, for ``json.dumps``; here all numbers."""
        return self.to_json()

    @abstractmethod
    def facts(self) -> list[tuple[str, str | None]]:
        """Return pairs (name, value) for the summary; a value ``None`` is not shown."""

    def table(self) -> tuple[str, Sequence[str], Sequence[Sequence[object]]] | None:
        """Return (title, header, rows) of the table of orbits; ``None`` without orbits."""
        return None

    def with_predictions(self, predicted: Mapping[str, Value | None]) -> Observed:
        """Return the observation with predictions added for display, where its table shows them."""
        return self

    def formulas(self) -> Sequence[str]:
        """Return LaTeX formulas of the observation, as papers print them."""
        return ()

    def to_macaulay2(self) -> str:
        """Return the observed numbers of the closure as Macaulay2 code; empty if there are none."""
        return ""

    @abstractmethod
    def to_json(self) -> dict[str, Any]:
        """Return everything that was observed, as a dictionary for ``json.dumps``."""
