"""The command ``weights``: from a file or matrices to exact results on heads, layers and network.

Ranks, orbits, fibres and dimensions are exact; distances are numerical. A *fact* is a pair of a
name and a value, a line of the text; ``choice`` is the model that the weights are taken for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from m2bridge.errors import InvalidCaseError
from m2bridge.limits import limited
from m2bridge.maps.jacobian_rank import FROM_TWO_TOKENS
from m2bridge.results.base import Proof, result_json
from m2bridge.results.markup import csv_text
from m2bridge.results.picture import PictureResult
from m2bridge.results.sheet import (
    Facts,
    Sheet,
    Table,
    duration,
    in_brackets,
    m2_list,
    plural,
    visible,
)
from m2bridge.trained_weights.analysis import Analysis
from m2bridge.trained_weights.checkpoints.accounting import (
    ArrayUse,
    StoredOptions,
    array_uses,
    kinds_left_out,
    left_out_words,
)
from m2bridge.trained_weights.checkpoints.architecture import configuration, has_rotary_positions
from m2bridge.trained_weights.checkpoints.array_names import NAMES
from m2bridge.trained_weights.checkpoints.find_layers import find_layers
from m2bridge.trained_weights.checkpoints.model_choice import ModelChoice
from m2bridge.trained_weights.facts import (
    FACTOR_OF_SCORES,
    TIED_EMBEDDINGS,
    Fact,
    facts_by_kind,
    in_short,
    most_important,
    numbered_sentences,
    summary,
)
from m2bridge.trained_weights.heads.distances import (
    LowRankChange,
    chosen_heads,
    nearest_loci,
    nearness_json,
    sentence_on_lower_ranks,
)
from m2bridge.trained_weights.heads.findings import HeadWeights
from m2bridge.trained_weights.models.description import ObjectDescription
from m2bridge.trained_weights.models.modules import is_module
from m2bridge.trained_weights.models.objects import arrays_of_object, find_layers_in_object
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.symmetries import LayerThenNorm, Symmetries
from m2bridge.trained_weights.networks.traits import AnalysisOptions
from m2bridge.trained_weights.options import check_options, read_heads_option
from m2bridge.trained_weights.picture import weights_figure
from m2bridge.trained_weights.scope import Scope
from m2bridge.trained_weights.tables import (
    arrays_table,
    changes_table,
    exact_table,
    numerical_table,
    singular_values_table,
)


@dataclass(frozen=True, slots=True)
class Weights(PictureResult):
    """The results on each head, on each layer and on the network of all layers.

    Attributes
    ----------
    source : str
        The file; empty for matrices and mappings.
    heads : tuple of HeadWeights
        All heads, by layers; each has ``layer``, ``head``, ``orbit``, ``singular``, ``boundary``,
        ``regular``, ``words()`` and ``numerical``.
    network : NetworkAtWeights or None
        ``None`` for one head, and where the layers do not follow one another, one of them is not
        known, or a limit was reached.
    left_out : tuple of str
        The kinds of arrays of the file that no answer is about, each with the number of its arrays,
        as ``MLPs (4)``.
    remarks : tuple of str
        Sentences on how the layers were read, and for what the results hold.
    seconds : float
        The time of the computation.
    unfinished : str
        The limit by which results are missing, or that ranks of heads are not proved; else empty.
    layers : dict
        By the number of a layer the results on it alone, which are of the same kind as those on the
        network. A layer without results is missing. The attribute ``symmetries`` has the symmetries
        of these layers.
    behind_norms : dict
        By the number of a layer with a LayerNorm after it the dimension of layer and norm together,
        and what the norm hides. A layer of which this is not known is missing.
    sort : str
        ``layer`` or ``distance``: the order of the heads in tables.
    worst : int or None
        The number of heads in tables, those nearest to the singular locus.
    choice : ModelChoice or None
        The model that the weights are taken for; ``None`` for matrices that were given.
    rank, rank_A, rank_V : int or None
        The ranks of A and V, of A, and of V, to which distances and changes are in a table.
    all_heads : bool
        Whether the text has all facts, and tables of all heads.
    arrays : tuple of ArrayUse
        What each array of the file is used for, or why it is left out.
    list_arrays : bool
        Whether the text has a table of the arrays of the file.
    assumed : tuple of str
        What is taken for granted of the model, of layers and of norms, as only names of arrays say
        it, as clauses: the results are proved where these hold. The first one says what of the
        model is left out, if anything is.
    adapter : str
        The adapter that was merged with the weights, a path; empty if none was.
    scope : Scope
        What the statements on layers and networks leave out of the model of the file.
    model_object : ObjectDescription or None
        What a model in memory says of itself, such as its class and the scale of its scores;
        ``None`` for files, dictionaries and arrays.

    Examples
    --------
    >>> found = weights(K=[[1, 0, 2]], Q=[[0, 1, 1]], V=[[1, 1, 0], [2, 2, 0]])
    >>> head = found.heads[0]
    >>> head.orbit, head.singular, head.shape.dimension
    (Orbit(r=1, s=1, m=0), True, 10)
    """

    source: str
    heads: tuple[HeadWeights, ...]
    network: NetworkAtWeights | None
    left_out: tuple[str, ...]
    remarks: tuple[str, ...]
    seconds: float
    unfinished: str = ""
    layers: Mapping[int, NetworkAtWeights] = field(default_factory=dict)
    behind_norms: Mapping[int, LayerThenNorm] = field(default_factory=dict)
    sort: str = "layer"
    worst: int | None = None
    choice: ModelChoice | None = None
    rank: int | None = None
    rank_A: int | None = None
    rank_V: int | None = None
    all_heads: bool = False
    arrays: tuple[ArrayUse, ...] = ()
    list_arrays: bool = False
    assumed: tuple[str, ...] = ()
    scope: Scope = field(default_factory=Scope)
    adapter: str = ""
    model_object: ObjectDescription | None = None

    @property
    def symmetries(self) -> dict[int, Symmetries]:
        """By the number of each layer in :attr:`layers`: its redundant directions, and the listed
        symmetries.
        """
        return {number: layer.symmetries for number, layer in self.layers.items()}

    @property
    def listed(self) -> tuple[HeadWeights, ...]:
        """The heads in tables, in their order."""
        return chosen_heads(self.heads, self.sort, self.worst)

    def proof(self) -> Proof:
        """Return whether all heads have proved ranks, and layers and network known dimensions."""
        if self.unfinished:
            return Proof(False, self.unfinished)
        networks = {f"layer {number}": layer for number, layer in self.layers.items()}
        if self.network is not None:
            networks["the network"] = self.network
        bounded = [name for name, one in networks.items() if one.dimension.exact is None]
        if bounded:
            return Proof(False, f"bounds for the dimension, not a number: {', '.join(bounded)}")
        reason = "exact ranks of all matrices"
        if self.assumed:
            reason += f", assuming that {'; and that '.join(self.assumed)}"
        return Proof(True, reason)

    def __repr__(self) -> str:
        return in_brackets(self, "source", "size_text", "is_proved")

    def to_sheet(self) -> Sheet:
        """Return the sentences :attr:`in_short`, :attr:`summary` and :attr:`sentence_on_ranks`, the
        facts, and the tables that are asked for.
        """
        facts: list[Fact] = []
        # The title of a known architecture has neither file nor sizes: they are a fact here, which
        # begins with the sizes where there is no file.
        if self.choice is not None and self.choice.words:
            source = f"in {visible(self.source)}" if self.source else ""
            facts.append(("weights", f"{source}: {self.size_text}, {self.tokens}".strip(": ")))
        # The summary may be None: a fact with this value is not written.
        facts += [("in short", self.in_short), ("summary", self.summary)]
        facts.append(("nearest to lower rank", self.sentence_on_ranks))
        blocks: list[Facts | Table] = [Facts([*facts, *self._facts()])]
        if changes := self._changes_asked_for:
            blocks.append(changes_table(changes, softmax=self.heads[0].shape.softmax))
        if self.shows_tables:
            blocks += [exact_table(self.listed), numerical_table(self.listed)]
        if len(self.heads) == 1:
            blocks.append(singular_values_table(self.heads[0]))
        if self.list_arrays:
            blocks.append(arrays_table(self.arrays))
        return Sheet(self._title(), blocks)

    def _facts(self) -> list[Fact]:
        """Return all facts if they are asked for, else the most important ones; and as the last
        fact how all of them were computed, and what more there is on request.
        """
        by_kind = facts_by_kind(
            self.heads, self.layers, self.network, self.behind_norms, self.scope
        )
        if self.left_out:
            used = sum(use.used_for != "" for use in self.arrays)
            words = f"{left_out_words(self.arrays)}; {used} of {len(self.arrays)} arrays are used"
            if not self.list_arrays:
                words += " (--arrays lists them)"
            by_kind["left out"] = [("left out", words)]
        if self.remarks:
            by_kind["remarks"] = [numbered_sentences("remark", self.remarks)]
        if self.unfinished:
            by_kind["unfinished"] = [("unfinished", self.unfinished)]
        all_facts = [fact for facts in by_kind.values() for fact in facts]
        shown = all_facts if self.all_heads else most_important(by_kind)
        on_request = []
        if len(all_facts) > len(shown):
            on_request.append(plural(len(all_facts) - len(shown), "more fact"))
        if not self.shows_tables:
            on_request.append("tables of the heads")
        words = f"exact ranks (FLINT), singular values (NumPy), {duration(self.seconds)}"
        if on_request:
            words += f"; --heads all shows {' and '.join(on_request)}"
        return [*shown, ("computed by", words)]

    def _title(self) -> str:
        """Return the first line: the known architecture in words; or, without one, the
        normalization, the file, the numbers of layers and heads, and for which tokens the answers
        hold, with hints on what was not said.
        """
        if self.choice is not None and self.choice.words:
            return self.choice.words
        normalized = "softmax" if self.heads[0].shape.softmax else "lightning"
        source = f" in {visible(self.source)}" if self.source else ""
        title = f"Weights of {normalized} self-attention{source}: {self.size_text}, {self.tokens}"
        if self.choice is not None and not self.choice.is_said:
            title += "; if it is softmax attention, as in nn.MultiheadAttention, say --as softmax"
        if self.choice is not None and self.choice.unknown:
            unknown = visible(self.choice.unknown)
            title += f"; config.json says '{unknown:.60}', of which no architecture is known"
        return title

    @property
    def shows_tables(self) -> bool:
        """Whether there are tables with a line for each head: of a single head always, of several
        heads where an option about these tables, or ``all``, asks for them.
        """
        is_asked_for = self.worst is not None or self.sort != "layer" or self.all_heads
        return is_asked_for or len(self.heads) == 1

    @property
    def in_short(self) -> str:
        """Two sentences in plain words: how many degrees of freedom the weights have, where this is
        known, and which matrices A = KᵀQ and V act like ones of lower rank.
        """
        network = None if self.unfinished else self.network
        return in_short(self.heads, self.layers, network, self.scope, rotary=self.is_rotary)

    @property
    def summary(self) -> str | None:
        """The sentence on what the function of all weights determines, which can be quoted, with
        the clauses of :attr:`assumed`. ``None`` where heads or layers are missing, or nothing is
        known.
        """
        # A sentence on all weights would be wrong where heads or layers are missing. If a network
        # was found, all of them are there: only what came after it is missing.
        is_whole = not self.unfinished or self.network is not None
        sentence = None
        if is_whole:
            sentence = summary(self.heads, self.layers, self.network, self.scope)
        # The sentence names what is left out of the model, the first clause, with its subject.
        clauses = self.assumed[1:] if self.scope.words else self.assumed
        if sentence is None or not clauses:
            return sentence
        return f"{sentence.removesuffix('.')}, assuming that {'; and that '.join(clauses)}."

    @property
    def sentence_on_ranks(self) -> str:
        """The sentence on the heads that are nearest to a lower rank, and on how much outputs
        change if these replace them, which can be quoted.
        """
        return sentence_on_lower_ranks(self.heads, rotary=self.is_rotary)

    @property
    def is_rotary(self) -> bool:
        """Whether queries and keys are rotated by positions, so that scores have another matrix in
        place of A for each difference of places.
        """
        return self.choice is not None and self.choice.rotary

    def changes(
        self, rank: int | None = None, *, rank_A: int | None = None, rank_V: int | None = None
    ) -> tuple[LowRankChange, ...]:
        """Return by how much outputs change if A and V of a head are truncated to a rank, or to a
        rank each: one value for each head in :attr:`listed`, in this order, with the changes by A
        alone and by V alone.

        With rotary positions ``rank`` is for V alone, and ``rank_A`` is refused, an
        InvalidCaseError: scores have another matrix for each difference of places.
        """
        if self.is_rotary and rank_A is not None:
            raise _rank_with_rotary_positions()
        if rank is not None:
            rank_A, rank_V = None if self.is_rotary else rank, rank
        return tuple(LowRankChange.of(one, rank_A=rank_A, rank_V=rank_V) for one in self.listed)

    @property
    def _changes_asked_for(self) -> tuple[LowRankChange, ...]:
        """The changes for the ranks that options say; empty if none does."""
        if (self.rank, self.rank_A, self.rank_V) == (None, None, None):
            return ()
        return self.changes(self.rank, rank_A=self.rank_A, rank_V=self.rank_V)

    @property
    def tokens(self) -> str:
        """For which numbers t of tokens the answers are proved, in words. Those on the network may
        be proved for fewer numbers, which are then said in parentheses.
        """
        if self.network is None or self.network.tokens == FROM_TWO_TOKENS:
            return FROM_TWO_TOKENS
        return f"{FROM_TWO_TOKENS} (the network: {self.network.tokens})"

    @property
    def size_text(self) -> str:
        """The numbers of layers and heads, as ``12 layers, 144 heads``."""
        layers = len({head.layer for head in self.heads})
        return f"{plural(layers, 'layer')}, {plural(len(self.heads), 'head')}"

    def to_json(self) -> dict[str, Any]:
        """Return the heads in :attr:`listed`, all layers, the network and the arrays for
        ``json.dumps``. An empty text, and what is not known, is ``None``.
        """
        heads = [head.to_json() | nearness_json(head) for head in self.listed]
        # Without an option for ranks there are no changes, and the loop ends at once.
        for head, change in zip(heads, self._changes_asked_for, strict=False):
            head["at_rank"] = change.to_json()
        layers = []
        for number, layer in self.layers.items():
            # The model and the gauge group stand once, with the network.
            own = replace(layer, model=None, gauge=())
            layers.append({"layer": number} | own.to_json())
            if number in self.behind_norms:
                layers[-1]["behind_norm"] = self.behind_norms[number].to_json()
        # Matrices that were given have no choice of a model, and so no architecture.
        choice = self.choice
        model = {
            "architecture": (choice is not None and choice.name) or None,
            "normalization": "softmax" if self.heads[0].shape.softmax else "none",
            "skip": choice is not None and choice.skip,
            "rotary": self.is_rotary,
            "object": None if self.model_object is None else self.model_object.to_json(),
        }
        case = {"source": self.source or None}
        common_fields = result_json(case, field="QQ", engine=None, seconds=self.seconds)
        return common_fields | {
            "heads": heads,
            "in_short": self.in_short,
            "summary": self.summary,
            "nearest": [locus.to_json() for locus in nearest_loci(self.heads)],
            "layers": layers,
            "network": None if self.network is None else self.network.to_json(),
            "left_out": list(self.left_out),
            "arrays": [use.to_json() for use in self.arrays],
            "remarks": list(self.remarks),
            "assumed": list(self.assumed),
            "unfinished": self.unfinished or None,
            **self.proof()._asdict(),
            "model": model,
            "adapter": self.adapter or None,
        }

    def to_macaulay2(self) -> str:
        """Return the triples (rk A, rk V, dim L∩U) of all heads as a list of Macaulay2, where L is
        the column space of A and U the row space of V.
        """
        triples = [f"({head.ranks.r}, {head.ranks.s}, {head.ranks.m})" for head in self.heads]
        return f"orbits = {m2_list(triples)}"

    def to_csv(self) -> str:
        """Return the exact ranks and the distances as lines of CSV, one for each head in
        :attr:`listed`, below a line of headings.
        """
        exact_names = ["layer", "head", "rank_A", "rank_V", "dim_intersection"]
        exact_names += ["singular", "boundary"]
        numerical_names = (
            "distance_to_singular_locus",
            "distance_to_boundary",
            "relative_change_of_function",
        )
        rows = []
        for head in self.listed:
            values = head.to_json()
            exact = [values[name] for name in exact_names]
            rows.append(exact + [values["numerical"][name] for name in numerical_names])
        return csv_text((*exact_names, *numerical_names), rows)

    def figure(self) -> Any:
        """Draw singular values on a logarithmic axis with the distances to strata, a table beside
        them, and a map of the distances by layers and heads.

        The map has all heads; singular values and table are those of :attr:`listed` heads.
        """
        return weights_figure(self.heads, self.listed, self.size_text)


def _rank_with_rotary_positions() -> InvalidCaseError:
    """Return the error about a rank of A where scores have no one matrix A."""
    return InvalidCaseError(
        "rank_A", "is for models without rotary positions, in which scores have one matrix A"
    )


def _remarks(
    analysis: Analysis,
    choice: ModelChoice,
    uses: Sequence[ArrayUse],
    stored: StoredOptions,
    *,
    rotary: bool,
    described: ObjectDescription | None = None,
) -> tuple[str, ...]:
    """Return all remarks, as sentences: on an object, on an adapter, on how layers were read, on
    what config.json says that is not in the file, on the rank of the network, and on embeddings.
    """
    # The remarks of ``choice`` are on more layers than the file has, and on a limit on tokens.
    remarks = [*analysis.remarks(rotary=rotary), *choice.remarks(len(analysis.layers))]
    if stored.adapter is not None:
        adapter = visible(str(stored.adapter))
        remarks.insert(0, f"the weights are those with the adapter '{adapter}' merged, exactly")
    if described is not None:
        remarks.insert(0, described.sentence)
    if analysis.rank_depends_on_scores:
        remarks.append(FACTOR_OF_SCORES)
    has_embeddings = any(use.kind == "embeddings" for use in uses)
    # A file with a matrix of the outputs of its own has not tied them.
    has_outputs = any(re.search(NAMES["outputs"], use.name) for use in uses)
    if choice.tied_embeddings and has_embeddings and not has_outputs:
        remarks.append(TIED_EMBEDDINGS)
    return tuple(remarks)


def weights(
    source: Any = None,
    *,
    K: Any = None,
    Q: Any = None,
    V: Any = None,
    A: Any = None,
    O: Any = None,
    a: int | None = None,
    heads: int | str | None = None,
    query: str | None = None,
    key: str | None = None,
    value: str | None = None,
    output: str | None = None,
    stacked: str | None = None,
    layout: str | None = None,
    ignore: str | None = None,
    adapter: str | Path | None = None,
    skip: bool | None = None,
    normalization: str | None = None,
    as_: str | None = None,
    biases: str = "count",
    norm: str | None = None,
    tolerance: float | None = None,
    sort: str = "layer",
    worst: int | None = None,
    rank: int | None = None,
    rank_A: int | None = None,
    rank_V: int | None = None,
    list_arrays: bool = False,
    timeout: float | None = None,
) -> Weights:
    """Say exactly what weights of self-attention determine, and how near to singular they are.

    Floating-point numbers are dyadic rationals, and A = KᵀQ is never rounded.

    Parameters
    ----------
    source : path, mapping or module, optional
        A file ``.npz``, ``.npy``, ``.safetensors``, ``.json``, or of PyTorch (read by
        ``weights_only=True``), a folder of such files, or a state dict. Or a model in memory: of
        transformers, of TransformerLens, with LoRA adapters of PEFT, or
        ``torch.nn.MultiheadAttention`` and the layers and stacks made of it. Its modules and its
        configuration say what they are; what they do not say is refused. Or, in its place:
    K, Q, V, A, O : array, optional
        Of shapes (heads·a, d), (heads·a, d), (heads·v, d), and O (d', heads·v), or with the heads
        as first index; or, in place of K and Q, A = KᵀQ of one head, whose rank rounding changes.
    a : int, optional
        With A: the largest rank of A, d when left out.
    heads : int or str, optional
        The number of heads of each layer, where ``config.json``, shapes or names do not say it (1
        for K, Q and V). With ``all`` or ``12,all`` the text has all facts, and tables of all heads.
    query, key, value, output, stacked : str, optional
        Names in the source that are not usual, ``stacked`` of one array with Q, K and V; ``*``
        stands for what differs from layer to layer.
    layout, ignore : str, optional
        How arrays are stored, as ``rows, by-head``; and arrays beside a layer that are left out.
    adapter : path, optional
        A LoRA adapter with its ``adapter_config.json``, which is merged with the source exactly.
    skip, normalization, as_
        As for :class:`~m2bridge.DeepAttention`; of a known architecture what ``config.json`` says
        when left out, else ``False`` and ``none``. ``as_`` is ``lightning`` or ``softmax``: these
        layers alone, whatever ``config.json`` says.
    biases, norm : str, optional
        ``count`` or ``ignore``; ``layer``, ``rms``, ``layer1``, ``rms1`` (which multiply by
        1 + γ) or ``none`` before each layer, in place of what the file says.
    tolerance : float, optional
        Singular values above it, times the largest, count for effective ranks; the precision of the
        stored type when left out.
    rank, rank_A, rank_V : int, optional
        Show distances of A and V to matrices of this rank, or of a rank each, and by how much the
        outputs of a layer change at most if these replace A, V, or both.
    sort, worst, list_arrays, timeout
        ``sort``: order of the tables of heads, by ``layer`` or ``distance`` to singular functions
        (of softmax to a lower rank). ``worst``: show only this number of heads.
        ``list_arrays``: also a table of all arrays. ``timeout``: seconds for all of it.

    Raises
    ------
    InvalidCaseError
        If names are missing, shapes do not fit, or an entry is not finite.
    ConversionError, MethodUnavailableError, TooLargeError, TimeLimitError
        If a file cannot be read; a package for it is missing; an array is too large; time is over.

    Examples
    --------
    >>> found = weights(K=[[1.0, 0.5, 0]], Q=[[0, 1.0, 0.25]], V=[[1.0, 0, 0], [0, 1.0, 0]])
    >>> found.heads[0].words()
    'A and V are determined by the function up to the scaling (A, V) → (λA, V/λ); K and Q by A up to
    GL(1)'
    >>> found.heads[0].numerical.distance_to_singular_locus
    0.70710678118655
    """
    words = {"normalization": normalization, "as_": as_, "norm": norm}
    words |= {"biases": biases, "sort": sort}
    ranks = {"rank": rank, "rank_A": rank_A, "rank_V": rank_V}
    check_options(words, tolerance=tolerance, worst=worst, ranks=ranks)
    head_count, all_heads = read_heads_option(heads)
    counts = biases == "count"
    matrices = {"K": K, "Q": Q, "V": V, "A": A, "O": O}
    names = {"query": query, "key": key, "value": value, "output": output, "stacked": stacked}
    stored = StoredOptions(layout=layout, ignore=ignore, adapter=adapter, biases=counts, norm=norm)
    is_file = isinstance(source, str | Path)
    with limited(timeout) as running:
        model = None
        if is_module(source) and not any(names.values()):
            found = find_layers_in_object(source, matrices, head_count, stored)
            (layers, available, head_count), model = found
            config = model.config
        else:
            # With names of arrays an object is the dictionary of its arrays.
            arrays = arrays_of_object(source) if is_module(source) else source
            layers, available, head_count = find_layers(arrays, matrices, names, head_count, stored)
            config = configuration(source) if is_file else {}
        choice = ModelChoice.of(
            config,
            names=available,
            architecture=None if model is None else model.architecture,
            # an object has all of its norms
            has_norms=model is not None or any(layer.norm is not None for layer in layers),
            kind=as_,
            skip=skip,
            normalization=normalization,
            norm=norm,
        )
        if choice.rotary and rank_A is not None:
            raise _rank_with_rotary_positions()
        options = AnalysisOptions.of(choice, heads=head_count, biases=counts, norm=norm)
        layers = [layer.with_options(biases=counts, norm=norm) for layer in layers]
        analysis = Analysis.of(layers, options, a=a, tolerance=tolerance)
        network = analysis.network
        uses = array_uses(available, layers, stored)
        # also if rotary positions are not taken into account
        rotary = has_rotary_positions(source, available) or choice.rotary_left_out
        rotary = rotary or (model is not None and model.architecture.rotary)
        described = None if model is None else model.description
        scope = Scope.of(analysis, choice, uses, rotary=rotary)
        # ε is None where no rank of the network depends on it.
        epsilon = None if network is None else network.epsilon
        assumed = choice.assumed_of_all(layers, epsilon)
        if scope.words:
            assumed = (f"the layers are taken {scope.words}", *assumed)
        return Weights(
            source=str(source) if is_file else "",
            heads=tuple(analysis.results.heads),
            layers=analysis.by_layer,
            network=network,
            behind_norms=analysis.behind_norms,
            unfinished=analysis.unfinished,
            left_out=kinds_left_out(uses),
            remarks=_remarks(analysis, choice, uses, stored, rotary=rotary, described=described),
            assumed=assumed,
            scope=scope,
            arrays=uses,
            adapter="" if adapter is None else str(adapter),
            model_object=described,
            seconds=running.seconds,
            choice=None if source is None else choice,
            sort=sort,
            worst=worst,
            rank=rank,
            rank_A=rank_A,
            rank_V=rank_V,
            all_heads=all_heads,
            list_arrays=list_arrays,
        )
