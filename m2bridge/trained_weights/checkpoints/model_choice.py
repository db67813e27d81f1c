"""Which model the weights of a file are taken for: that of its config.json, or what is said.

Without a config.json the names of all arrays may be those of a known model. An option that is given
wins over the architecture. Without both the weights are those of lightning attention without skip
connections, the algebraic model of the paper, and the first line says so.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Self

from m2bridge.errors import InvalidCaseError
from m2bridge.results.sheet import plural
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
from m2bridge.trained_weights.checkpoints.tensors import LayerTensors

KINDS = {"lightning": "none", "softmax": "softmax"}
"""By the words of the option ``--as`` the normalization of the scores."""
_NORMS = {"layer": "LayerNorm", "layer1": "LayerNorm", "rms": "RMSNorm", "rms1": "RMSNorm"}
"""The usual names of norms, by their kind; a 1 at its end says that they multiply by 1 + γ."""
_PARTLY_ROTATED = {"GPT-J", "GPT-NeoX", "CodeGen", "ChatGLM2", "Phi", "StableLM"}
_PARTLY_ROTATED |= {"GLM", "GLM-4", "Nemotron", "Persimmon"}
"""Architectures that rotate a part of the coordinates of queries and keys only."""
_KEYS_OF_ROTATED_PART = ("rotary_pct", "partial_rotary_factor", "rotary_dim")
"""Keys of config.json that say which part of the coordinates is rotated, or how many are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelChoice:
    """The model that weights are taken for.

    Parameters
    ----------
    name : str
        The name of the architecture; empty if none is known, or the option ``--as`` asks for the
        layers alone.
    softmax : bool
        Whether scores are normalized by softmax.
    skip : bool
        Whether layers add their inputs to their outputs.
    rotary : bool
        Whether queries and keys are rotated by positions, in all of their coordinates; only then
        positions are counted.
    norm : str
        The norm and its place in words, as ``LayerNorm before``; empty if there is none, or no
        architecture is known.
    is_said : bool
        Whether an option or an architecture says if scores are normalized; else they are taken for
        scores without softmax.
    rotary_left_out : bool
        Whether the architecture has rotary positions that are not counted, as only some coordinates
        are rotated, or may be.
    positions : str
        What else in its scores depends on positions, as ``ALiBi``, and is left out; or empty.
    by_names : bool
        Whether the architecture is known by the names of arrays alone.
    window : int or None
        The number of tokens before it to which a token attends; ``None`` if it attends to all.
    tied_embeddings : bool
        Whether the architecture has one matrix for embeddings and outputs.
    norm_of_ones : str
        The kind of a norm before the layers whose γ is 1, as it is not trained; empty if there is
        none.
    layers : int or None
        The number of layers that config.json says; ``None`` if it says none.
    epsilon : Fraction or None
        The number that norms add to the variance, if config.json says it.
    unknown : str
        The ``model_type`` that config.json says, of which no architecture is known; or empty.
    unlike_file : tuple of str
        What the file says of layers and is not in this model, in nouns, as ``skip connections``.
    """

    name: str
    softmax: bool
    skip: bool
    rotary: bool
    norm: str
    is_said: bool
    rotary_left_out: bool
    positions: str = ""
    by_names: bool = False
    window: int | None = None
    tied_embeddings: bool = False
    norm_of_ones: str = ""
    layers: int | None = None
    unknown: str = ""
    epsilon: Fraction | None = None
    unlike_file: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        config: Mapping[str, Any],
        *,
        names: Iterable[str] = (),
        has_norms: bool = True,
        kind: str | None,
        normalization: str | None,
        skip: bool | None,
        norm: str | None,
    ) -> Self:
        """Return the model that config.json, the names of arrays and options say.

        Parameters
        ----------
        config : mapping
            The content of config.json, empty if there is none.
        names : iterable of str
            The names of all arrays, by which the model is known where there is no config.json.
        has_norms : bool
            Whether layers have the arrays of a norm.
        kind : str or None
            ``lightning`` or ``softmax``: these layers alone, whatever config.json says.
        normalization, skip, norm
            Options; ``None`` if they are not given.

        Raises
        ------
        InvalidCaseError
            If two options contradict each other, or config.json says that scores are other
            functions of the tokens than those of this model.
        """
        normalization = _said_normalization(kind, normalization)
        of_file = known_architecture(config, names)
        # With ``kind`` these layers alone are analysed, whatever the file says.
        architecture = None
        if kind is None:
            architecture = of_file
            _check_scores(config, architecture)
        if architecture is None:
            softmax = normalization == "softmax"
            return cls(
                name="",
                softmax=softmax,
                skip=bool(skip),
                rotary=False,
                norm="",
                is_said=normalization is not None,
                rotary_left_out=False,
                unknown=unknown_model(config) if kind is None else "",
                epsilon=norm_epsilon(config),
                window=attention_window(config),
                layers=number_of_layers(config),
                unlike_file=_unlike_file(
                    config, of_file, softmax=softmax, skip=bool(skip), rotary=False, norm=norm
                ),
            )
        rotates_all = architecture.rotary and not _rotates_a_part(architecture, config)
        softmax = architecture.softmax if normalization is None else normalization == "softmax"
        skip = architecture.skip if skip is None else skip
        norm_words = _norm_words(architecture, norm, has_norms=has_norms)
        unlike_file = _unlike_file(
            config, architecture, softmax=softmax, skip=skip, rotary=rotates_all, norm=norm
        )
        if norm_words.endswith(_MISSING):
            unlike_file += (f"the {norm_words.removesuffix(_MISSING)} each layer",)
        return cls(
            name=architecture.name,
            softmax=softmax,
            skip=skip,
            rotary=rotates_all,
            norm=norm_words,
            is_said=True,
            rotary_left_out=architecture.rotary and not rotates_all,
            positions=architecture.positions,
            by_names=architecture.by_names,
            window=attention_window(config),
            tied_embeddings=architecture.tied_embeddings,
            norm_of_ones=_norm_of_ones(architecture, norm),
            layers=number_of_layers(config),
            epsilon=norm_epsilon(config),
            unlike_file=unlike_file,
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
        the ``layers`` layers of the file, if config.json says more; or for no more tokens than a
        token attends to, if config.json says such a limit.
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
        """The model with its parts, as ``GPT-2: softmax, skip connections, …``, and at the end the
        advice how to take the weights for the algebraic model of the paper.

        It is empty if no architecture is known, or the layers alone are analysed (``--as``).
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


def _said_normalization(kind: str | None, normalization: str | None) -> str | None:
    """Return the normalization of the scores that the options say, ``softmax`` or ``none``;
    ``None`` if neither option is given.

    ``kind`` is the option ``--as``, ``lightning`` or ``softmax``, each with one normalization, and
    ``normalization`` the option of this name. InvalidCaseError if they contradict each other.
    """
    if kind is None:
        return normalization
    of_kind = KINDS[kind]
    if normalization not in (None, of_kind):
        raise InvalidCaseError(
            "normalization", f"{normalization} contradicts --as {kind}: leave one of them out"
        )
    return of_kind


def _check_scores(config: Mapping[str, Any], architecture: Architecture | None) -> None:
    """Check that scores are the functions of the tokens that the model here has.

    ``config`` is the content of config.json, and ``architecture`` the known model, or ``None``.

    Raises
    ------
    InvalidCaseError
        If a key of the configuration, or what is known of the architecture, says that they are not.
    """
    # Both are clauses on what changes the scores, and empty if nothing does.
    changes = what_changes_scores(config)
    if changes == "" and architecture is not None:
        changes = architecture.changes
    if changes:
        raise InvalidCaseError(
            "as_",
            f"{changes}, which is not in the model here: say softmax, or lightning, for the layers"
            " without it",
        )


def _norm_words(architecture: Architecture, norm: str | None, *, has_norms: bool) -> str:
    """Return the norm and its place in words: the norm of the option ``norm``, if it is given, else
    that of the architecture. ``has_norms`` is whether the file has the arrays of a norm.

    The result is as ``LayerNorm before`` or ``RMSNorm after``; as ``LayerNorm before left out, as
    its arrays are missing``; or empty, if there is no norm.
    """
    # A norm of the option is before the layers.
    if norm is not None:
        return "" if norm == "none" else f"{_NORMS[norm]} before"
    if architecture.norm is None:
        return ""
    words = f"{_NORMS[architecture.norm]} {architecture.norm_place}"
    # A norm that is not trained has γ = 1, and no arrays that could be missing.
    are_missing = architecture.norm_has_arrays and not has_norms
    return f"{words}{_MISSING}" if are_missing else words


_MISSING = " left out, as its arrays are missing"
"""The end of the words on a norm of which the file has no arrays."""


def _unlike_file(
    config: Mapping[str, Any],
    of_file: Architecture | None,
    *,
    softmax: bool,
    skip: bool,
    rotary: bool,
    norm: str | None,
) -> tuple[str, ...]:
    """Return what the file says of layers, by its configuration or the names of its arrays,
    ``of_file``, and a model with these parts has not, in nouns.
    """
    found = []
    if of_file is not None:
        if of_file.softmax and not softmax:
            found.append("softmax")
        if of_file.skip and not skip:
            found.append("skip connections")
        if of_file.rotary and not rotary:
            found.append("rotary positions")
        if of_file.positions:
            found.append(of_file.positions)
        # An option says the norm before the layers.
        is_other = norm is not None and (norm, "before") != (of_file.norm, of_file.norm_place)
        if of_file.norm is not None and is_other:
            found.append(f"the {_NORMS[of_file.norm]} {of_file.norm_place} each layer")
    if what_changes_scores(config) or (of_file is not None and of_file.changes):
        found.append("what else changes its scores")
    return tuple(found)


def _norm_of_ones(architecture: Architecture, norm: str | None) -> str:
    """Return the kind of the norm of an architecture, ``layer`` or ``rms``, perhaps with 1 at the
    end, if the norm is not trained, so that its γ is 1 and there is no array of it.

    The result is empty if the architecture has no such norm, and if the option ``norm`` is given,
    as it says a different norm, or that there is none.
    """
    if norm is not None or architecture.norm_has_arrays:
        return ""
    return architecture.norm or ""


def _rotates_a_part(architecture: Architecture, config: Mapping[str, Any]) -> bool:
    """Return whether a model with rotary positions rotates, or may rotate, only some coordinates of
    queries and keys.

    A configuration says which part of them is rotated, as 0.25, or how many coordinates are. If it
    says neither, all are rotated, but for the models in :data:`_PARTLY_ROTATED`.
    """
    text = text_model(config)
    said = [text[key] for key in _KEYS_OF_ROTATED_PART if text.get(key) is not None]
    # The part 1, or as many coordinates as a head has rows of Q, is all of them.
    if any(part in (1, architecture.head_size) for part in said):
        return False
    # Models of these names rotate a part also where no key of the configuration says it.
    return len(said) > 0 or architecture.name in _PARTLY_ROTATED
