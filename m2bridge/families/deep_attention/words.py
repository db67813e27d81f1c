"""Sums of words in matrices and their transposes: identities between them hold for matrices of all sizes.

A network of lightning attention is evaluated in them like in any other number system, so that its function is a sum of
words in the A, the V, X and their transposes.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from m2bridge.families.deep_attention.network import Head, Layer
from m2bridge.families.deep_attention.number_systems import Lightning

_TRANSPOSED = 1 << 19
"""The bit by which the letter of a transpose differs."""


@dataclass(frozen=True, slots=True)
class Words:
    """A sum of words with powers of a number c as coefficients.

    Parameters
    ----------
    terms : frozenset
        ((word, power of c), how often).
    """

    terms: frozenset[tuple[tuple[str, int], int]]

    @classmethod
    def letter(cls, number: int, power: int = 0) -> Words:
        """A matrix, times a power of c."""
        return cls.counted({(chr(number), power): 1})

    @classmethod
    def one(cls) -> Words:
        """The unit matrix, the empty word."""
        return cls.counted({("", 0): 1})

    @classmethod
    def counted(cls, terms: dict[tuple[str, int], int]) -> Words:
        """From how often each term occurs."""
        return cls(frozenset(terms.items()))

    def __mul__(self, other: Words) -> Words:
        found = Counter[tuple[str, int]]()
        for (first, power), count in self.terms:
            for (second, more), times in other.terms:
                found[first + second, power + more] += count * times
        return Words.counted(found)

    def __add__(self, other: Words) -> Words:
        return Words.counted(Counter(dict(self.terms)) + Counter(dict(other.terms)))

    @property
    def length(self) -> int:
        """Of the longest word."""
        return max(len(word) for (word, _), _ in self.terms)

    def degree(self, letter: Words) -> int:
        """How often a letter, not transposed, is in a word, at most."""
        (((name, _), _),) = letter.terms
        return max(word.count(name) for (word, _), _ in self.terms)

    def transpose(self) -> Words:
        """Each word backwards, each letter transposed."""
        return Words.counted({(_transposed(word), power): count for (word, power), count in self.terms})


def _transposed(word: str) -> str:
    return "".join(chr(ord(letter) ^ _TRANSPOSED) for letter in reversed(word))


class WordSystem(Lightning):
    """The number system of words: matrices are letters, and have no entries."""

    __slots__ = ()

    def matrix(self, rows: object) -> Words:
        """Matrices are made by :meth:`Words.letter`."""
        raise TypeError("a word has no entries")


X = Words.letter(1)


def layer(number: int, heads: int = 1, scaled: bool = False) -> Layer:
    """A layer, counted from 0, of letters; with c·V and A/c in place of those of the first head if ``scaled``."""
    names = [2 + 2 * (number * heads + h) for h in range(heads)]
    powers = [int(scaled and h == 0) for h in range(heads)]
    return tuple(Head(Words.letter(n, -p), Words.letter(n + 1, p)) for n, p in zip(names, powers, strict=True))
