"""Arrays with a name, which are read one by one, and their entries as exact numbers.

A file is described first, so it may hold more than fits into memory. The *kind* of an array is the
type of its entries, such as ``float32``, or ``exact`` for integers and fractions, which are objects
of Python in an array of NumPy. Each floating-point number is a dyadic rational; for ``bfloat16``,
which NumPy lacks, the array itself is a float32.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from functools import partial
from math import prod
from typing import Any

import numpy

from m2bridge.algebra.numbers import LARGE_PRIME, fraction
from m2bridge.convert import MAX_ARRAY_ENTRIES
from m2bridge.convert.bounded_io import read_rational
from m2bridge.errors import ConversionError, InvalidCaseError, TooLargeError
from m2bridge.results.sheet import visible

EXACT = "exact"
"""The kind of integers and fractions; other kinds are names of types of floating-point numbers."""
PRECISIONS = {
    "float16": 2.0**-10,
    "bfloat16": 2.0**-7,
    "float32": 2.0**-23,
    "float64": 2.0**-52,
    EXACT: 2.0**-52,
}
"""The distance from 1 to the next number of a type; exact numbers count as float64."""


@dataclass(frozen=True, slots=True, eq=False)
class Tensor:
    """An array with a name, which is read when it is needed."""

    name: str
    shape: tuple[int, ...]
    kind: str
    read: Callable[[], Any]  # returns the entries as a NumPy array, lists, a tensor, …
    sources: tuple[Tensor, ...] = ()  # arrays of which it is made; empty for one of a file itself

    @property
    def size_text(self) -> str:
        """The shape in words, ``64 × 768``, or ``a number`` for an array without indices; of an
        array that is made from others, the shape of the first of these as it is in the file.
        """
        if self.sources:
            return self.sources[0].size_text
        return " × ".join(map(str, self.shape)) or "a number"

    @property
    def quoted(self) -> str:
        """The name in quotation marks for messages, at most 120 characters of it."""
        return f"'{visible(self.name):.120}'"

    @property
    def file_names(self) -> frozenset[str]:
        """The names of the arrays of a file from which this one is made, or its own name."""
        if not self.sources:
            return frozenset((self.name,))
        return frozenset().union(*(source.file_names for source in self.sources))

    def changed(self, change: Callable[[Any], Any], shape: tuple[int, ...]) -> Tensor:
        """Return the tensor of this shape, with the same name, whose entries ``change`` makes of a
        NumPy array with the entries of this one, when they are read.
        """
        return replace(self, shape=shape, read=lambda: change(self._entries()), sources=(self,))

    def _entries(self) -> Any:
        """Read and return the entries as an array of NumPy, without a check of their number and
        values.
        """
        array, _ = as_array(self.name, self.read())
        return array

    def array(self) -> Any:
        """Read and return the entries as a NumPy array of floats, or of integers and fractions as
        objects: TooLargeError for more than :data:`MAX_ARRAY_ENTRIES`, InvalidCaseError for an
        entry that is not a finite real number, ConversionError if the file cannot be read.
        """
        if prod(self.shape) > MAX_ARRAY_ENTRIES:
            raise TooLargeError(
                f"'{self.name}' is {self.size_text}; at most {MAX_ARRAY_ENTRIES} entries are read"
            )
        array, kind = as_array(self.name, self.read())
        if kind == EXACT:
            return array
        places = numpy.argwhere(~numpy.isfinite(array))
        if places.size:
            place = tuple(places[0])
            # Indices are counted from 1 for people.
            indices = ", ".join(str(index + 1) for index in place)
            raise InvalidCaseError(
                "weights",
                f"entry ({indices}) of '{self.name}' is {array[place]}: not a finite number",
            )
        return array


def file_names(parts: Iterable[Tensor]) -> frozenset[str]:
    """Return the names of all arrays of a file that are among these tensors, or from which one of
    them is made.
    """
    return frozenset().union(*(part.file_names for part in parts))


def tensor(name: str, value: Any) -> Tensor:
    """Return an array of NumPy or PyTorch, or lists of numbers, as a tensor of this name;
    InvalidCaseError for anything else. Arrays of types that are not read, as masks of Booleans, are
    refused only where their entries are needed.
    """
    if hasattr(value, "detach"):  # PyTorch: nothing is copied before it is needed
        return Tensor(name, tuple(value.shape), torch_kind(value), partial(itself, value))
    if isinstance(value, numpy.ndarray) and value.dtype.kind not in "iufOV":
        return Tensor(name, value.shape, value.dtype.name, partial(itself, value))
    array, kind = as_array(name, value)
    return Tensor(name, array.shape, kind, partial(itself, value))


def stack_of(name: str, parts: Sequence[Tensor]) -> Tensor:
    """Return arrays of the same shape and kind as one array, with a first index that
    counts them.
    """
    first = parts[0]

    def read() -> Any:
        """Return the array of all parts."""
        arrays = []
        for part in parts:
            array, _kind = as_array(part.name, part.read())
            arrays.append(array)
        return numpy.stack(arrays)

    return Tensor(name, (len(parts), *first.shape), first.kind, read, sources=tuple(parts))


@dataclass(frozen=True, slots=True, kw_only=True)
class NeededVector:
    """What a bias, or γ or β of a norm, has to be, in the words of an error."""

    kind: str  # ``bias`` or ``norm``
    entries: str  # what the entries are for: ``one for each output of 'q_proj'``
    advice: str  # how it can be left out, as ``say biases='ignore'``; empty if it cannot

    def read(self, part: Tensor, shape: tuple[int, ...]) -> Any:
        """Return the entries, read now, as an array of this shape. In the file the tensor has this
        shape, or all of its entries in one row; InvalidCaseError else, before anything is read.
        """
        if part.shape in (shape, (prod(shape),)):
            return part.array().reshape(shape)
        size = " × ".join(map(str, shape))
        advice = f"{self.advice}, or give" if self.advice else "give"
        raise InvalidCaseError(
            "weights",
            f"'{visible(part.name):.60}' is {part.size_text}, a {self.kind} of {size} entries is"
            f" needed, {self.entries}; {advice} it another name if it does not belong to this"
            " layer",
        )


def needed_bias(matrix: Tensor) -> NeededVector:
    """Return what the bias beside a matrix has to be: one entry for each output of the matrix."""
    return NeededVector(
        kind="bias",
        entries=f"one for each output of '{visible(matrix.name):.60}'",
        advice="say biases='ignore'",
    )


def as_array(name: str, value: Any) -> tuple[Any, str]:
    """Return a NumPy array, a tensor of PyTorch, or lists of numbers, as a NumPy array, and its
    kind; InvalidCaseError, with this name, for anything else.
    """
    if hasattr(value, "detach"):  # PyTorch
        value = value.detach().cpu()
        kind = torch_kind(value)
        if kind == "bfloat16":  # which NumPy lacks; float32 holds its numbers exactly
            value = value.float()
        try:
            array = value.numpy()
        except TypeError:  # types that NumPy lacks, as float8
            raise _is_not_read(name, kind) from None
        return _with_known_kind(name, array, kind)
    if hasattr(value, "tolist") and not isinstance(value, numpy.ndarray):  # SymPy, FLINT
        value = value.tolist()
    if isinstance(value, numpy.ndarray) and value.dtype != object:
        return _with_known_kind(name, value, value.dtype.name)
    return _from_lists(name, value)


def torch_kind(value: Any) -> str:
    """Return the type of the entries of a tensor of PyTorch, as ``bfloat16``."""
    return str(value.dtype).removeprefix("torch.")


def _with_known_kind(name: str, array: Any, kind: str) -> tuple[Any, str]:
    """Return an array of NumPy as numbers of a kind that is read, and this kind; ``kind`` is the
    type in which floating-point numbers were stored.
    """
    if array.dtype.kind in "iu":
        return array.astype(object), EXACT
    if array.dtype == numpy.longdouble:
        return _from_lists(name, array.astype(object))
    if kind not in PRECISIONS:
        raise _is_not_read(name, kind)
    return array, kind


def _is_not_read(name: str, kind: str) -> InvalidCaseError:
    """Return the error about an array of a type that is not read."""
    message = f"'{name}' holds {kind}: give float16, bfloat16, float32 or float64"
    return InvalidCaseError("weights", message)


def _from_lists(name: str, value: Any) -> tuple[Any, str]:
    """Return lists of numbers as an array, and its kind, in which all numbers are exact:
    ``float16`` or ``float32`` where all are such numbers of NumPy; ``float64`` where all are
    floats, or integers among floats that a float64 holds exactly; else :data:`EXACT`.
    """
    try:
        array = numpy.array(value, dtype=object)
        for short in (numpy.float16, numpy.float32):
            if array.size and all(isinstance(entry, short) for entry in array.flat):
                return array.astype(short), short.__name__
        no_floats = [entry for entry in array.flat if not is_float(entry)]
        has_floats = len(no_floats) < array.size
        if has_floats and all(map(_is_exact_as_float, no_floats)):
            return array.astype(float), "float64"
        exact = numpy.empty(array.shape, dtype=object)
        exact.flat[:] = [_exact(entry) for entry in array.flat]
    except (ValueError, TypeError, AttributeError, OverflowError, ConversionError) as reason:
        # The words of a ConversionError are about the numbers; those of the other errors, which
        # NumPy and Python raise, are not.
        detail = f": {reason}" if isinstance(reason, ConversionError) else ""
        message = f"'{name:.60}' is not a list of rows of numbers, all of one length{detail}"
        if no_number := _entry_that_is_no_number(value):
            message = f"'{name:.60}' has the entry {no_number}, which is not a finite real number"
        raise InvalidCaseError("weights", message) from None
    return exact, EXACT


def _entry_that_is_no_number(value: Any) -> str:
    """Return the first entry of lists that is no finite number, with its type; empty if there is
    none, or rows have different lengths.
    """
    try:
        entries = list(numpy.array(value, dtype=object).flat)
    except ValueError:
        return ""
    if any(isinstance(entry, list | tuple | numpy.ndarray) for entry in entries):
        return ""
    for entry in entries:
        try:
            _exact(entry)
        except ConversionError:
            return ""
        except (ValueError, TypeError, AttributeError, OverflowError):
            return f"{entry!r:.60} of type {type(entry).__name__}"
    return ""


def is_float(entry: Any) -> bool:
    """Return whether an entry is a floating-point number that a float64 holds exactly."""
    # A float64 of NumPy is a float of Python.
    return isinstance(entry, float | numpy.float16 | numpy.float32)


def _is_exact_as_float(entry: Any) -> bool:
    """Return whether an entry is an integer of at most 53 bits, which a float holds exactly."""
    return type(entry) is int and abs(entry) < 2**53


def _exact(entry: Any) -> Fraction:
    """Return a number, or a text with a decimal, as the fraction that it is exactly;
    ConversionError for another text, TypeError, ValueError, AttributeError or OverflowError for
    anything else.
    """
    if isinstance(entry, str):
        return read_rational(entry)
    if isinstance(entry, bool):
        raise TypeError
    if is_float(entry):
        return Fraction(float(entry))
    # Exact, with more digits than a float64.
    if isinstance(entry, numpy.longdouble | Decimal):
        return Fraction(*entry.as_integer_ratio())
    # A Float of SymPy may have more digits than a float64: it is the dyadic rational that it is.
    if getattr(entry, "is_Float", False):
        from sympy import Rational  # slow to import, but such a number has imported it

        return fraction(Rational(entry))
    return Fraction(entry) if isinstance(entry, int) else fraction(entry)


def itself(value: Any) -> Any:
    """Return the value: ``read`` of a tensor whose entries need not be read from a file."""
    return value


def dyadic(array: Any) -> tuple[Any, Any]:
    """Return arrays of integers w and e of 64 bits such that the entries are w·2^e exactly."""
    # Each entry is m·2^n with 1/2 ≤ |m| < 1, or m = 0, and m has at most 53 bits: m·2^53 is an
    # integer.
    mantissa, exponent = numpy.frexp(array.astype(float))
    return numpy.ldexp(mantissa, 53).astype(numpy.int64), exponent.astype(numpy.int64) - 53


def modular(array: Any) -> Any:
    """Return the entries modulo :data:`LARGE_PRIME`, as integers of 64 bits from 0 on;
    InvalidCaseError if the prime divides a denominator.
    """
    if array.dtype == object:
        entries = [_residue(number) for number in array.flat]
        return numpy.array(entries, dtype=numpy.int64).reshape(array.shape)
    whole, exponent = dyadic(array)
    # The entries are whole·2^exponent. The prime is 2^31 − 1, modulo which 2^31 is 1: so 2^e
    # depends on e modulo 31 only, also for negative e. Residues of 31 bits, shifted by at most 30,
    # fit into 64 bits.
    residues = whole % LARGE_PRIME
    shifts = exponent % 31
    return (residues << shifts) % LARGE_PRIME


def _residue(number: Any) -> int:
    """Return an integer or a fraction modulo the prime; InvalidCaseError if the prime divides the
    denominator.
    """
    try:
        inverse = pow(number.denominator, -1, LARGE_PRIME)
    except ValueError:
        reason = f"a denominator is divisible by {LARGE_PRIME}"
        raise InvalidCaseError("weights", reason) from None
    return int(number.numerator * inverse % LARGE_PRIME)


def as_fractions(array: Any) -> Any:
    """Return the entries of an array, floats or exact ones, as an array of fractions, exactly."""
    if array.dtype != object:
        array = array.astype(float)
    return numpy.frompyfunc(Fraction, 1, 1)(array)
