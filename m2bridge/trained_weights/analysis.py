"""What the heads, the layers and the network of a file determine, as far as the time suffices.

A limit on time may be reached at any place. Then all results found before are kept, with the words
about the limit; the sentences on all weights are left out where heads or layers are missing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from m2bridge.errors import InvalidCaseError, TimeLimitError
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors
from m2bridge.trained_weights.networks.at_weights import NetworkAtWeights
from m2bridge.trained_weights.networks.layers import (
    HeadResults,
    analyse_layers,
    find_behind_norms,
    find_heads,
    find_network,
)
from m2bridge.trained_weights.networks.remarks import find_remarks
from m2bridge.trained_weights.networks.symmetries import LayerThenNorm
from m2bridge.trained_weights.networks.traits import AnalysisOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """The results on heads, on layers, by their numbers from 1 on, and on the network of all.

    A layer without results is missing.
    """

    layers: Sequence[LayerTensors]
    options: AnalysisOptions
    results: HeadResults
    by_layer: Mapping[int, NetworkAtWeights]  # each without the others
    # None for a single head; if the layers form no network; if nothing is known of one of them; and
    # if a limit was reached before.
    network: NetworkAtWeights | None
    behind_norms: Mapping[int, LayerThenNorm]  # with the LayerNorm after the layer
    unfinished: str  # the limit by which results are missing, or that ranks are not proved; or ""

    @classmethod
    def of(
        cls,
        layers: Sequence[LayerTensors],
        options: AnalysisOptions,
        *,
        a: int | None,
        tolerance: float | None,
    ) -> Self:
        """Return what is known of the heads of these layers, of the layers, and of the network.

        Of layers and network nothing is said if a limit was reached before all heads were found, or
        ranks of some heads are not proved. TimeLimitError if the time does not suffice for a single
        head. InvalidCaseError for a wrong ``a``, the largest rank of a given A; if matrices of a
        layer do not fit; or if a skip connection is around layers whose outputs and tokens differ
        in size.
        """
        results = find_heads(layers, options, a, tolerance)
        # Of several heads the model of the network, ``DeepAttention``, checks it.
        if len(results.heads) == 1 and options.skip:
            shape = results.heads[0].shape
            if shape.d_out != shape.width:
                raise InvalidCaseError(
                    "skip",
                    f"a layer adds its input to its output, and these have {shape.width} and"
                    f" {shape.d_out} entries: leave it out",
                )
        by_layer: dict[int, NetworkAtWeights] = {}
        behind_norms: dict[int, LayerThenNorm] = {}
        network = None
        unfinished = results.unfinished
        if not unfinished:
            try:
                # The layers come one by one from a generator: if a limit interrupts it, those that
                # came before stay in the dictionary.
                by_layer.update(analyse_layers(layers, results, options))
                # A single head is a network of one layer: heads and layer say all of it.
                if len(results.heads) > 1:
                    network = find_network(layers, results, options, by_layer)
                behind_norms.update(find_behind_norms(layers, results, options, by_layer))
            except TimeLimitError as limit:
                unfinished = str(limit)
        if network is not None and len(layers) == 1:
            # The layer is the network, of which more is known.
            by_layer = {1: network}
        return cls(
            layers=layers,
            options=options,
            results=results,
            by_layer=by_layer,
            network=network,
            behind_norms=behind_norms,
            unfinished=unfinished,
        )

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
        """Return remarks, as sentences, on how layers were read, and for what the results hold;
        ``rotary`` is whether the model has rotary positions, be they counted or not.
        """
        # Whether the results are about each head alone, although nothing is unfinished: there are
        # several heads, which form neither a network nor one layer of which something is known.
        is_known_layer = len(self.layers) == 1 and len(self.by_layer) > 0
        forms_nothing = self.network is None and not is_known_layer
        has_several = self.unfinished == "" and len(self.results.heads) > 1
        return find_remarks(
            self.layers,
            self.results,
            self.options.heads,
            separate=has_several and forms_nothing,
            rotary=rotary,
        )
