"""The public names of m2bridge, and where each is defined.

``__init__.py`` imports one when it is first used.
"""

from ._version import __version__
from .algebra.extension_field import ExtensionField
from .algebra.field import QQ, CoefficientField
from .algebra.polynomial_map import PolynomialMap
from .algebra.ring import PolynomialRing
from .batch.items import Outcome
from .batch.plan import Plan, plan
from .batch.run_many import run_many
from .batch.store import Store, Task, tasks
from .certification.make import certify
from .certification.verify import verify
from .convert.toml_files import load_map, parse_map, read_map
from .crosscheck.cross_check import CrossCheck, cross_check
from .crosscheck.verdict import Verdict
from .decision_boundary.count import RobustnessCount, robustness_count
from .decision_boundary.result import Robustness, robustness
from .engine.script import Engine, Script, Transcript
from .errors import (
    BatchError,
    ContradictionError,
    ConversionError,
    EngineDiedError,
    EngineError,
    EngineNotFoundError,
    EngineVersionError,
    InvalidCaseError,
    M2BridgeError,
    MemoryLimitError,
    MethodUnavailableError,
    PackageError,
    ScriptError,
    TimeLimitError,
    TooLargeError,
    UnknownSymbolError,
    ValueTypeError,
    WorkspaceLostError,
    WrongAnswerError,
)
from .families.attention.all_sizes.closures import AllClosures, closures_of_all_sizes
from .families.attention.all_sizes.family import AllSizes, cross_check_all_sizes
from .families.attention.figures import OrbitDiagram, orbit_diagram
from .families.attention.model import SingleLayerAttention
from .families.attention.observations.at_orbits import Observations, OrbitFacts
from .families.attention.observations.observe import observe
from .families.attention.orbits.fibres import Fibre, fibres
from .families.attention.orbits.membership import Membership
from .families.attention.orbits.orbits import Orbit
from .families.convolutional_network.model import ConvolutionalNetwork
from .families.deep_attention.all_sizes.family import (
    DeepAttentionAllSizes,
    cross_check_deep_attention,
)
from .families.deep_attention.model import DeepAttention
from .families.polynomial_network.activation import ActivatedNetwork
from .families.polynomial_network.model import PolynomialNetwork
from .ideals.construct import (
    from_sage,
    ideal,
    load_ideal,
    parse_ideal,
    read_ideal,
    read_ideal_file,
    read_mrdi,
    read_sage_text,
)
from .ideals.ideal import Ideal
from .ideals.singular_locus_result import IdealSingularLocus, IrreducibleComponent
from .ideals.varieties import ProjectiveScheme
from .limits import Limits
from .maps.chain import Chain, Layer
from .maps.closure import Closure, Image, closure, image, implicitize
from .maps.degrees.ed_degree import EDDegree, ed_degree
from .maps.degrees.polar_degrees import PolarDegrees, polar_degrees
from .maps.dimension import Dimension, dimension
from .maps.hilbert_function import HilbertFunction, hilbert_function
from .maps.locus import Component, OrbitStatus
from .maps.polynomial_map_model import load_model, parse_model, read_model
from .maps.singular_locus import SingularLocus, singular_locus
from .maps.slice_surface import SliceSurface, slice_surface
from .results.base import Decision
from .trained_weights.heads.membership import membership
from .trained_weights.result import Weights, weights
from .training.critical_points import CriticalPoints, critical_points
from .workspace.evaluation import Evaluation
from .workspace.macaulay2 import Macaulay2, Workspace

__all__ = [
    "QQ",
    "ActivatedNetwork",
    "AllClosures",
    "AllSizes",
    "BatchError",
    "Chain",
    "Closure",
    "CoefficientField",
    "Component",
    "ContradictionError",
    "ConversionError",
    "ConvolutionalNetwork",
    "CriticalPoints",
    "CrossCheck",
    "Decision",
    "DeepAttention",
    "DeepAttentionAllSizes",
    "Dimension",
    "EDDegree",
    "Engine",
    "EngineDiedError",
    "EngineError",
    "EngineNotFoundError",
    "EngineVersionError",
    "Evaluation",
    "ExtensionField",
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
    "MemoryLimitError",
    "MethodUnavailableError",
    "Observations",
    "Orbit",
    "OrbitDiagram",
    "OrbitFacts",
    "OrbitStatus",
    "Outcome",
    "PackageError",
    "Plan",
    "PolarDegrees",
    "PolynomialMap",
    "PolynomialNetwork",
    "PolynomialRing",
    "ProjectiveScheme",
    "Robustness",
    "RobustnessCount",
    "Script",
    "ScriptError",
    "SingleLayerAttention",
    "SingularLocus",
    "SliceSurface",
    "Store",
    "Task",
    "TimeLimitError",
    "TooLargeError",
    "Transcript",
    "UnknownSymbolError",
    "ValueTypeError",
    "Verdict",
    "Weights",
    "Workspace",
    "WorkspaceLostError",
    "WrongAnswerError",
    "__version__",
    "certify",
    "closure",
    "closures_of_all_sizes",
    "critical_points",
    "cross_check",
    "cross_check_all_sizes",
    "cross_check_deep_attention",
    "dimension",
    "ed_degree",
    "fibres",
    "from_sage",
    "hilbert_function",
    "ideal",
    "image",
    "implicitize",
    "load_ideal",
    "load_map",
    "load_model",
    "membership",
    "observe",
    "orbit_diagram",
    "parse_ideal",
    "parse_map",
    "parse_model",
    "plan",
    "polar_degrees",
    "read_ideal",
    "read_ideal_file",
    "read_map",
    "read_model",
    "read_mrdi",
    "read_sage_text",
    "robustness",
    "robustness_count",
    "run_many",
    "singular_locus",
    "slice_surface",
    "tasks",
    "verify",
    "weights",
]

def load_ipython_extension(shell: object) -> None: ...
def unload_ipython_extension(shell: object) -> None: ...
