"""Which model the weights of a file are taken for: by its config.json, or as options say.

Without a config.json the names of all arrays may show a known model. An option that is given
wins over the architecture. Without both the weights are taken for lightning attention without skip
connections, the algebraic model of the paper, and the first line says so. Options are ``None`` if
they are not given; a norm that an option says is before the layers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import in_brackets, plural
from m2bridge.trained_weights.checkpoints.architecture import (
    Architecture,
    attention_window,
    known_architecture,
    norm_epsilon,
    number_of_layers,
    text_model,
    unknown_model,
    what_changes_scores,
)
from m2bridge.trained_weights.checkpoints.norms import norm_title
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors

KINDS = {"lightning": "none", "softmax": "softmax"}
"""By the words of the option ``--as`` the normalization of the scores."""
_KEYS_OF_ROTATED_PART = ("rotary_pct", "partial_rotary_factor", "rotary_dim")
"""Keys of config.json that say which part of the coordinates is rotated, or how many are."""
_ALGEBRAIC_MODEL = Architecture(
    name="",
    softmax=False,
    skip=False,
    norm=None,
    norm_place="pre",
    rotary=False,
    heads=None,
    key_value_heads=None,
    head_size=None,
    tied_embeddings=False,
)
"""What layers are without a known architecture."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The model that weights are taken for."""

    name: str  # of the architecture; empty if none is known, or for the layers alone (``--as``)
    softmax: bool
    skip: bool
    rotary: bool  # only if all coordinates are rotated: then positions are counted
    norm: str  # with its place, as ``LayerNorm before``; empty without one, or an architecture
    is_said: bool  # whether an option or an architecture says if scores are normalized
    rotary_left_out: bool  # whether some coordinates are rotated, or may be
    positions: str = ""  # what else in its scores depends on positions, and is left out
    by_names: bool = False  # whether it is known by the names of arrays alone
    window: int | None = None  # the number of tokens before it to which a token attends
    tied_embeddings: bool = False  # whether it has one matrix for embeddings and outputs
    norm_of_ones: str = ""  # the kind of a norm before the layers that is not trained
    layers: int | None = None  # the number of layers that config.json says
    unknown: str = ""  # the ``model_type`` in config.json of which no architecture is known
    epsilon: Fraction | None = None  # what norms add to the variance, if config.json says it
    unlike_file: tuple[str, ...] = ()  # what the file says, and is not in this model, in nouns

    def __repr__(self) -> str:
        return in_brackets(self, "name", "softmax", "skip", "rotary", "norm")

    @classmethod
    def of(
        cls,
        config: Mapping[str, Any],
        *,
        names: Iterable[str] = (),
        architecture: Architecture | None = None,
        has_norms: bool = True,
        kind: str | None,
        normalization: str | None,
        skip: bool | None,
        norm: str | None,
    ) -> Self:
        """Return the model that config.json, the names of all arrays and options say; with the
        option ``kind``, ``lightning`` or ``softmax``, the layers alone, whatever config.json says.
        The ``architecture`` is what a model in memory says, in place of config.json and names, and
        ``has_norms`` whether layers have the arrays of a norm.
        """
        if kind is not None:
            if normalization not in (None, KINDS[kind]):
                raise InvalidCaseError(
                    "normalization",
                    f"{normalization} contradicts --as {kind}: leave one of them out",
                )
            normalization = KINDS[kind]
        of_file = architecture or known_architecture(config, names)
        # Clauses on what makes scores other functions of the tokens than in the model here.
        changes = what_changes_scores(config) or (of_file.changes if of_file else "")
        if kind is None and changes:
            raise InvalidCaseError(
                "as_",
                f"{changes}, which is not in the model here: say softmax, or lightning, for the"
                " layers without it",
            )
        known = of_file if kind is None else None
        model = known or _ALGEBRAIC_MODEL
        rotates_all = model.rotary and not _rotates_a_part(model, config)
        softmax = model.softmax if normalization is None else normalization == "softmax"
        skip = model.skip if skip is None else skip
        # What the file says and this model has not, in nouns.
        unlike_file = []
        if of_file is not None:
            norm_is_other = norm is not None and (norm, "pre") != (of_file.norm, of_file.norm_place)
            differences = {
                "softmax": of_file.softmax and not softmax,
                "skip connections": of_file.skip and not skip,
                "rotary positions": of_file.rotary and not rotates_all,
                of_file.positions: of_file.positions != "",
                f"the {of_file.norm_words} each layer": of_file.norm is not None and norm_is_other,
            }
            unlike_file += [noun for noun, is_other in differences.items() if is_other]
        if changes:
            unlike_file.append("what else changes its scores")
        norm_words = model.norm_words
        if norm is not None and known is not None:
            norm_words = "" if norm == "none" else f"{norm_title(norm)} before"
        elif norm_words and model.norm_has_arrays and not has_norms:
            unlike_file.append(f"the {norm_words} each layer")
            norm_words += " left out, as its arrays are missing"
        return cls(
            name=model.name,
            softmax=softmax,
            skip=skip,
            rotary=rotates_all,
            norm=norm_words,
            is_said=known is not None or normalization is not None,
            rotary_left_out=model.rotary and not rotates_all,
            positions=model.positions,
            by_names=model.by_names,
            window=attention_window(config),
            tied_embeddings=model.tied_embeddings,
            # An option says a different norm, or that there is none.
            norm_of_ones="" if norm is not None or model.norm_has_arrays else model.norm or "",
            layers=number_of_layers(config),
            unknown=unknown_model(config) if kind is None else "",
            epsilon=norm_epsilon(config),
            unlike_file=tuple(unlike_file),
        )

    def left_out(self, layers: int) -> tuple[str, ...]:
        """Return what the file says of its model and statements on these ``layers`` layers leave
        out, in nouns: arrays that are left out are not among them.
        """
        found = list(self.unlike_file)
        if self.layers is not None and layers < self.layers:
            found.append(plural(self.layers - layers, "further layer"))
        if self.window is not None:
            found.append(f"the limit of attention to {self.window} tokens")
        return tuple(found)

    @property
    def assumed(self) -> tuple[str, ...]:
        """What is taken for granted of the model, as clauses: that names of arrays show it, if they
        alone do; else empty.
        """
        if not self.by_names:
            return ()
        return (f"the model is {self.name}, as the names of its arrays say",)

    def assumed_of_all(
        self, layers: Sequence[LayerTensors], epsilon: Fraction | None
    ) -> tuple[str, ...]:
        """Return as clauses what is taken for granted of the model, of its layers and of norms.

        ``epsilon`` is what the norms of the network add to the variance; ``None`` if the rank of
        the network at these weights was not computed with such a number.
        """
        clauses = [layer.assumed for layer in layers]
        clauses += [layer.norm.assumed for layer in layers if layer.norm is not None]
        # The dimension does not depend on ε, but the rank at these weights may.
        if epsilon is not None and self.epsilon is None:
            clauses.append(f"ε of the norms is {float(epsilon):g}, as in PyTorch")
        # Layers of which nothing is assumed have an empty text; equal texts are said once.
        return (*self.assumed, *dict.fromkeys(text for text in clauses if text))

    def remarks(self, layers: int) -> tuple[str, ...]:
        """Return remarks, as sentences, where the results hold for a part of the model only: for
        the ``layers`` layers of the file, or for no more tokens than a token attends to.
        """
        found = []
        if self.layers is not None and layers < self.layers:
            found.append(
                f"config.json says {self.layers} layers, and {layers} with weights of their own"
                f" {'is' if layers == 1 else 'are'} in the file: what is said of a network is said"
                " of these"
            )
        if self.window is not None:
            found.append(
                f"tokens attend to {self.window} tokens at most: what is said of more is said of"
                " the model without this limit"
            )
        return tuple(found)

    @property
    def words(self) -> str:
        """The model with its parts, as ``GPT-2: softmax, skip connections, …``, and the advice how
        to take the weights for the algebraic model of the paper; empty without an architecture.
        """
        if not self.name:
            return ""
        parts = ["softmax" if self.softmax else "lightning attention"]
        if self.skip:
            parts.append("skip connections")
        if self.norm:
            parts.append(self.norm)
        if self.rotary:
            parts.append("rotary positions")
        elif self.rotary_left_out:
            parts.append("rotary positions left out")
        if self.positions:
            parts.append(f"{self.positions} left out")
        name = f"{self.name} by its names" if self.by_names else self.name
        return f"{name}: {', '.join(parts)}; --as lightning for the algebraic model of the paper"


def _rotates_a_part(architecture: Architecture, config: Mapping[str, Any]) -> bool:
    """Return whether a model with rotary positions rotates, or may rotate, only some coordinates of
    queries and keys: the configuration says a part, as 0.25, or how many; else the table does.
    """
    text = text_model(config)
    said = [text[key] for key in _KEYS_OF_ROTATED_PART if text.get(key) is not None]
    # The part 1, or as many coordinates as a head has rows of Q, is all of them.
    if any(part in (1, architecture.head_size) for part in said):
        return False
    return len(said) > 0 or architecture.rotates_a_part
