"""Sums of words, products of letters that stand for matrices of any size.

A network of lightning attention is such a sum in the A, the V, X and their transposes, so that
identities between words hold for matrices of all sizes. A word is a string with a character for
each letter: XXᵀ + 2A is {"xX": 1, "a": 2}, if x, X and a are the characters of X, Xᵀ and A. The
empty word is the unit matrix. A and V are the attention matrix and the value matrix of a head.
"""

from __future__ import annotations

from collections import Counter

from m2bridge.families.deep_attention.network import HeadMatrices, LayerMatrices

# The bit by which the letter of a transpose differs: above the letters of a thousand layers.
_TRANSPOSED = 1 << 19


class WordSum(Counter[str]):
    """A sum of words: how often each word occurs; a letter is a sum of one word."""

    @classmethod
    def letter(cls, number: int) -> WordSum:
        """Return the word of one letter, the one with this number."""
        return cls([chr(number)])

    def __mul__(self, other: WordSum) -> WordSum:
        """Return the sum of all products of a word of this sum with a word of the other."""
        product = WordSum()
        for first, count in self.items():
            for second, times in other.items():
                product[first + second] += count * times
        return product

    def __add__(self, other: WordSum) -> WordSum:  # type: ignore[override]
        return WordSum(super().__add__(other))

    def degrees(self, letter: WordSum) -> list[int]:
        """Return how often a letter or its transpose is in each word, in the order of words."""
        (character,) = letter
        (transposed,) = letter.transpose()
        return [word.count(character) + word.count(transposed) for word in self]

    def transpose(self) -> WordSum:
        """Return each word backwards, each letter transposed: (AB)ᵀ = BᵀAᵀ."""
        return WordSum(
            {
                "".join(chr(ord(letter) ^ _TRANSPOSED) for letter in reversed(word)): count
                for word, count in self.items()
            }
        )


TOKENS = WordSum.letter(1)
UNIT_MATRIX = WordSum([""])


def letters(head: int) -> tuple[WordSum, WordSum]:
    """Return the letters A and V of a head; the heads of all layers are counted from 0."""
    # number 1 stands for the tokens X
    return WordSum.letter(2 * head + 2), WordSum.letter(2 * head + 3)


def layer_of_letters(number: int, heads: int = 1) -> LayerMatrices:
    """Return layer ``number``, from 0, of a network whose A and V are different letters."""
    return tuple(HeadMatrices(*letters(number * heads + h)) for h in range(heads))
