"""The wording of statements as data, read by the maker of certificates and by the checker.

A statement stands here once, as words and as formulas in the language of conditions.py.
The maker and the checker compare it with values that each computes in its own way.

*Notation.* A *statement* is a theorem, or a claim, about all models of a family. It has a *key*,
its number in the paper or its name in docs/statements.md, and a *part* if several statements share
a key. Its *observable* is the number or fact about a model that it predicts. A *lemma* is a result
that a verdict takes on trust. Words have a *version*, which a certificate does not name; it follows
from the words in the certificate. Former words stay next to the present ones, so that
certificates that contain them can still be verified.
"""

import re
import tomllib
from collections import ChainMap
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

from m2bridge.certificates import conditions
from m2bridge.certificates.conditions import NumbersByName
from m2bridge.errors import ResourceError


@dataclass(frozen=True, slots=True)
class Words:
    """One statement in words, and its formulas, in the language of ``conditions``."""

    key: str
    part: str
    text: str
    source: str
    observable: str
    machine_checked: str = ""  # the part of it that is formally verified, and where
    version: int = 1  # of its first words, and one more for each later text or source
    # its formulas, in the language of conditions.py: the names of its hypotheses, in the order of
    # checks, and of those that its source prints, None if no source prints it in these words
    assumes: tuple[str, ...] = ()
    printed: tuple[str, ...] | None = None
    orbits: str = ""  # the condition for an orbit to be one that it is about; empty: the whole
    value: str = ""  # the value that it predicts; empty if that is not a formula
    each_layer: str = ""  # what each layer of a network adds to this value
    # the hypotheses without which the value has no meaning; None for all of them
    meaning: tuple[str, ...] | None = None
    # for all sizes, the observable as yes or no, of which the statement says yes
    as_property: str = ""


_FORMULAS = (
    "version",
    "assumes",
    "printed",
    "orbits",
    "value",
    "each_layer",
    "meaning",
    "as_property",
)
"""The fields of Words that are not fields of a ``Statement``."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of all statements about a family; its dictionaries are by names."""

    statements: tuple[Words, ...]
    former: tuple[Words, ...]  # statements in former words
    reworded: dict[str, str]  # the present words of a lemma or a hypothesis by the former ones
    former_sources: dict[str, str]  # the present beginning of sources by the former one
    # for each observable the computations for a verdict on it, and the lemmas behind the verdict
    computed: dict[str, tuple[str, ...]]
    trusted: dict[str, tuple[str, ...]]
    hypotheses: dict[str, str]  # why a statement does not apply if one fails
    conditions: dict[str, str]  # when each of them holds
    lemmas: dict[str, str]  # words, with the place of the proof
    closure: dict[str, Any]  # what each method to compute a closure takes on trust
    phrases: dict[str, str]  # sets of cases in words, with the conditions that they abbreviate
    remarks: dict[str, str]  # agreement of independent methods, names of formulas, and the like

    def __post_init__(self) -> None:
        """Raise ResourceError if a statement has a hypothesis or an observable without words."""
        for words in self.statements:
            where = f"words.toml, statement '{words.key}'"
            for name in (*words.assumes, *(words.printed or ()), *(words.meaning or ())):
                if name not in self.hypotheses or name not in self.conditions:
                    raise ResourceError(f"{where}: no words or no condition of '{name}'")
            if words.observable not in self.computed:
                raise ResourceError(f"{where}: no observable '{words.observable}'")

    def about(self, key: str) -> tuple[Words, ...]:
        """Return the statements with this key, in their present words, in the order of the file."""
        return tuple(words for words in self.statements if words.key == key)

    def failing(self, names: Iterable[str], numbers: NumbersByName) -> list[str]:
        """Return which of these hypotheses fail for a case, in words with its numbers."""
        failing = [name for name in names if not conditions.value(self.conditions[name], numbers)]
        # placeholders in the words become numbers of the case
        return [
            _PLACEHOLDER.sub(lambda match: str(numbers[match["name"]]), self.hypotheses[name])
            for name in failing
        ]

    def predicted(self, words: Words, numbers: dict[str, Any]) -> Any:
        """Return what a statement predicts of a case with these numbers, of which ``layers`` has
        the numbers of each layer; ``None`` where the prediction has no meaning.
        """
        meaning = words.assumes if words.meaning is None else words.meaning
        if self.failing(meaning, numbers):
            return None
        predicted = conditions.value(words.value, numbers)
        if words.each_layer:
            for layer in numbers["layers"]:
                predicted += conditions.value(words.each_layer, ChainMap(layer, numbers))
        return predicted

    def listed(self, key: str, answer: Mapping[str, Any]) -> tuple[Words, ...]:
        """Return the statements with this key, each in the version whose words are in ``answer``.

        Nothing has checked the answer. If the words of a statement in it belong to no version, the
        statement is listed in its present words, so that the comparison with the answer shows the
        difference.
        """
        listed_words = []
        for present in self.about(key):
            words = present
            for former in self.former:
                is_same_statement = (former.key, former.part) == (key, present.part)
                if is_same_statement and self._has_verdict_on(answer, former):
                    words = former
            listed_words.append(words)
        return tuple(listed_words)

    def renewed(self, text: str) -> str:
        """Return the present words of a lemma or hypothesis, if ``text`` is its former words.

        Words can have placeholders such as ``{widths}`` for numbers of the case, which the present
        words then have too.
        """
        for former, present in self.reworded.items():
            match = _pattern(former).fullmatch(text)
            if match is not None:
                # each group of the match is a placeholder, with the numbers in its place
                renewed_text = present
                for name, numbers in match.groupdict().items():
                    renewed_text = renewed_text.replace(f"{{{name}}}", numbers)
                return renewed_text
        return text

    def renewed_source(self, source: str) -> str:
        """Return a source with its present beginning, if it has a former one."""
        for former, present in self.former_sources.items():
            if source.startswith(former):
                return present + source.removeprefix(former)
        return source

    def _has_verdict_on(self, answer: Mapping[str, Any], words: Words) -> bool:
        """Return whether an answer has a verdict on a statement in these words."""
        verdicts = answer.get("verdicts")
        if not isinstance(verdicts, list):
            return False
        for verdict in verdicts:
            if not isinstance(verdict, Mapping) or verdict.get("text") != words.text:
                continue
            source = verdict.get("source")
            if isinstance(source, str) and self.renewed_source(source) == words.source:
                return True
        return False

    def words(self, key: str, part: str) -> Words:
        """Return the statement with this key and part; raise KeyError if there is none."""
        for words in self.about(key):
            if words.part == part:
                return words
        raise KeyError((key, part))

    def fields(self, key: str, part: str) -> dict[str, Any]:
        """Return the words of a statement as fields of a ``Statement``, without its formulas."""
        words = self.words(key, part)
        fields = asdict(words) | {
            "computed": self.computed[words.observable],
            "trusted": self.trusted[words.observable],
        }
        for name in _FORMULAS:
            del fields[name]
        return fields


# A placeholder in the words of a hypothesis, for one or several numbers of the case.
_PLACEHOLDER = re.compile(r"\{(?P<name>[a-z]+)\}")
_NUMBERS = r"[0-9, ]{1,200}"


@cache
def _pattern(words: str) -> re.Pattern[str]:
    """Return a regular expression for these words with any numbers in place of the placeholders."""
    pattern = ""
    # the end of the last placeholder
    end = 0
    for placeholder in _PLACEHOLDER.finditer(words):
        pattern += re.escape(words[end : placeholder.start()])
        pattern += f"(?P<{placeholder['name']}>{_NUMBERS})"
        end = placeholder.end()
    return re.compile(pattern + re.escape(words[end:]))


@cache
def wording(path: Path) -> Wording:
    """Return the wording of all statements about a family, from its file ``words.toml``."""
    return _of_data(tomllib.loads(path.read_text(encoding="utf-8")))


def _of_data(data: Mapping[str, Any]) -> Wording:
    """Return the wording that the contents of such a file are."""
    lemmas = data["lemmas"]
    # words that are shared by several observables have a name
    computations = data.get("computations", {})
    computed, trusted = {}, {}
    for observable, entry in data["observables"].items():
        names_or_words = entry.get("computed", ())
        computed[observable] = tuple(computations.get(text, text) for text in names_or_words)
        trusted[observable] = tuple(lemmas[name] for name in entry["trusted"])
    # ``former-lemmas`` maps the name of a lemma to the list of its former texts, and so on
    reworded: dict[str, str] = {}
    for kind in ("lemmas", "hypotheses", "closure"):
        for name, former_texts in data.get(f"former-{kind}", {}).items():
            reworded |= dict.fromkeys(former_texts, data[kind][name])
    return Wording(
        statements=tuple(map(_words, data.get("statements", ()))),
        former=tuple(map(_words, data.get("former", ()))),
        reworded=reworded,
        former_sources=data.get("former-sources", {}),
        computed=computed,
        trusted=trusted,
        hypotheses=data.get("hypotheses", {}),
        conditions=data.get("conditions", {}),
        lemmas=lemmas,
        closure=data.get("closure", {}),
        phrases=data.get("phrases", {}),
        remarks=data.get("remarks", {}),
    )


def _words(fields: Mapping[str, Any]) -> Words:
    """Return a statement from its fields in the file, with tuples in place of lists."""
    frozen: dict[str, Any] = dict(fields)
    for name in ("assumes", "printed", "meaning"):
        if name in fields:
            frozen[name] = tuple(fields[name])
    return Words(**frozen)
