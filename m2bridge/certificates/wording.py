"""The words of statements as data: what makes certificates and what checks them read both.

They share nothing else about statements: what one predicts, and its hypotheses, are written twice.

*Notation.* A *statement* is a theorem, or what is claimed to be one, about all models of a family.
It has a *key*, its number in the paper or its name in docs/statements.md, and a *part* where there
are several with a key. Its *observable* is what it is about: a number or a fact that can be
computed for one model. A *lemma* is what a verdict takes on trust.
"""

import tomllib
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Words:
    """One statement in words.

    Parameters
    ----------
    key, part : str
        The number of the statement in the paper, or its name; and which part of it, empty if it is
        the only one.
    text : str
        The statement, with its hypotheses.
    source : str
        Where the statement is made.
    observable : str
        The name of what the statement is about: ``dimension``, ``singular``, … .
    """

    key: str
    part: str
    text: str
    source: str
    observable: str


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of all statements about a family.

    Parameters
    ----------
    statements : tuple of Words
    computed, trusted : dict of str to tuple of str
        For each observable what is computed for a verdict on it, and the lemmas on which the
        verdict rests.
    hypotheses : dict of str to str
        For the name of each hypothesis why a statement does not apply where that hypothesis fails.
    lemmas : dict of str to str
        For the name of each lemma its words, with the place of its proof.
    closure : dict of str to object
        For the name of each way to compute a Zariski closure the names of the lemmas, or the words,
        of what it takes on trust.
    phrases : dict of str to str
        Sets of cases in words, and the conditions that they are short for.
    former : tuple of Words
        Statements in the words of former certificates, which are decided all the same.
    remarks : dict of str to str
        For the name of each remark its words: what independent methods agree on, how a formula is
        called, and the like.
    """

    statements: tuple[Words, ...]
    former: tuple[Words, ...]
    computed: dict[str, tuple[str, ...]]
    trusted: dict[str, tuple[str, ...]]
    hypotheses: dict[str, str]
    lemmas: dict[str, str]
    closure: dict[str, Any]
    phrases: dict[str, str]
    remarks: dict[str, str]

    def about(self, key: str) -> tuple[Words, ...]:
        """The statements with this key, in their order."""
        return tuple(words for words in self.statements if words.key == key)

    def words(self, key: str, part: str) -> Words:
        """The statement with this key and part; KeyError if there is none."""
        for words in self.about(key):
            if words.part == part:
                return words
        raise KeyError((key, part))

    def fields(self, key: str, part: str) -> dict[str, Any]:
        """All that is said of the statement with this key and part, and of verdicts on it.

        It has the fields of :class:`Words`, and what is ``computed`` and ``trusted`` for a verdict.
        """
        words = self.words(key, part)
        return asdict(words) | {
            "computed": self.computed[words.observable],
            "trusted": self.trusted[words.observable],
        }


@cache
def wording(path: Path) -> Wording:
    """The words of all statements about a family, from its file ``words.toml``."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    # what is computed for several observables stands once, and has a name there
    computations = data.get("computations", {})
    lemmas = data["lemmas"]
    computed = {}
    trusted = {}
    for observable, entry in data["observables"].items():
        parts = entry.get("computed", ())
        computed[observable] = tuple(computations.get(part, part) for part in parts)
        trusted[observable] = tuple(lemmas[name] for name in entry["trusted"])
    return Wording(
        statements=tuple(Words(**words) for words in data.get("statements", ())),
        former=tuple(Words(**words) for words in data.get("former", ())),
        computed=computed,
        trusted=trusted,
        hypotheses=data.get("hypotheses", {}),
        lemmas=lemmas,
        closure=data.get("closure", {}),
        phrases=data.get("phrases", {}),
        remarks=data.get("remarks", {}),
    )
