"""The wording of statements as data, read by the maker of certificates and by the checker.

A statement stands here once, as words and, beside them, as formulas in the language of
conditions.py. What maker and checker compare it with, each computes in its own way.

*Notation.* A *statement* is a theorem, or a claim, about all models of a family. It has a *key*,
its number in the paper or its name in docs/statements.md, and a *part* if several statements share
a key. Its *observable* is the number or fact about a model that it predicts. A *lemma* is a result
that a verdict takes on trust. Words have a *version*, which a certificate does not name; it follows
from the words in the certificate. Former words stay next to the present ones, so that
certificates that contain them can still be verified.
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
        The number of the statement in the paper, or its name; and its part, empty if there is only
        one.
    text : str
        The statement, with its hypotheses.
    source : str
        The place where the statement is made.
    observable : str
        The name of the quantity that the statement is about: ``dimension``, ``singular``, … .
    machine_checked : str
        The part of it that is formally verified for all sizes, and where; empty if none is.
    version : int
        1 for the first words of the statement, and one more for each later text or source.
    assumes, printed : tuple of str
        The names of its hypotheses, in the order of checks; and of those that its source prints,
        ``None`` if no source prints it in these words.
    orbits, value : str
        The condition for an orbit to be one that it is about, empty if it is about the whole; and
        the formula for the value that it predicts, empty if none is written.
    as_property : str
        For all sizes, the observable as yes or no, of which the statement says yes; empty if it is
        ``observable``, whose value it predicts.
    """

    key: str
    part: str
    text: str
    source: str
    observable: str
    machine_checked: str = ""
    version: int = 1
    assumes: tuple[str, ...] = ()
    printed: tuple[str, ...] | None = None
    orbits: str = ""
    value: str = ""
    as_property: str = ""


_FORMULAS = ("version", "assumes", "printed", "orbits", "value", "as_property")
"""The fields of Words that are not fields of a ``Statement``."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The words of all statements about a family.

    Parameters
    ----------
    statements : tuple of Words
    computed, trusted : dict of str to tuple of str
        For each observable the computations for a verdict on it, and the lemmas on which the
        verdict rests.
    hypotheses : dict of str to str
        For the name of each hypothesis the reason why a statement does not apply if it fails.
    conditions : dict of str to str
        For the name of a hypothesis the condition that it is.
    lemmas : dict of str to str
        For the name of each lemma its words, with the place of its proof.
    closure : dict of str to object
        For each method to compute a Zariski closure the lemmas that it takes on trust, by name or
        in words.
    phrases : dict of str to str
        Sets of cases in words, with the conditions that they abbreviate.
    former : tuple of Words
        Statements in former words, so that certificates with these words are still verified.
    reworded : dict of str to str
        For the former words of a lemma or a hypothesis the present ones.
    former_sources : dict of str to str
        For the former beginning of sources the present one.
    remarks : dict of str to str
        For the name of each remark its words: agreement of independent methods, names of
        formulas, and the like.
    """

    statements: tuple[Words, ...]
    former: tuple[Words, ...]
    reworded: dict[str, str]
    former_sources: dict[str, str]
    computed: dict[str, tuple[str, ...]]
    trusted: dict[str, tuple[str, ...]]
    hypotheses: dict[str, str]
    conditions: dict[str, str]
    lemmas: dict[str, str]
    closure: dict[str, Any]
    phrases: dict[str, str]
    remarks: dict[str, str]

    def about(self, key: str) -> tuple[Words, ...]:
        """Return the statements with this key, in their present words, in the order of the file."""
        return tuple(words for words in self.statements if words.key == key)

    def listed(self, key: str, answer: Mapping[str, Any]) -> tuple[Words, ...]:
        """Return the statements with this key, each in the version whose words are in ``answer``.

        ``answer`` is the answer of a certificate, which nothing has checked. If the words of a
        statement in it belong to no version, the statement is listed in its present words, so that
        the comparison with the answer shows the difference.
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
        words then have too. Any other text is returned unchanged.
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
        """Return whether the answer of a certificate has a verdict on a statement in these words.

        A source may have its former beginning.
        """
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
        """Return the words of the statement with this key and part, as fields of a ``Statement``.

        They are the fields of :class:`Words` without its formulas and version, and ``computed`` and
        ``trusted`` for verdicts on it.
        """
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
    """Return a regular expression for these words with any numbers in place of the placeholders.

    ``the widths {widths} differ`` also fits ``the widths 2, 3 differ``: a placeholder ``{name}``
    becomes a group with its name.
    """
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
    data = _read(path)
    return Wording(
        statements=tuple(_words(fields) for fields in data.get("statements", ())),
        former=tuple(_words(fields) for fields in data.get("former", ())),
        reworded=_present_by_former_words(data),
        former_sources=data.get("former-sources", {}),
        computed=_computed_by_observable(data),
        trusted=_trusted_by_observable(data),
        hypotheses=data.get("hypotheses", {}),
        conditions=data.get("conditions", {}),
        lemmas=data["lemmas"],
        closure=data.get("closure", {}),
        phrases=data.get("phrases", {}),
        remarks=data.get("remarks", {}),
    )


def _words(fields: Mapping[str, Any]) -> Words:
    """Return a statement from its fields in the file, with tuples in place of lists."""
    frozen: dict[str, Any] = dict(fields)
    for name in ("assumes", "printed"):
        if name in fields:
            frozen[name] = tuple(fields[name])
    return Words(**frozen)


def _computed_by_observable(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return for each observable what is computed for a verdict on it, in words.

    ``data`` is the content of a file ``words.toml``. In it an observable has a list: each entry is
    the name of a computation, whose words are under ``computations`` once for several observables,
    or the words themselves.
    """
    words_by_name = data.get("computations", {})
    computed = {}
    for observable, entry in data["observables"].items():
        names_or_words = entry.get("computed", ())
        computed[observable] = tuple(words_by_name.get(text, text) for text in names_or_words)
    return computed


def _trusted_by_observable(data: Mapping[str, Any]) -> dict[str, tuple[str, ...]]:
    """Return for each observable the lemmas on which a verdict on it rests, in words.

    ``data`` is the content of a file ``words.toml``, where an observable has their names.
    """
    lemmas = data["lemmas"]
    trusted = {}
    for observable, entry in data["observables"].items():
        trusted[observable] = tuple(lemmas[name] for name in entry["trusted"])
    return trusted


def _read(path: Path) -> dict[str, Any]:
    """Return the content of a TOML file."""
    return tomllib.loads(path.read_text(encoding="utf-8"))


def _present_by_former_words(data: Mapping[str, Any]) -> dict[str, str]:
    """Return {former words: present words} for all lemmas, hypotheses and closures.

    ``data`` is the content of a file ``words.toml``. In it ``former-lemmas`` maps the name of a
    lemma to the list of its former texts, and ``lemmas`` to its present text; hypotheses and
    closures are kept in the same way.
    """
    reworded = {}
    for kind in ("lemmas", "hypotheses", "closure"):
        for name, former_texts in data.get(f"former-{kind}", {}).items():
            for former in former_texts:
                reworded[former] = data[kind][name]
    return reworded
