"""The sizes (d, d', a) for which a statement about single-layer attention is true, false, not
decided or vacuous, and those to which it does not apply: as sets of isl, as data, and in words.

In data, of :meth:`SizeSets.data` or of a certificate, sets have their names ("holds_for" and so on)
and a form of their own: ``is_empty`` and ``in_words`` are functions of a set in this form.
``added`` are the hypotheses, in the words of the data, that m2bridge adds to a statement; where
only these fail, the conclusion is the statement as printed.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import islpy as isl

from m2bridge.crosscheck.scope import ADDED_HYPOTHESIS, VerdictScope
from m2bridge.families.attention.all_sizes import integer_sets
from m2bridge.families.attention.all_sizes.base_ideals import NONE
from m2bridge.results.base import Decision
from m2bridge.results.sheet import matrix_text

Json = dict[str, Any]

# The answer that a statement has on each of its sets of sizes, by the name of the set in data.
ANSWER_ON_SET = {
    "fails_for": "false",
    "undecided_for": "not decided",
    "holds_for": "true",
    "vacuous_for": "vacuous",
}

# The phrase for the empty set of sizes.
NOWHERE = "no size"

# The answer on sizes to which a statement does not apply.
OUTSIDE = "does not apply"
FALSE_AS_PRINTED = f"{OUTSIDE}; as printed false"


@dataclass(frozen=True, slots=True, kw_only=True)
class NotApplicable:
    """Sizes to which a statement does not apply, and whether its conclusion holds there."""

    sizes: isl.Set
    reason: str  # the hypothesis that fails
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    added: bool = False  # whether m2bridge adds this hypothesis


@dataclass(frozen=True, slots=True, kw_only=True)
class SizeSets(VerdictScope):
    """The sizes for which a statement is true, false, not decided, vacuous, or does not apply.

    The verdict is REFUTED if the statement is false for some size to which it applies; else
    UNDECIDED if it is not decided for some such size; else CONFIRMED.
    """

    # together all sizes to which the statement applies
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    # the sizes among ``holds_for`` without any function that the statement is about
    vacuous_for: isl.Set
    # one for each hypothesis: the sizes where it is the first that fails
    not_applicable: tuple[NotApplicable, ...]
    # The first size for which the statement is false, as "d", "d_out" and "a"; the largest "orbit"
    # where it is false, None for a statement that is not about orbits, with weights "A" and "V" of
    # a function there; and "numbers" that show it, such as the dimension. None if it is nowhere
    # false.
    witness: Json | None = None
    is_printed: bool = False  # whether a source prints the statement

    @property
    def failing(self) -> isl.Set:
        """The sizes for which the statement is false though it applies."""
        return self.fails_for

    @property
    def undecided(self) -> isl.Set:
        """The sizes to which the statement applies, and for which it is not decided."""
        return self.undecided_for

    @property
    def decision(self) -> Decision:
        """The verdict that follows from these sets."""
        if not self.fails_for.is_empty():
            return Decision.REFUTED
        return Decision.CONFIRMED if self.undecided_for.is_empty() else Decision.UNDECIDED

    @property
    def as_printed(self) -> bool | None:
        """Whether the statement is true as printed for all sizes that its source speaks of."""
        if not self.is_printed:
            return None
        added = {exclusion.reason for exclusion in self.not_applicable if exclusion.added}
        return as_printed(self.data(lambda size_set: size_set), isl.Set.is_empty, added)

    def partition(self) -> dict[str, isl.Set]:
        """The sizes by what is said of the statement there: disjoint sets, together all sizes.
        Where it is vacuous it is true, but listed as ``vacuous`` alone.
        """
        # NONE, as a union has to be one of at least one set
        excluded_sets = [NONE, *(exclusion.sizes for exclusion in self.not_applicable)]
        return {
            "true": self.holds_for.subtract(self.vacuous_for),
            "false": self.fails_for,
            "not decided": self.undecided_for,
            "vacuous": self.vacuous_for,
            OUTSIDE: integer_sets.union(excluded_sets),
        }

    def sizes_by_line(self) -> dict[str, isl.Set]:
        """The partition for a table, where "does not apply" is refined: where only an added
        hypothesis fails, the line says what is so as printed.
        """
        lines = self.partition()
        for exclusion in self.not_applicable:
            if not exclusion.added:
                continue
            lines[OUTSIDE] = lines[OUTSIDE].subtract(exclusion.sizes)
            lines[FALSE_AS_PRINTED] = exclusion.fails_for
            lines[f"{OUTSIDE}; as printed true"] = exclusion.holds_for
            lines[f"{OUTSIDE}; as printed not decided"] = exclusion.undecided_for
        return lines

    def data(self, form: Callable[[isl.Set], Any]) -> Json:
        """Return the sets of sizes by their names, each converted by ``form``, with an entry for
        each hypothesis in ``not_applicable`` and the witness as ``counterexample``.
        """
        exclusions = []
        for exclusion in self.not_applicable:
            entry = {
                "hypothesis": exclusion.reason,
                "sizes": form(exclusion.sizes),
                "holds_for": form(exclusion.holds_for),
                "fails_for": form(exclusion.fails_for),
                "undecided_for": form(exclusion.undecided_for),
            }
            exclusions.append(entry)
        answers = {name: form(getattr(self, name)) for name in ANSWER_ON_SET}
        return {**answers, "not_applicable": exclusions, "counterexample": self.witness}

    def to_data(self) -> Json:
        """Return the scope with the canonical texts of its sets of sizes; MethodUnavailableError if
        a set has none.
        """
        return self.data(integer_sets.canonical)

    def to_json(self) -> Json:
        """Return the scope with its sets of sizes in words and exactly.

        Where a hypothesis fails, the sets say where the conclusion holds: so they are called
        ``conclusion_holds_for`` and so on. ``added`` says whether m2bridge adds the hypothesis, so
        that they are the sizes where the statement is true as printed, and so on.
        """

        def both_forms(size_set: isl.Set) -> dict[str, str]:
            """A set of sizes in words, and in the library's language."""
            return {"words": integer_sets.words(size_set), "isl": integer_sets.text(size_set)}

        data = self.data(both_forms)
        renamed_exclusions = []
        exclusions = zip(data["not_applicable"], self.not_applicable, strict=True)
        for exclusion, sets in exclusions:
            renamed = {"reason": exclusion.pop("hypothesis"), "sizes": exclusion.pop("sizes")}
            # ``holds_for``, ``fails_for`` and ``undecided_for`` are left in the entry, which
            # ``data`` has made for this call alone
            renamed |= {f"conclusion_{name}": value for name, value in exclusion.items()}
            renamed["added"] = sets.added
            renamed_exclusions.append(renamed)
        return data | {"not_applicable": renamed_exclusions}

    def reasons(self) -> list[str]:
        """Return lines of text: for which sizes the statement is true, false and so on, and last
        the first counterexample, if there is one.
        """
        added = {exclusion.reason for exclusion in self.not_applicable if exclusion.added}
        lines = reasons(self.data(integer_sets.words), str, added)
        if self.witness is not None:
            lines.append(f"the first counterexample: {counterexample_text(self.witness)}")
        return lines


def as_printed(data: Json, is_empty: Callable[[Any], bool], added: Collection[str]) -> bool | None:
    """Return whether a statement is true as printed for all sizes that its source speaks of: where
    it applies, and where the first hypothesis that fails is one of ``added``.

    ``None`` if it is false for none of them, and not decided for some.
    """
    exclusions = data["not_applicable"]
    parts = [data, *(exclusion for exclusion in exclusions if exclusion["hypothesis"] in added)]
    if not all(is_empty(part["fails_for"]) for part in parts):
        return False
    if not all(is_empty(part["undecided_for"]) for part in parts):
        return None
    return True


def reasons(data: Json, in_words: Callable[[Any], str], added: Collection[str] = ()) -> list[str]:
    """Return in words for which sizes a statement is true, and where it does not apply, with what
    is true there of the conclusion, or of the statement as printed.
    """
    lines = []
    for answer, where in _sizes_by_answer(data, in_words).items():
        lines.append(f"{answer} for {where}")
    for exclusion in data["not_applicable"]:
        sizes_by_answer = _sizes_by_answer(exclusion, in_words)
        conclusion = ", ".join(f"{answer} for {where}" for answer, where in sizes_by_answer.items())
        if len(sizes_by_answer) == 1:
            # The answer is that for all of these sizes, which need not be repeated.
            (conclusion,) = sizes_by_answer
        hypothesis = exclusion["hypothesis"]
        where = in_words(exclusion["sizes"])
        if hypothesis in added:
            exclusion_text = f"{OUTSIDE} for {where} ({hypothesis}; {ADDED_HYPOTHESIS})"
            lines.append(f"{exclusion_text}, where as printed it is {conclusion}")
        else:
            exclusion_text = f"{OUTSIDE} for {where} ({hypothesis})"
            holds = {"true": "holds", "false": "fails"}.get(conclusion, f"is {conclusion}")
            lines.append(f"{exclusion_text}, where the conclusion {holds}")
    return lines


def _sizes_by_answer(data: Json, in_words: Callable[[Any], str]) -> dict[str, str]:
    """The answers ``true``, ``false``, … that occur for some size, each with its sizes in words."""
    texts = {}
    for name, answer in ANSWER_ON_SET.items():
        if name not in data:  # where a statement does not apply, nothing is vacuous
            continue
        where = in_words(data[name])
        if where != NOWHERE:
            texts[answer] = where
    return texts


def counterexample_text(witness: Json | None) -> str:
    """Return the first size for which a statement is false in words, with orbit and weights if it
    is about orbits; empty without a witness (of :class:`SizeSets`).
    """
    if witness is None:
        return ""
    where = f"(d, d', a) = ({witness['d']}, {witness['d_out']}, {witness['a']})"
    if witness["orbit"] is None:
        return where
    r, s, m = (witness["orbit"][name] for name in ("r", "s", "m"))
    orbit = f"orbit ({r}, {s}, {m})"
    weights = [f"{name} = {matrix_text(witness[name])}" for name in ("A", "V")]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in witness["numbers"].items()]
    return ", ".join((where, orbit, *weights, *numbers))
