"""The words of statements as data: what makes certificates and what checks them read both.

They share nothing else about statements: what one predicts, and its hypotheses, are written twice.
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
        Number in the paper, or name, and part of it.
    text : str
        The statement, with its hypotheses.
    source : str
        Where it is stated.
    observable : str
        What it is about: ``dimension``, ``singular``, … .
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
        By name why a statement does not apply.
    lemmas : dict of str to str
        By name.
    closure : dict of str to object
        By name what a Zariski closure rests on.
    phrases : dict of str to str
        Sets of cases in words, and the conditions that they are short for.
    former : tuple of Words
        Statements in the words of former certificates, which are decided all the same.
    remarks : dict of str to str
        By name: what independent methods agree on, how a formula is called, and the like.
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
        """All that is said of this statement and of verdicts on it, by names of fields."""
        words = self.words(key, part)
        return asdict(words) | {
            "computed": self.computed[words.observable],
            "trusted": self.trusted[words.observable],
        }


@cache
def wording(path: Path) -> Wording:
    """The words in the file ``words.toml`` of a family."""
    data = tomllib.loads(path.read_text(encoding="utf-8"))
    # what is computed for several observables stands once, and has a name there
    computations = data.get("computations", {})
    lemmas = data["lemmas"]
    computed, trusted = {}, {}
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
