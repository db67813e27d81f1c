"""What the heads, the layers and the network of a file determine, as far as the time suffices.

A limit on time may be reached at any place. Then all results found before are kept, with the words
about the limit; the sentences on all weights are left out where heads or layers are missing.
``found`` are the results on heads, and ``alone`` is what is known of each layer without the others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.layers import (
    AnalysedHeads,
    analyse_layers,
    find_behind_norms,
    find_heads,
    find_network,
)
from m2bridge.trained_weights.networks.remarks import find_remarks
from m2bridge.trained_weights.networks.symmetries import AnalysisOptions, LayerThenNorm


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The results on layers and on the network of all layers.

    Parameters
    ----------
    layers : sequence of LayerTensors
        The layers of the file, which have the numbers 1, 2, ….
    options : AnalysisOptions
        How the layers are read: with softmax, skip connections, biases, norms and positions or not.
    found : AnalysedHeads
        The results on heads.
    alone : dict
        What is known of each layer alone, by its number; a layer without results is missing.
    network : NetworkAtWeights or None
        What is known of all layers together. ``None`` for a single head; if the layers form no
        network; if nothing is known of one of them; and if a limit was reached before.
    behind_norms : dict
        What is known of each layer with the LayerNorm after it, by its number; a layer without
        such a norm, or without results, is missing.
    unfinished : str
        The limit by which results are missing, or that ranks of heads are not proved; else empty.
    """

    layers: Sequence[LayerTensors]
    options: AnalysisOptions
    found: AnalysedHeads
    alone: Mapping[int, NetworkAtWeights]
    network: NetworkAtWeights | None
    behind_norms: Mapping[int, LayerThenNorm]
    unfinished: str

    @classmethod
    def of(
        cls,
        layers: Sequence[LayerTensors],
        options: AnalysisOptions,
        *,
        a: int | None,
        tolerance: float | None,
    ) -> Self:
        """Return what is known of the heads of these layers, of the layers, and of the network, as
        far as the time suffices.

        Of layers and network nothing is said if a limit was reached before all heads were found, or
        ranks of some heads are not proved.

        Parameters
        ----------
        layers : sequence of LayerTensors
        options : AnalysisOptions
        a : int or None
            The largest rank of A, where A is given; ``None`` for the number d of its rows.
        tolerance : float or None
            Singular values above it, times the largest, count for effective ranks; ``None`` for the
            precision of the stored type.

        Raises
        ------
        InvalidCaseError
            If ``a`` is not positive, or is given with K and Q; if matrices of a layer do not fit;
            or if a skip connection is around layers whose outputs and tokens differ in size.
        TimeLimitError
            If the time does not suffice for a single head.
        """
        found = find_heads(layers, options, a, tolerance)
        _check_skip(found, options)
        alone: dict[int, NetworkAtWeights] = {}
        behind_norms: dict[int, LayerThenNorm] = {}
        network = None
        unfinished = found.unfinished
        if not unfinished:
            try:
                # The layers come one by one from a generator: if a limit interrupts it, those that
                # came before stay in the dictionary.
                alone.update(analyse_layers(layers, found, options))
                # A single head is a network of one layer: the heads and ``alone`` say all of it.
                if len(found.heads) > 1:
                    network = find_network(layers, found, options, alone)
                behind_norms.update(find_behind_norms(layers, found, options, alone))
            except TimeLimitError as limit:
                unfinished = str(limit)
        if network is not None and len(layers) == 1:
            # The layer is the network, of which more is known.
            alone = {1: network}
        return cls(
            layers=layers,
            options=options,
            found=found,
            alone=alone,
            network=network,
            behind_norms=behind_norms,
            unfinished=unfinished,
        )

    @property
    def has_separate_heads(self) -> bool:
        """Whether the results are about each head alone, although nothing is unfinished: there are
        several heads, which form neither a network nor one layer of which something is known.
        """
        is_known_layer = len(self.layers) == 1 and len(self.alone) > 0
        forms_nothing = self.network is None and not is_known_layer
        return self.unfinished == "" and len(self.found.heads) > 1 and forms_nothing

    @property
    def rank_depends_on_scores(self) -> bool:
        """Whether the rank of the differential of the network at its weights was computed, for
        several layers with softmax: it may differ if the model of the file multiplies scores by a
        factor, such as 1/√a.
        """
        network = self.network
        # A known rank is by a theorem if there is a ``note``, which names it. Then it depends on
        # ranks of matrices alone, which a factor does not change.
        is_computed = network is not None and network.rank is not None and not network.note
        return is_computed and self.options.softmax and len(self.layers) > 1

    def remarks(self, *, rotary: bool) -> tuple[str, ...]:
        """Return remarks, as sentences, on how layers were read, and for what the results hold.

        ``rotary`` is whether the model of the file has rotary positions, be they counted or not.
        """
        return find_remarks(
            self.layers,
            self.found,
            self.options.heads,
            separate=self.has_separate_heads,
            rotary=rotary,
        )


def _check_skip(found: AnalysedHeads, options: AnalysisOptions) -> None:
    """Check that input and output of a single head have the same size, if it has a skip connection;
    InvalidCaseError if not. Of several heads the model of the network, ``DeepAttention``, checks
    it.
    """
    if len(found.heads) != 1 or not options.skip:
        return
    shape = found.heads[0].shape
    if shape.d_out != shape.width:
        raise InvalidCaseError(
            "skip",
            f"a layer adds its input to its output, and these have {shape.width} and {shape.d_out}"
            " entries: leave it out",
        )
