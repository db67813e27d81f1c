"""The independent checker of certificates: this package and ``m2bridge/families/*/checker*``.

It computes the content of a certificate from scratch, by ``docs/checkers.md``, and compares it,
value by value, with the stored content. ``algebra`` has ranks and ideals, ``verify`` the
comparison, this file the form of a family's checker and the verdicts on statements.

*Taken on trust* (``docs/trust.md``): Python and FLINT (arithmetic, ranks, Gröbner bases), the
lemmas that a certificate lists as ``trusted``, and: rank conditions generate prime ideals (Bruns,
Vetter, *Determinantal Rings*); modulo a homogeneous ideal the last variable is not a zero divisor
if it divides no leading monomial, graded reverse lexicographic (Bayer, Stillman 1987), and the
Hilbert series is that modulo leading monomials; bounds for networks (docs/polynomial-networks.md).
What no theorem says, but only the program that made a certificate, or a count modulo primes, makes
it *accepted on trust*. Primes, points and other random numbers are the checker's own (``draws``).

*Shared* with the program that makes certificates: the form of the file
(``m2bridge.certificates.form``; strict JSON), the words of statements and lemmas and the formulas
next to them (``wording``, ``conditions``, ``families/*/words.toml``), errors, the number of the
release, and no mathematics: what statements are about is computed a second time, by other methods
where there are any. A wrong formula is refuted by both.

*Not checked*: the Macaulay2 program in a certificate, and the field ``reported``.

*Notation.* A *case* is one model of a family, such as a network with its widths; a *question* is
the key of statements about it, ``closure`` or ``equations``. An *observable* is the number or fact
that a statement predicts. The *content* of a certificate is its answer (the verdicts), its
evidence (the numbers from which they follow) and the lemmas that it takes on trust. The *words* of
a statement are its text and source, with its key, part and observable; a *wording* has the words of
all statements of a family, present and former ones, and of lemmas and hypotheses.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Wording, Words
from m2bridge.errors import CertificateError

METHODS_MODULO_PRIMES = {"slices"}
"""The methods whose numbers are known modulo primes only: these alone decide no statement."""


@dataclass(frozen=True, slots=True)
class FamilyChecker:
    """The checker of a family of models, whose name is ``family``.

    ``name`` returns the unique name of the case in a certificate, or raises CertificateError if
    there is no such case. ``questions`` has for the key of each question a function of the
    certificate, which computes the content of that certificate from scratch (of a Zariski closure:
    from the stored generators), or gives the first stored value that a check refutes; it may raise
    TooExpensiveError. ``wordings`` are those whose former words its certificates may have.
    """

    family: str
    name: Callable[[Mapping[str, Any]], str]
    questions: Mapping[str, Callable[[Certificate], Content | Difference]]
    wordings: tuple[Wording, ...] = ()

    def renewed(self, text: str) -> str:
        """Return the present words of a lemma or hypothesis; ``text`` if it is not former words."""
        for wording in self.wordings:
            text = wording.renewed(text)
        return text

    def renewed_source(self, source: str) -> str:
        """Return a source with its present beginning, if it has a former one."""
        for wording in self.wordings:
            source = wording.renewed_source(source)
        return source


def only_case(name: str) -> Callable[[Mapping[str, Any]], str]:
    """Return a function of a case, for a family whose only case, ``name``, is all sizes at once.

    For a case with numbers, which would be one of fixed sizes, it raises CertificateError.
    """

    def name_of(case: Mapping[str, Any]) -> str:
        """Return the name, if the case has no numbers."""
        if case:
            raise CertificateError("all sizes at once: no number names the case")
        return name

    return name_of


def verdict(words: Words, hypothesis: str | None, outcome: str, **values: Any) -> dict[str, Any]:
    """Return the verdict on one statement as the fields of a certificate.

    ``outcome`` is CONFIRMED, REFUTED or UNDECIDED. ``hypothesis`` has the words of the first
    hypothesis that fails, or None: if one fails the statement claims nothing, and the outcome is
    not used. Fields that are not among the ``values`` get None or [].
    """
    return {
        "part": words.part,
        "text": words.text,
        "source": words.source,
        "hypothesis": hypothesis,
        "verdict": "NOT_APPLICABLE" if hypothesis else outcome,
        "predicted": None,
        "observed": None,
        "concerned": None,
        "failing": [],
        "undecided": [],
        "witness": None,
    } | values


def excluding_bound(
    certificate: Certificate, words: Words, predicted: Any, lower: int, upper: int
) -> str | None:
    """Return the bound that a predicted number violates, as ``at most 43``, for a number that is
    not known exactly; None if it violates none.

    It is None, too, where the certificate leaves the number open, as in release 1.0.
    """
    listed = certificate.answer.get("verdicts")
    stored = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    is_left_open = any(
        one.get("text") == words.text and one.get("observed") is None for one in stored
    )
    if is_left_open or type(predicted) is not int or lower <= predicted <= upper:
        return None
    return f"at most {upper}" if predicted > upper else f"at least {lower}"


def global_verdict(
    words: Words,
    hypothesis: str | None,
    predicted: int | Sequence[int] | None,
    observed: int | str | Mapping[str, Sequence[int | None]] | None,
) -> dict[str, Any]:
    """Return the verdict on a statement that predicts a number, several numbers, or yes or no.

    A statement about special fibres is CONFIRMED also if none is observed. ``predicted`` is None
    where the statement has no meaning, and ``observed`` if the value was not decided: the verdict
    is then UNDECIDED. Several numbers are predicted as a list, and observed as {method: list of
    numbers}, with None for a number that the method does not find. Observed may be a bound that
    excludes the number (:func:`excluding_bound`).
    """
    # a statement about special fibres is true where there are none
    vacuous = words.observable == "special_fibre_points" and observed == 0
    if observed is None or predicted is None:
        outcome = "UNDECIDED"
    elif isinstance(predicted, Sequence) and isinstance(observed, Mapping):
        outcome = outcome_of_several(predicted, observed)
    elif vacuous or observed == predicted:
        outcome = "CONFIRMED"
    else:
        outcome = "REFUTED"
    return verdict(words, hypothesis, outcome, predicted=predicted, observed=observed)


def outcome_of_several(
    predicted: Sequence[int], observed: Mapping[str, Sequence[int | None]]
) -> str:
    """Return CONFIRMED, REFUTED or UNDECIDED for several numbers, observed by several methods.

    The statement is refuted if an exact method finds a different number, or a different count of
    numbers. Otherwise one exact method that finds all numbers confirms it, unless numbers that are
    known modulo primes only differ.
    """
    differing = set[str]()
    complete = set[str]()
    for method, numbers in observed.items():
        if len(predicted) != len(numbers):
            differing.add(method)
        for stated_number, seen_number in zip(predicted, numbers, strict=False):
            if seen_number is not None and seen_number != stated_number:
                differing.add(method)
        if None not in numbers:
            complete.add(method)
    if differing - METHODS_MODULO_PRIMES:
        return "REFUTED"
    if differing or not complete - METHODS_MODULO_PRIMES:
        return "UNDECIDED"
    return "CONFIRMED"


def statements(
    wording: Wording,
    listed: Sequence[Words],
    verdicts: Sequence[dict[str, Any]],
    evidence: dict[str, Any],
) -> Content:
    """Return the content of a certificate on the statements ``listed``, with the verdicts on them.

    It names the lemmas of all statements whose verdict is not UNDECIDED, each once; none without
    evidence, where nothing was computed.
    """
    lemmas: list[str] = []
    if evidence:
        for words, fields in zip(listed, verdicts, strict=True):
            if fields["verdict"] != "UNDECIDED":
                lemmas += wording.trusted[words.observable]
    return Content({"verdicts": list(verdicts)}, evidence, tuple(dict.fromkeys(lemmas)))
