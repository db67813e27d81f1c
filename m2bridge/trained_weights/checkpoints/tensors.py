"""The tensors of a layer of self-attention, with its biases and its norm, cut into heads.

Tokens are columns here. A linear layer of PyTorch acts on rows, x Wᵀ with W of shape (out, in), so
W_q, W_k, W_v are Q, K, V as they are stored; head h has the rows h·a, …, of each, and the columns
h·v, … of the output matrix O, so that its values are O_h V_h. Biases are cut as the rows of their
matrices. How tensors are called in files is in ``names``.

A *part* of a layer is one of its matrices, by its letter; a ``Tensor`` is an array with a name and
a shape, whose entries are read when ``array()`` is called. Where Q, K and V are *stacked*, one
array has the rows of all three, and its *cut* is the order of these rows: ``q-k-v``, all of Q, then
of K, then of V; or they alternate, from head to head (``by-head``) or otherwise. Heads may share a
key and a value; a *group* is then all heads with the same.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import visible
from m2bridge.trained_weights.checkpoints.arrays import (
    EXACT,
    PRECISIONS,
    NeededVector,
    Tensor,
    as_fractions,
    needed_bias,
)
from m2bridge.trained_weights.checkpoints.cutting import (
    CUTS,
    PARTS_OF_CUT,
    cut_into_heads,
    heads_sharing_a_key,
    rule_that_shapes_violate,
    shapes_in_words,
    split_alternating,
    split_q_then_k_then_v,
)

NAMES = tomllib.loads(Path(__file__).with_name("names.toml").read_text(encoding="utf-8"))
"""The usual names of tensors in files."""


@dataclass(frozen=True, slots=True, eq=False)
class Norm:
    """The norm before or after a layer.

    Parameters
    ----------
    kind : str
        ``layer`` or ``rms``.
    gamma, beta : array or None
        γ, by which the norm multiplies, and β, which it adds, of length d; ``None`` stands for
        γ = 1 and β = 0.
    name : str
        The name of the tensor of γ; empty if there is none.
    place : str
        ``pre`` or ``post``: before or after the layer.
    """

    kind: Literal["layer", "rms"]
    gamma: Any
    beta: Any
    name: str
    place: Literal["pre", "post"]

    @property
    def title(self) -> str:
        """The kind as it is usually written: ``LayerNorm`` or ``RMSNorm``."""
        return {"layer": "LayerNorm", "rms": "RMSNorm"}[self.kind]

    @property
    def is_invertible(self) -> bool:
        """Whether no γ_i is 0, so that diag(γ) loses nothing."""
        return self.gamma is None or bool((self.gamma != 0).all())


def is_before(name: str, place: str, norm: str | None) -> bool:
    """Return whether a norm is before its layer, by its name and by what a user says.

    Parameters
    ----------
    name : str
        The name of γ.
    place : str
        ``pre`` or ``post``, as its name says.
    norm : str or None
        The option: ``none`` if no norm is before the layer, another word if one is, ``None`` if
        nothing is said.
    """
    if norm is None:
        return place == "pre"
    if norm == "none":
        return False
    # Some names belong to norms before a layer in one model and after it in another: of these the
    # option says that they are before. Other names of norms after a layer are not moved.
    return place == "pre" or bool(re.search(NAMES["either"], name))


@dataclass(frozen=True, slots=True, eq=False)
class HeadArrays:
    """The matrices of one head, as arrays: A = KᵀQ, or A alone; the values are V, or OV.

    Parameters
    ----------
    layer, head : int
        Counted from 1.
    matrices : dict
        The arrays by the letters K, Q, V, or A, V, and perhaps O: K and Q of shape (a, d), A of
        shape (d, d), V of shape (v, d), and O of shape (d', v).
    kind : str
        The type of the entries; if it differs from matrix to matrix, the least precise.
    K_bias, Q_bias, V_bias : array or None
        The biases of the head, of lengths a, a and v.
    O_bias : array or None
        The output bias of the layer, of length d'; all of its heads have the same.
    norm : Norm or None
        The norm of the layer.
    sharing : int
        The number of heads in a row that have the same K and V.
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
        A clause on what has to be asked for, as models with a norm of this name differ in it; empty
        if nothing has.
    assumed : str
        A clause on what is taken for granted, as only the name says it; empty if nothing is.
    """

    kind: Literal["layer", "rms"]
    gamma: Tensor
    beta: Tensor | None
    place: Literal["pre", "post"]
    adds_one: bool = False
    asks: str = ""
    assumed: str = ""

    def tensors(self) -> Iterator[Tensor]:
        """Yield γ, and β if there is one."""
        yield self.gamma
        if self.beta is not None:
            yield self.beta

    def read(self, width: int) -> Norm:
        """Return the norm, read now, of vectors with ``width`` entries: tokens, or the outputs of
        the layer for a norm after it. InvalidCaseError if γ or β has another length.
        """
        # For errors: what the entries are for, and how to do without the norm.
        advice = "say that norm is none" if self.place == "pre" else ""
        needed = NeededVector(
            kind="norm",
            entries="one for each coordinate of the tokens that it acts on",
            advice=advice,
        )
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
        What the names of the tensors have in common; sorted by it, layers are in their order.
    parts : dict
        The tensors of matrices by the letters K, Q, A, V, O. Where one array has Q, K and V, these
        three letters have this one tensor.
    biases : dict
        The tensors of biases by the letters of their matrices, K, Q, V, O; where one array has the
        biases of Q, K and V, these letters have this one tensor.
    norm : NormTensors or None
        The norm before or after the layer.
    cut : str
        How one array with Q, K and V is cut, one of :data:`CUTS`; ``unknown`` where models of these
        names differ.
    key_value_heads : int or None
        The number of heads of keys and values, where ``config.json`` says it.
    own_heads : int or None
        The number of heads, where an array beside the layer shows it; else ``None``.
    is_one_head : bool
        Whether the layer is taken for one head if nobody says a number of heads, as its names or
        shapes are such.
    readings : str
        In words, how models of these names cut one array, where they differ; else empty.
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
        """Whether Q, K and V are one array: their letters have the same tensor."""
        return "K" in self.parts and self.parts["K"].name == self.parts["V"].name

    def with_options(self, *, biases: bool, norm: str | None) -> LayerTensors:
        """Return the layer as the options of a user say: with or without its biases; and with its
        norm before the layer (``layer`` or ``rms``, with 1 at the end if it multiplies by 1 + γ),
        without a norm before it (``none``), or as the file has it (``None``).

        The norm's β is one of the biases. What is left out is not read. A norm after the layer
        stays, unless the option says that it is before. The norm has the kind that the file shows
        here; a kind that the option says replaces it when heads are reduced.
        """
        own = self.norm
        if own is not None and is_before(own.gamma.name, own.place, norm):
            adds_one = own.adds_one if norm is None else norm.endswith("1")
            own = replace(own, place="pre", adds_one=adds_one)
            if norm is not None:
                # What the option says is not taken for granted.
                own = replace(own, assumed="")
        elif own is not None and own.place == "pre":
            # By the option no norm is before the layer.
            own = None
        if own is not None and not biases:
            own = replace(own, beta=None)
        return replace(self, biases=self.biases if biases else {}, norm=own)

    def analysed_tensors(self) -> Iterator[Tensor]:
        """Yield the tensors that determine the results on a layer: those of the matrices, of the
        biases, and of γ and β of a norm before it. One array with Q, K and V is yielded three
        times.
        """
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None and self.norm.place == "pre":
            yield from self.norm.tensors()

    def all_tensors(self) -> Iterator[Tensor]:
        """Yield the tensors of the matrices, of the biases, and of γ and β of the norm, be it
        before or after the layer. One array with Q, K and V is yielded three times.
        """
        yield from self.parts.values()
        yield from self.biases.values()
        if self.norm is not None:
            yield from self.norm.tensors()

    def head_count(self, count: int | None) -> int:
        """Return the number of heads, by shapes alone: nothing is read.

        The first of these that says it is taken: the shape of Q, or of V beside A; an array beside
        the layer; and ``count``, the number that is given for all layers, or ``None``. If none of
        them says it, there is one head.
        """
        # Q has all heads; several may share K and V. Without Q there are A and V.
        shape = self.parts["Q" if "Q" in self.parts else "V"].shape
        # Three indices are heads, rows and columns; only one array with Q, K and V of shape
        # (3, ·, ·) has these three as its first index.
        if len(shape) == 3 and not self.is_stacked:
            return shape[0]
        return self.own_heads or count or 1

    def heads(self, layer: int, count: int | None) -> Iterator[HeadArrays]:
        """Yield the heads one after the other. All arrays of the layer are read, and errors raised,
        when the first head is asked for.

        Parameters
        ----------
        layer : int
            The number of the layer, from 1 on, which the heads have as ``layer``.
        count : int or None
            The number of heads that is given for all layers, or ``None``. A number that an array
            beside this layer shows is taken in its place.

        Raises
        ------
        InvalidCaseError
            If the shapes do not fit.
        """
        count = self.own_heads or count
        arrays = self._arrays()
        # First Q, K and V as arrays of their own, each of all heads; then the matrices of each
        # head.
        separate = self._separate(arrays, arrays.get("O"), count)
        matrices_of_heads = list(cut_into_heads(separate, count))
        for matrices in matrices_of_heads:
            _check_shapes_of_head(matrices)
        # Arrays with the heads as first index may have none.
        if not matrices_of_heads:
            return
        biases = self._biases(arrays, count)
        output_bias, norm = self._output_bias_and_norm(matrices_of_heads)
        sharing = heads_sharing_a_key(separate)
        for number, matrices in enumerate(matrices_of_heads, 1):
            own_biases = {letter: of_heads[number - 1] for letter, of_heads in biases.items()}
            yield HeadArrays(
                layer=layer,
                head=number,
                matrices=matrices,
                kind=self._kind,
                K_bias=own_biases.get("K"),
                Q_bias=own_biases.get("Q"),
                V_bias=own_biases.get("V"),
                O_bias=output_bias,
                norm=norm,
                sharing=sharing,
            )

    @property
    def _kind(self) -> str:
        """The type of the entries of the least precise matrix; ``exact`` if no matrix has a type of
        floating-point numbers.
        """
        kinds = {part.kind for part in self.parts.values()}
        # The least precise type has the largest distance between numbers. Of equally precise types
        # the first one in the table is taken: float64, and not exact, if there are both.
        known = [kind for kind in PRECISIONS if kind in kinds]
        return max(known, key=lambda kind: PRECISIONS[kind], default=EXACT)

    def _arrays(self) -> dict[str, Any]:
        """Read and return the arrays of the matrices by their letters, of the shape (out, in), or
        with the heads as first index. Where Q, K and V are stacked, their letters have one array.
        """
        # An array that holds Q, K and V is read once.
        read: dict[str, Any] = {}
        arrays = {}
        for letter, part in self.parts.items():
            if part.name not in read:
                read[part.name] = part.array()
            arrays[letter] = read[part.name]
        return arrays

    def _separate(
        self, arrays: Mapping[str, Any], output: Any, count: int | None
    ) -> dict[str, Any]:
        """Return the arrays by their letters: where Q, K and V are one array, each of them as an
        array of its own with the rows of all heads; other arrays as they are.

        Parameters
        ----------
        arrays : dict
            The arrays of the layer by their letters; or biases by these letters, each as a matrix
            of one column, which is cut as the matrix of this letter is.
        output : array or None
            O, whose columns show how many rows Q has; ``None`` if there is no O.
        count : int or None
            The number of heads, if it is known.
        """
        if not self.is_stacked:
            return dict(arrays)
        stacked = arrays["Q"]
        # One head has its q, then its k, then its v in the cuts ``q-k-v``, ``by-head`` and
        # ``by-group``: where the cut is not known, this order is taken for one head.
        is_unknown_of_one_head = self.cut == "unknown" and (count or 1) == 1
        if self.cut == "q-k-v" or is_unknown_of_one_head or stacked.ndim == 3:
            parts = split_q_then_k_then_v(stacked, output, count or 1, self.parts["Q"])
        else:
            parts = self._interleaved(stacked, output, count)
        return {**arrays, **parts}

    def _interleaved(self, stacked: Any, output: Any, heads: int | None) -> dict[str, Any]:
        """Return Q, K, V by these letters, each with the rows of all heads, from one matrix in
        which their rows alternate.

        ``output`` is O, or ``None``, and shows how many heads share a key. ``heads`` is the number
        of heads, or ``None``.

        Raises
        ------
        InvalidCaseError
            If the number of heads is not known, or the rows do not fit it.
        """
        named = self._stack_in_words
        if heads is None:
            raise InvalidCaseError(
                "heads",
                f"{named}, in which Q, K and V alternate from head to head: the number of heads has"
                " to be given",
            )
        if self.cut == "unknown" and heads > 1:
            # Of a model that is known by its config.json the cut was set by that.
            raise InvalidCaseError(
                "layout",
                f"{named}, {self._cuts_of_its_name}: give the layout, {', '.join(CUTS[:-1])} or"
                f" {CUTS[-1]}",
            )
        if stacked.ndim != 2:
            raise InvalidCaseError("layout", f"{named}: Q, K and V that alternate must be a matrix")
        # The number of keys, and of values: one for each head, unless heads share them.
        groups = heads
        if self.cut == "by-group":
            groups = self._count_of_keys(stacked.shape, output, heads)
        size = self._rows_of_each(len(stacked), heads, groups)
        return split_alternating(stacked, self.cut, groups, size)

    @property
    def _stack_in_words(self) -> str:
        """The one array with Q, K and V in a message: ``'attn.qkv.weight' is 96 × 32``."""
        part = self.parts["Q"]
        return f"'{visible(part.name):.60}' is {part.size_text}"

    def _rows_of_each(self, rows: int, heads: int, groups: int) -> int:
        """Return the number of rows of each query, key and value in one array with this number of
        rows, which has a query for each of ``heads`` heads, and ``groups`` keys and values.

        Raises
        ------
        InvalidCaseError
            If the rows cannot be divided so, the keys do not have equally many heads each, or the
            cut has 4 or 8 parts, which do not have equally many heads.
        """
        named = self._stack_in_words
        size = rows // (heads + 2 * groups)
        if not size or rows % (heads + 2 * groups) or heads % groups:
            raise InvalidCaseError(
                "heads",
                f"{named}: {rows} is not the number of rows of {heads} queries and"
                f" {groups} keys and values",
            )
        # An array that is cut ``by-quarter`` or ``by-eighth`` has 4 or 8 parts; any other has 1.
        parts = PARTS_OF_CUT.get(self.cut, 1)
        if heads % parts:
            raise InvalidCaseError(
                "layout",
                f"{named}, and is taken for {parts} parts, each with Q, V and K of as many heads:"
                f" {parts} does not divide {heads} heads",
            )
        return size

    @property
    def _cuts_of_its_name(self) -> str:
        """How models with this name of the array cut it, as a clause."""
        if self.readings:
            return f"which is cut {self.readings}"
        return "which is cut in several ways by models of this name, or by those of other names"

    def _count_of_keys(self, shape: tuple[int, int], output: Any, heads: int) -> int:
        """Return the number of keys, which is that of values, in one array with Q of all heads.

        A matrix O shows it, as it has as many columns as Q has rows. Without such an O it is the
        number that config.json says, or that of heads if the array consists of three squares.

        Parameters
        ----------
        shape : pair of int
            That of the array, whose rows are those of queries, keys and values.
        output : array or None
            O, if there is one; with three indices it shows nothing.
        heads : int

        Raises
        ------
        InvalidCaseError
            If nothing shows the number, or config.json says another one than O shows.
        """
        rows, columns = shape
        configured = self.key_value_heads
        if output is None or output.ndim != 2:
            if configured is None and rows != 3 * columns:
                raise InvalidCaseError(
                    "output",
                    "is needed: it shows how many heads share a key in one array by groups",
                )
            return heads if configured is None else configured
        rows_of_Q = output.shape[1]
        size = rows_of_Q // heads
        # The rows that are not those of Q are those of as many keys as values, ``size`` for each. A
        # wrong number is refused by :meth:`_rows_of_each`, which counts the rows.
        groups = 1
        if size:
            groups = max((rows - rows_of_Q) // (2 * size), 1)
        if configured not in (None, groups):
            raise InvalidCaseError(
                "heads",
                f"'{visible(self.parts['Q'].name):.60}' has keys and values for {groups} heads, and"
                f" config.json says {configured}",
            )
        return groups

    def _biases(self, arrays: Mapping[str, Any], count: int | None) -> dict[str, list[Any]]:
        """Return the biases of Q, K and V that there are, by these letters: a list with a vector
        for each head.

        ``arrays`` are the matrices of the layer, of all heads, by their letters, and ``count`` is
        the number of heads, or ``None``, as in :meth:`heads`.
        """
        given = {letter: bias for letter, bias in self.biases.items() if letter != "O"}
        if not given:
            return {}
        # A bias is cut as its matrix is, as a matrix of one column: (rows, 1), or (heads, rows, 1).
        # The cut takes Q, K and V together: for a bias that is missing the first column of its
        # matrix stands in, which is not returned.
        columns = {letter: array[..., :1] for letter, array in arrays.items() if letter != "O"}
        for letter, bias in given.items():
            # A bias has the shape of its matrix without the last index: (rows,) or (heads, rows).
            shape = arrays[letter].shape[:-1]
            entries = needed_bias(self.parts[letter]).read(bias, shape)
            columns[letter] = entries[..., None]
        separate = self._separate(columns, arrays.get("O"), count)
        columns_of_heads = list(cut_into_heads(separate, count))
        return {letter: [head[letter][:, 0] for head in columns_of_heads] for letter in given}

    def _output_bias_and_norm(self, heads: list[dict[str, Any]]) -> tuple[Any, Norm | None]:
        """Return the bias of the outputs as a vector, and the norm, both read now, each ``None`` if
        there is none.

        ``heads`` are the matrices of each head by their letters: their sizes say how many entries
        the output bias and γ and β have to have.
        """
        first = heads[0]
        # Without an output matrix the outputs of the heads are concatenated.
        outputs = first["O"].shape[0] if "O" in first else len(heads) * first["V"].shape[0]
        output_bias = norm = None
        if "O" in self.biases:
            output_bias = needed_bias(self.parts["O"]).read(self.biases["O"], (outputs,))
        if self.norm is not None:
            tokens = first["V"].shape[1]
            norm = self.norm.read(tokens if self.norm.place == "pre" else outputs)
        return output_bias, norm


def _check_shapes_of_head(matrices: Mapping[str, Any]) -> None:
    """Check that the matrices of one head, by their letters, can be multiplied as the head needs;
    InvalidCaseError if not.
    """
    shapes = {letter: array.shape for letter, array in matrices.items()}
    rule = rule_that_shapes_violate(shapes)
    if rule:
        raise InvalidCaseError("weights", f"{shapes_in_words(matrices)}: {rule}")
