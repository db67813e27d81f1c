"""The words of statements as data: what makes certificates and what checks them read both.

They share nothing else about statements: what one predicts, and its hypotheses, are written twice.

*Notation.* A *statement* is a theorem, or what is claimed to be one, about all models of a family.
It has a *key*, its number in the paper or its name in docs/statements.md, and a *part* where there
are several with a key. Its *observable* is what it is about: a number or a fact that can be
computed for one model. A *lemma* is what a verdict takes on trust. Words have a *version*, which a
certificate does not name: it is the one whose words stand there. Former words stay beside the
present ones, so that certificates that have them are still verified.
"""

import re
import tomllib
from collections.abc import Mapping
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
    machine_checked : str
        What of it a machine has checked for all sizes, and where; empty if nothing.
    version : int
        1 for the first words of the statement, and one more for each later text or source.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    machine_checked: str = ""
    version: int = 1


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
    reworded : dict of str to str
        For the former words of a lemma or a hypothesis the present ones.
    remarks : dict of str to str
        For the name of each remark its words: what independent methods agree on, how a formula is
        called, and the like.
    """

    statements: tuple[Words, ...]
    former: tuple[Words, ...]
    reworded: dict[str, str]
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

    def listed(self, key: str, answer: Mapping[str, Any]) -> tuple[Words, ...]:
        """The statements with this key, each in the version whose words stand in ``answer``.

        ``answer`` is that of a certificate, and has not been looked at before. A statement whose
        words there are of no version is listed in its present ones, so that they are compared.
        """
        listed = []
        for words in self.about(key):
            for former in self.former:
                if (former.key, former.part) == (key, words.part) and _stands_in(answer, former):
                    words = former
            listed.append(words)
        return tuple(listed)

    def renewed(self, text: str) -> str:
        """The present words of a lemma or a hypothesis, if ``text`` is its former words.

        Any other text is given back as it is.
        """
        for former, present in self.reworded.items():
            found = _pattern(former).fullmatch(text)
            if found:
                for name, numbers in found.groupdict().items():
                    present = present.replace(f"{{{name}}}", numbers)
                return present
        return text

    def words(self, key: str, part: str) -> Words:
        """The statement with this key and part; KeyError if there is none."""
        for words in self.about(key):
            if words.part == part:
                return words
        raise KeyError((key, part))

    def fields(self, key: str, part: str) -> dict[str, Any]:
        """All that is said of the statement with this key and part, and of verdicts on it.

        It has the fields of :class:`Words` but the version, and what is ``computed`` and
        ``trusted`` for a verdict.
        """
        words = self.words(key, part)
        fields = asdict(words) | {
            "computed": self.computed[words.observable],
            "trusted": self.trusted[words.observable],
        }
        del fields["version"]
        return fields


# Where a number of the case, or several with commas, stands in the words of a hypothesis.
_PLACE = re.compile(r"\{(?P<name>[a-z]+)\}")
_NUMBERS = r"[0-9, ]{1,200}"


@cache
def _pattern(words: str) -> re.Pattern[str]:
    """What has these words, whatever numbers stand in their places."""
    pattern = ""
    end = 0
    for place in _PLACE.finditer(words):
        pattern += re.escape(words[end : place.start()])
        pattern += f"(?P<{place['name']}>{_NUMBERS})"
        end = place.end()
    return re.compile(pattern + re.escape(words[end:]))


def _stands_in(answer: Mapping[str, Any], words: Words) -> bool:
    """Whether a verdict in the answer of a certificate is one on a statement in these words."""
    verdicts = answer.get("verdicts")
    if not isinstance(verdicts, list):
        return False
    for verdict in verdicts:
        if isinstance(verdict, Mapping):
            said = verdict.get("text"), verdict.get("source")
            if said == (words.text, words.source):
                return True
    return False


@cache
def wording(path: Path) -> Wording:
    """The words of all statements about a family, from its file ``words.toml``."""
    data = _read(path)
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
        reworded=_reworded(data),
        computed=computed,
        trusted=trusted,
        hypotheses=data.get("hypotheses", {}),
        lemmas=lemmas,
        closure=data.get("closure", {}),
        phrases=data.get("phrases", {}),
        remarks=data.get("remarks", {}),
    )


def _read(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _reworded(data: Mapping[str, Any]) -> dict[str, str]:
    """For the former words of a lemma or a hypothesis the present ones, which have its name."""
    reworded = {}
    for kind in ("lemmas", "hypotheses", "closure"):
        for name, texts in data.get(f"former-{kind}", {}).items():
            for text in texts:
                reworded[text] = data[kind][name]
    return reworded
