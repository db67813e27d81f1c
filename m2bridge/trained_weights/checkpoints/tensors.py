"""The tensors of a layer of self-attention, with its biases and its norm, cut into heads.

Tokens are columns here. A linear layer of PyTorch acts on rows, x Wᵀ with W of shape (out, in), so
W_q, W_k, W_v are Q, K, V as they are stored; head h has the rows h·a, …, of each, and the columns
h·v, … of the output matrix O, so that its values are O_h V_h. Biases are cut as the rows of their
matrices. How tensors are called in files is in ``names``.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import prod
from pathlib import Path
from typing import Any, Literal

import numpy

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import EXACT, PRECISIONS, Tensor, as_fractions

NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
"""The usual names of tensors in files."""

CUTS = ("q-k-v", "by-head", "by-group", "by-row", "by-quarter", "by-eighth")
"""How the rows of Q, K and V follow one another in one array: all of each; for each head those of
q, of k, and of v; for each group of heads that share a key all of their q, then k, then v; for each
row of a head one of q, one of k, one of v; or four or eight parts, each with the rows of Q, of V,
and of K of as many heads.
"""
_PARTS_OF_CUT = {"by-quarter": 4, "by-eighth": 8}
"""The number of parts of an array, by its cut."""


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """The norm before or after a layer.

    Parameters
    ----------
    kind : str
        ``layer`` or ``rms``.
    gamma, beta : array or None
        Of length d; ``None`` stands for ones, and for zeros.
    name : str
        That of its tensor.
    place : str
        ``pre`` or ``post``.
    """

    kind: Literal["layer", "rms"]
    gamma: Any
    beta: Any
    name: str
    place: Literal["pre", "post"]

    @property
    def title(self) -> str:
        """``LayerNorm`` or ``RMSNorm``."""
        return {"layer": "LayerNorm", "rms": "RMSNorm"}[self.kind]

    @property
    def is_invertible(self) -> bool:
        """Whether no γ_i is 0, so that diag(γ) loses nothing."""
        return self.gamma is None or bool((self.gamma != 0).all())


def is_before(name: str, place: str, norm: str | None) -> bool:
    """Whether a norm with this name is before its layer, where a user may have said which is.

    Some names are those of norms before and after a layer, which only the code of a model tells.
    """
    if norm is None or norm == "none":
        return norm is None and place == "pre"
    return place == "pre" or bool(re.search(NAMES["either"], name))


@dataclass(frozen=True, slots=True, eq=False)
class HeadArrays:
    """The matrices of one head, as arrays: A = KᵀQ, or A alone; the values are V, or OV.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    matrices : dict
        By the letters K, Q, A, V, O.
    kind : str
        The type of the entries; of several the least precise.
    K_bias, Q_bias, V_bias : array or None
        Of lengths a, a and v.
    O_bias : array or None
        That of the layer, of length d'; all of its heads have the same.
    norm : Norm or None
    sharing : int
        As many heads of the layer have the same K and V.
    """

    layer: int
    head: int
    matrices: Mapping[str, Any]
    kind: str
    K_bias: Any = None
    Q_bias: Any = None
    V_bias: Any = None
    O_bias: Any = None
    norm: Norm | None = None
    sharing: int = 1

    @property
    def biases(self) -> dict[str, Any]:
        """The biases of K, Q and V that there are, by these letters."""
        given = {"K": self.K_bias, "Q": self.Q_bias, "V": self.V_bias}
        return {letter: bias for letter, bias in given.items() if bias is not None}


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class NormTensors:
    """The tensors of the norm before or after a layer.

    Parameters
    ----------
    kind : str
        ``layer`` or ``rms``.
    gamma : Tensor
    beta : Tensor or None
    place : str
        ``pre`` or ``post``.
    adds_one : bool
        Whether the factors are 1 + γ, as in Gemma.
    asks : str
        What its name does not say, in which models of this name differ; empty if nothing.
    assumed : str
        What is taken for granted where only its name says it; empty if nothing.
    """

    kind: Literal["layer", "rms"]
    gamma: Tensor
    beta: Tensor | None
    place: Literal["pre", "post"]
    adds_one: bool = False
    asks: str = ""
    assumed: str = ""

    def read(self, width: int) -> Norm:
        """Return the norm of tokens with so many entries; InvalidCaseError if it has others."""
        advice = "say that norm is none" if self.place == "pre" else ""
        needed = _Needed("norm", "one for each coordinate of the tokens that it acts on", advice)
        gamma = needed.read(self.gamma, (width,))
        if self.adds_one:
            # As fractions: a small γ would be lost in the sum of floating-point numbers.
            gamma = 1 + as_fractions(gamma)
        beta = None
        if self.beta is not None:
            beta = needed.read(self.beta, (width,))
        return Norm(kind=self.kind, gamma=gamma, beta=beta, name=self.gamma.name, place=self.place)


@dataclass(frozen=True, slots=True, eq=False)
class LayerTensors:
    """The tensors of a layer.

    Parameters
    ----------
    name : str
        Common to their names.
    parts : dict
        By the letters K, Q, A, V, O; three times the same where they are stacked.
    biases : dict
        By the letters K, Q, V, O; three times the same where they are stacked.
    norm : NormTensors or None
    cut : str
        How one array with Q, K and V is cut, one of :data:`CUTS`; ``unknown`` where models of these
        names differ.
    key_value_heads : int or None
        As many heads of keys and values, where ``config.json`` says it.
    own_heads : int or None
        The number of heads, where an array beside the layer shows it.
    is_one_head : bool
        Whether the layer has one head if nothing else is said.
    readings : str
        How models of these names cut one array, where they differ.
    has_factors : bool
        Whether O has been multiplied by the factors of the outputs (LayerScale).
    assumed : str
        What is taken for granted of the layer where only its names say it; empty if nothing.
    """

    name: str
    parts: Mapping[str, Tensor]
    biases: Mapping[str, Tensor] = field(default_factory=dict)
    norm: NormTensors | None = None
    cut: str = "q-k-v"
    key_value_heads: int | None = None
    own_heads: int | None = None
    is_one_head: bool = False
    readings: str = ""
    has_factors: bool = False
    assumed: str = ""

    @property
    def is_stacked(self) -> bool:
        """Whether Q, K and V are one array."""
        return "K" in self.parts and self.parts["K"].name == self.parts["V"].name

    def of(self, *, biases: bool, norm: str | None) -> LayerTensors:
        """Return the layer with or without its biases, and with the norm that is said.

        The norm's β is one of the biases. What is left out is not read.
        """
        own = self.norm
        if own is not None and is_before(own.gamma.name, own.place, norm):
            adds_one = own.adds_one if norm is None else norm == "rms1"
            own = replace(own, place="pre", adds_one=adds_one)
            if norm is not None:
                own = replace(own, assumed="")
        elif own is not None and own.place == "pre":
            own = None
        if own is not None and not biases:
            own = replace(own, beta=None)
        return replace(self, biases=self.biases if biases else {}, norm=own)

    def counted(self) -> Iterator[Tensor]:
        """Yield the tensors about which answers are: a norm after the layer is not among them."""
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None and self.norm.place == "pre":
            yield self.norm.gamma
            if self.norm.beta is not None:
                yield self.norm.beta

    def every(self) -> Iterator[Tensor]:
        """Yield all tensors that belong to the layer, with the norm after it."""
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None:
            yield self.norm.gamma
            if self.norm.beta is not None:
                yield self.norm.beta

    def head_count(self, count: int | None) -> int:
        """Return the number of heads, which is seen before anything is read."""
        # Several heads may share their keys and values.
        shape = self.parts["Q" if "Q" in self.parts else "V"].shape
        # One array (3, ·, ·) has Q, K and V as its first index.
        if len(shape) == 3 and not self.is_stacked:
            return shape[0]
        return self.own_heads or count or 1

    def heads(self, layer: int, count: int | None) -> Iterator[HeadArrays]:
        """Yield the heads one after the other; they are read now.

        Raises
        ------
        InvalidCaseError
            If the shapes do not fit.
        """
        count = self.own_heads or count
        arrays = self._arrays()
        kinds = {part.kind for part in self.parts.values()}
        # The least precise decides; an exact matrix beside one of float64 changes nothing.
        inexact_first = [kind for kind in PRECISIONS if kind in kinds]
        kind = max(inexact_first, key=lambda name: PRECISIONS[name], default=EXACT)
        # Q, K and V as arrays of their own, each of all heads; then the matrices of each head
        separate = self._separate(arrays, arrays, count)
        cut = list(_cut(separate, count))
        for matrices in cut:
            wrong = _wrong({letter: array.shape for letter, array in matrices.items()})
            if wrong:
                raise InvalidCaseError("weights", f"{_shapes(matrices)}: {wrong}")
        if not cut:
            return
        biases = self._biases(arrays, count)
        output_bias, norm = self._around(cut)
        around = {"O_bias": output_bias, "norm": norm, "sharing": _sharing(separate)}
        for number, matrices in enumerate(cut, 1):
            own = {f"{letter}_bias": column[number - 1] for letter, column in biases.items()}
            yield HeadArrays(layer, number, matrices, kind, **own, **around)

    def _arrays(self) -> dict[str, Any]:
        """Return the arrays as of the shape (out, in), or with the heads as first index."""
        # An array that holds Q, K and V is read once.
        read: dict[str, Any] = {}
        arrays = {}
        for letter, part in self.parts.items():
            if part.name not in read:
                read[part.name] = part.array()
            arrays[letter] = read[part.name]
        return arrays

    def _separate(
        self, stacked: Mapping[str, Any], arrays: Mapping[str, Any], count: int | None
    ) -> dict[str, Any]:
        """Return Q, K, V, which may be stacked, as the shapes of the layer's arrays say."""
        if not self.is_stacked:
            return dict(stacked)
        one = self.cut == "unknown" and (count or 1) == 1
        if self.cut == "q-k-v" or one or stacked["Q"].ndim == 3:
            parts = _unstacked(stacked["Q"], arrays.get("O"), count or 1, self.parts["Q"])
        else:
            parts = self._interleaved(stacked["Q"], arrays.get("O"), count)
        return {**stacked, **parts}

    def _interleaved(self, stacked: Any, output: Any, heads: int | None) -> dict[str, Any]:
        """Return Q, K, V from one array in which their rows alternate.

        Raises
        ------
        InvalidCaseError
            If the number of heads is not known, or the rows are not those of so many.
        """
        part = self.parts["Q"]
        named = f"'{visible(part.name):.60}' is {part.size_text}"
        if heads is None:
            raise InvalidCaseError(
                "heads",
                f"{named}, in which Q, K and V alternate from head to head: the number of heads has"
                " to be given",
            )
        if self.cut == "unknown" and heads > 1:
            # Models that are known by their config.json have their own cut.
            raise InvalidCaseError(
                "layout",
                f"{named}, {self._cuts_of_its_name}: give the layout, {', '.join(CUTS[:-1])} or"
                f" {CUTS[-1]}",
            )
        if stacked.ndim != 2:
            raise InvalidCaseError("layout", f"{named}: Q, K and V that alternate are a matrix")
        rows = len(stacked)
        groups = heads
        if self.cut == "by-group":
            groups = self._groups(stacked.shape, output, heads)
        size = rows // (heads + 2 * groups)
        if not size or rows % (heads + 2 * groups) or heads % groups:
            raise InvalidCaseError(
                "heads",
                f"{named}: {rows} is not the number of rows of {heads} queries and"
                f" {groups} keys and values",
            )
        number = _PARTS_OF_CUT.get(self.cut, 1)
        if heads % number:
            raise InvalidCaseError(
                "layout",
                f"{named}, and is taken for {number} parts, each with Q, V and K of as many heads:"
                f" {number} does not divide {heads} heads",
            )
        return _alternating(stacked, self.cut, groups, size)

    @property
    def _cuts_of_its_name(self) -> str:
        """How models of this name cut one array, in words."""
        if self.readings:
            return f"which is cut {self.readings}"
        return "which is cut in several ways by models of this name, or by those of other names"

    def _groups(self, shape: tuple[int, int], output: Any, heads: int) -> int:
        """Return the number of keys, which the columns of O show, or three squares."""
        rows, columns = shape
        if output is not None and output.ndim == 2:
            queries = output.shape[1]
            size = queries // heads
            # A wrong number is refused where the rows are counted.
            seen = max((rows - queries) // (2 * size), 1) if size else 1
            if self.key_value_heads in (None, seen):
                return seen
            raise InvalidCaseError(
                "heads",
                f"'{visible(self.parts['Q'].name):.60}' has keys and values for {seen} heads, and"
                f" config.json says {self.key_value_heads}",
            )
        if self.key_value_heads is None and rows == 3 * columns:
            return heads
        if self.key_value_heads is None:
            raise InvalidCaseError(
                "output", "is needed: it shows how many heads share a key in one array by groups"
            )
        return self.key_value_heads

    def _biases(self, arrays: Mapping[str, Any], count: int | None) -> dict[str, list[Any]]:
        """Return those of Q, K and V, of each head."""
        given = {letter: bias for letter, bias in self.biases.items() if letter != "O"}
        if not given:
            return {}
        # A bias is a column beside the matrix, and is cut as the first column is; that one stands
        # for a bias which is missing.
        columns = {letter: array[..., :1] for letter, array in arrays.items() if letter != "O"}
        for letter, bias in given.items():
            entries = _bias_of(self.parts[letter]).read(bias, arrays[letter].shape[:-1])
            columns[letter] = entries[..., None]
        cut = list(_cut(self._separate(columns, arrays, count), count))
        return {letter: [head[letter][:, 0] for head in cut] for letter in given}

    def _around(self, heads: list[dict[str, Any]]) -> tuple[Any, Norm | None]:
        """Return the bias of the outputs, and the norm."""
        first = heads[0]
        # Without an output matrix the outputs of the heads are concatenated.
        outputs = first["O"].shape[0] if "O" in first else len(heads) * first["V"].shape[0]
        output_bias = norm = None
        if "O" in self.biases:
            output_bias = _bias_of(self.parts["O"]).read(self.biases["O"], (outputs,))
        if self.norm is not None:
            tokens = first["V"].shape[1]
            norm = self.norm.read(tokens if self.norm.place == "pre" else outputs)
        return output_bias, norm


@dataclass(frozen=True, slots=True)
class _Needed:
    """What a bias or a norm has to be, in words.

    Parameters
    ----------
    kind : str
        ``bias`` or ``norm``.
    entries : str
        What there is one for.
    advice : str
        How it can be left out; empty if only by another name.
    """

    kind: str
    entries: str
    advice: str

    def read(self, part: Tensor, shape: tuple[int, ...]) -> Any:
        """Return the entries, of this shape; those of all heads may stand in one row.

        Raises
        ------
        InvalidCaseError
            If it has another shape, which is seen before anything is read.
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


def _bias_of(matrix: Tensor) -> _Needed:
    """Return what the bias beside a matrix has to be."""
    name = visible(matrix.name)
    return _Needed("bias", f"one for each output of '{name:.60}'", "let biases be ignored")


def _unstacked(stacked: Any, output: Any, heads: int, part: Tensor) -> dict[str, Any]:
    """Return Q, K, V, which stand on top of each other.

    K and V have fewer heads where O has more columns than a third of the rows.
    """
    if stacked.ndim == 3 and len(stacked) == 3:
        return dict(zip("QKV", stacked, strict=True))
    named = f"'{visible(part.name):.60}' is {part.size_text}"
    if stacked.ndim != 2:
        raise InvalidCaseError(
            "weights", f"{named}: Q, K and V in one array are a matrix, or three"
        )
    rows = stacked.shape[0]
    first = rows // 3
    # O has a column for each row of V of each head, and Q as many rows.
    if output is not None and output.ndim == 2:
        first = output.shape[1]
    if not first or (rows - first) % 2 or rows <= first:
        raise InvalidCaseError(
            "weights", f"{named}: {rows} is not the number of rows of Q, K and V, 3·a·heads"
        )
    if first % heads:
        raise InvalidCaseError(
            "heads", f"{named}: {heads} heads do not divide the {first} rows of Q"
        )
    middle = (rows + first) // 2
    return {"Q": stacked[:first], "K": stacked[first:middle], "V": stacked[middle:]}


def _alternating(stacked: Any, cut: str, groups: int, size: int) -> dict[str, Any]:
    """Return Q, K, V, whose rows alternate, with this number of keys, each of size rows."""
    columns = stacked.shape[1]
    if cut in _PARTS_OF_CUT:
        own = stacked.reshape(_PARTS_OF_CUT[cut], 3, -1, columns)
        parts = {"Q": own[:, 0], "K": own[:, 2], "V": own[:, 1]}
    elif cut == "by-row":
        threes = stacked.reshape(-1, 3, columns)
        parts = {letter: threes[:, place] for place, letter in enumerate("QKV")}
    else:
        blocks = stacked.reshape(groups, -1, size, columns)
        parts = {"Q": blocks[:, :-2], "K": blocks[:, -2], "V": blocks[:, -1]}
    return {letter: part.reshape(-1, columns) for letter, part in parts.items()}


def _cut(arrays: Mapping[str, Any], count: int | None) -> Iterator[dict[str, Any]]:
    """Yield the matrices of each head: rows of Q, K, V, and columns of O; or the first index."""
    arrays = _with_heads_first(arrays)
    dimensions = {array.ndim for array in arrays.values()}
    if dimensions == {2}:
        arrays = _by_head(arrays, count or 1)
    elif dimensions != {3}:
        raise InvalidCaseError(
            "weights", f"{_shapes(arrays)}: give matrices, or all with the heads as first index"
        )
    counts = {len(array) for array in arrays.values()}
    if len(counts) > 1 or count not in (None, *counts):
        raise InvalidCaseError(
            "heads", f"{_shapes(arrays)}: the first number is that of the heads in all of them"
        )
    for h in range(*counts):
        yield {letter: array[h] for letter, array in arrays.items()}


def _with_heads_first(arrays: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return O, and K and V that heads share, as Q is where its first index is the heads."""
    if "Q" not in arrays or arrays["Q"].ndim != 3:
        return arrays
    heads = len(arrays["Q"])
    found = dict(arrays)
    for letter in "KV":
        array = arrays[letter]
        if array.ndim == 3 and len(array) and heads % len(array) == 0:
            found[letter] = array.repeat(heads // len(array), 0)
    if "O" in arrays and arrays["O"].ndim == 2 and arrays["O"].shape[1] % heads == 0:
        found["O"] = numpy.stack(numpy.split(arrays["O"], heads, 1))
    return found


def _by_head(arrays: Mapping[str, Any], heads: int) -> dict[str, Any]:
    """Return arrays with the heads as first index.

    With fewer keys and values than queries, each is of as many heads in a row.
    """
    if heads == 1:
        return {letter: array[None] for letter, array in arrays.items()}
    if "A" in arrays:
        raise InvalidCaseError(
            "heads", "A is that of one head: give K and Q, or A and V with the heads as first index"
        )
    rows = {letter: array.shape[0] for letter, array in arrays.items()}
    if rows["Q"] % heads or not rows["Q"]:
        raise InvalidCaseError(
            "heads", f"Q has {rows['Q']} rows, which are not those of {heads} heads"
        )
    a = rows["Q"] // heads
    groups = rows["K"] // a if rows["K"] % a == 0 else 0
    if not groups or heads % groups or rows["V"] % groups:
        raise InvalidCaseError(
            "heads", f"{_shapes(arrays)}: K and V have no rows for {heads} heads with a = {a}"
        )
    if "O" in arrays and arrays["O"].shape[1] * groups != heads * rows["V"]:
        raise InvalidCaseError(
            "weights", f"{_shapes(arrays)}: O has a column for each row of V of each head"
        )
    cut = {}
    for letter, number in {"Q": heads, "K": groups, "V": groups}.items():
        blocks = arrays[letter].reshape(number, rows[letter] // number, -1)
        cut[letter] = blocks.repeat(heads // number, 0)
    if "O" in arrays:
        cut["O"] = numpy.stack(numpy.split(arrays["O"], heads, 1))
    return cut


def _sharing(arrays: Mapping[str, Any]) -> int:
    """Return the number of heads in a row that have the same K and V."""
    if "A" in arrays:
        return 1
    return max(int(arrays["Q"].shape[0] // max(arrays["K"].shape[0], 1)), 1)


def _wrong(shapes: Mapping[str, tuple[int, int]]) -> str:
    """Return the fault in the shapes of the matrices of a head; empty if there is none."""
    both = "A" if "A" in shapes else "K and Q"
    first = shapes[both[0]]
    V = shapes["V"]
    d = first[1]
    if not all(map(min, shapes.values())):
        return "a matrix has no entries"
    if "A" in shapes and first != (d, d):
        return "A = KᵀQ is square, d × d"
    if "K" in shapes and shapes["Q"] != shapes["K"]:
        K, Q = shapes["K"], shapes["Q"]
        advice = ""
        if Q[::-1] == K:
            advice = "; is one of them transposed?"
        elif K[1] == Q[1] and Q[0] % K[0] == 0:
            advice = "; where heads share keys and values, say how many heads there are"
        return f"K and Q have the same shape, a × d{advice}"
    if V[1] != d:
        # A side that would fit says which matrix is the wrong way round.
        turned = ""
        if first[0] == V[1] and V[0] == d:
            turned = "; is V transposed, or are K and Q?"
        elif first[0] == V[1]:
            turned = "; are K and Q transposed?"
        elif V[0] == d:
            turned = "; is V transposed?"
        return f"V has as many columns as {both}, the dimension d of the tokens{turned}"
    if "O" in shapes and shapes["O"][1] != V[0]:
        return "O has as many columns as V has rows"
    return ""


def _shapes(arrays: Mapping[str, Any]) -> str:
    """The shapes of arrays in words."""
    sizes = []
    for letter, array in sorted(arrays.items()):
        size = " × ".join(map(str, array.shape)) or "a number"
        sizes.append(f"{letter} is {size}")
    return ", ".join(sizes)
