"""m2bridge: Macaulay2 from Python for the algebraic geometry of lightning self-attention.

The public names are those of ``__all__``; everything else may change between releases. They are imported when they are
first used, so that the command line can say what an interrupt does before anything else is loaded. Each has an example
in its docstring, written as after ``from m2bridge import *``.

Examples
--------
>>> from m2bridge import SingleLayerAttention, singular_locus
>>> locus = singular_locus(SingleLayerAttention(d=2, d_out=1))
>>> locus.variety_dimension, locus.dimension
(5, 4)
"""

from __future__ import annotations

from m2bridge._version import __version__

TYPE_CHECKING = False  # typing is imported later, as all else
if TYPE_CHECKING:
    from typing import Any

    from m2bridge.algebra.field import QQ, CoefficientField
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.algebra.ring import Ideal, PolynomialRing
    from m2bridge.batch.plan import Plan, plan
    from m2bridge.certifying.certify import certify
    from m2bridge.certifying.verified import verify
    from m2bridge.convert.ideal_text import read_ideal
    from m2bridge.convert.map_file import read_map
    from m2bridge.crosscheck import CrossCheck, Decision, Outcome, Verdict, cross_check
    from m2bridge.engine import Engine, Evaluation, Limits, Macaulay2, Transcript, Workspace
    from m2bridge.errors import (
        ContradictionError,
        ConversionError,
        EngineDiedError,
        EngineMemoryError,
        EngineTimeoutError,
        InvalidCaseError,
        M2BridgeError,
        PackageError,
        ScriptError,
        UnknownSymbolError,
        ValueTypeError,
        WorkspaceLostError,
    )
    from m2bridge.families.attention.all_sizes.cross_check import cross_check_all_sizes
    from m2bridge.families.attention.all_sizes.result import AllSizes
    from m2bridge.families.attention.fibres import Fibre, fibres
    from m2bridge.families.attention.membership import Membership, membership
    from m2bridge.families.attention.model import SingleLayerAttention
    from m2bridge.families.attention.observation import observe
    from m2bridge.families.attention.observed import Observations, OrbitFacts
    from m2bridge.families.attention.orbit_diagram import OrbitDiagram, orbit_diagram
    from m2bridge.families.attention.orbits import Orbit
    from m2bridge.families.deep_attention.all_sizes.cross_check import cross_check_deep_attention
    from m2bridge.families.deep_attention.all_sizes.result import DeepAttentionAllSizes
    from m2bridge.families.deep_attention.model import DeepAttention
    from m2bridge.families.polynomial_network.model import PolynomialNetwork
    from m2bridge.ideals.construct import ideal
    from m2bridge.ideals.file import read_ideal_file
    from m2bridge.ideals.mrdi import read_mrdi
    from m2bridge.ideals.sage_text import read_sage_text
    from m2bridge.ideals.singular_locus import IdealSingularLocus, IrreducibleComponent
    from m2bridge.maps.chain import Chain
    from m2bridge.maps.chain_file import read_model
    from m2bridge.maps.closure import closure
    from m2bridge.maps.closure_result import Closure
    from m2bridge.maps.dimension import Dimension, dimension
    from m2bridge.maps.hilbert_function import HilbertFunction, hilbert_function
    from m2bridge.maps.image import Image, image, implicitize
    from m2bridge.maps.layer import Layer
    from m2bridge.maps.singular_locus import singular_locus
    from m2bridge.maps.singular_locus_result import Component, OrbitStatus, SingularLocus
    from m2bridge.maps.slice_result import SliceSurface
    from m2bridge.maps.slice_surface import slice_surface
    from m2bridge.render import Script

_HOMES = {
    "maps.closure": ("closure",),
    "maps.closure_result": ("Closure",),
    "maps.dimension": ("Dimension", "dimension"),
    "families.attention.all_sizes.cross_check": ("cross_check_all_sizes",),
    "families.attention.all_sizes.result": ("AllSizes",),
    "families.deep_attention.all_sizes.cross_check": ("cross_check_deep_attention",),
    "families.deep_attention.all_sizes.result": ("DeepAttentionAllSizes",),
    "families.attention.fibres": ("Fibre", "fibres"),
    "families.attention.orbit_diagram": ("OrbitDiagram", "orbit_diagram"),
    "maps.hilbert_function": ("HilbertFunction", "hilbert_function"),
    "maps.slice_result": ("SliceSurface",),
    "maps.slice_surface": ("slice_surface",),
    "maps.image": ("Image", "image", "implicitize"),
    "maps.singular_locus_result": ("Component", "OrbitStatus", "SingularLocus"),
    "families.attention.membership": ("Membership", "membership"),
    "families.attention.observation": ("observe",),
    "families.attention.observed": ("Observations", "OrbitFacts"),
    "maps.singular_locus": ("singular_locus",),
    "convert.ideal_text": ("read_ideal",),
    "crosscheck": ("CrossCheck", "Decision", "Outcome", "Verdict", "cross_check"),
    "engine": ("Engine", "Evaluation", "Limits", "Macaulay2", "Transcript", "Workspace"),
    "families.attention.model": ("SingleLayerAttention",),
    "algebra.field": ("QQ", "CoefficientField"),
    "families.attention.orbits": ("Orbit",),
    "algebra.polynomial_map": ("PolynomialMap",),
    "algebra.ring": ("Ideal", "PolynomialRing"),
    "batch.plan": (
        "Plan",
        "plan",
    ),
    "certifying.certify": ("certify",),
    "certifying.verified": ("verify",),
    "convert.map_file": ("read_map",),
    "errors": (
        "M2BridgeError",
        "EngineTimeoutError",
        "EngineMemoryError",
        "InvalidCaseError",
        "ContradictionError",
        "ConversionError",
        "EngineDiedError",
        "PackageError",
        "ScriptError",
        "UnknownSymbolError",
        "ValueTypeError",
        "WorkspaceLostError",
    ),
    "families.deep_attention.model": ("DeepAttention",),
    "families.polynomial_network.model": ("PolynomialNetwork",),
    "ideals.construct": ("ideal",),
    "ideals.file": ("read_ideal_file",),
    "ideals.mrdi": ("read_mrdi",),
    "ideals.sage_text": ("read_sage_text",),
    "ideals.singular_locus": ("IdealSingularLocus", "IrreducibleComponent"),
    "maps.chain": ("Chain",),
    "maps.chain_file": ("read_model",),
    "maps.layer": ("Layer",),
    "render": ("Script",),
}
_HOME = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'm2bridge' has no attribute '{name}'")
    from importlib import import_module

    from m2bridge.machine import check_system

    check_system()
    return getattr(import_module(f"m2bridge.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(shell: Any) -> None:
    """``%load_ext m2bridge`` in IPython or a notebook: see :mod:`m2bridge.notebook`."""
    from m2bridge.notebook import load

    load(shell)


def unload_ipython_extension(shell: Any) -> None:
    """``%unload_ext m2bridge``."""
    from m2bridge.notebook import unload

    unload(shell)


__all__ = [
    "QQ",
    "AllSizes",
    "Chain",
    "Closure",
    "CoefficientField",
    "Component",
    "ContradictionError",
    "ConversionError",
    "CrossCheck",
    "Decision",
    "DeepAttention",
    "DeepAttentionAllSizes",
    "Dimension",
    "Engine",
    "EngineDiedError",
    "EngineMemoryError",
    "EngineTimeoutError",
    "Evaluation",
    "Fibre",
    "HilbertFunction",
    "Ideal",
    "IdealSingularLocus",
    "Image",
    "InvalidCaseError",
    "IrreducibleComponent",
    "Layer",
    "Limits",
    "M2BridgeError",
    "Macaulay2",
    "Membership",
    "Observations",
    "Orbit",
    "OrbitDiagram",
    "OrbitFacts",
    "OrbitStatus",
    "Outcome",
    "PackageError",
    "Plan",
    "PolynomialMap",
    "PolynomialNetwork",
    "PolynomialRing",
    "Script",
    "ScriptError",
    "SingleLayerAttention",
    "SingularLocus",
    "SliceSurface",
    "Transcript",
    "UnknownSymbolError",
    "ValueTypeError",
    "Verdict",
    "Workspace",
    "WorkspaceLostError",
    "__version__",
    "certify",
    "closure",
    "cross_check",
    "cross_check_all_sizes",
    "cross_check_deep_attention",
    "dimension",
    "fibres",
    "hilbert_function",
    "ideal",
    "image",
    "implicitize",
    "membership",
    "observe",
    "orbit_diagram",
    "plan",
    "read_ideal",
    "read_ideal_file",
    "read_map",
    "read_model",
    "read_mrdi",
    "read_sage_text",
    "singular_locus",
    "slice_surface",
    "verify",
]
