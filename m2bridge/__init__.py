"""m2bridge: Macaulay2 from Python for the algebraic geometry of lightning self-attention.

The public names are those of ``__all__``; everything else may change between releases.

Examples
--------
>>> from m2bridge import Macaulay2, SingleLayerAttention, singular_locus
>>> with Macaulay2() as engine:  # doctest: +SKIP
...     print(singular_locus(SingleLayerAttention(d=2, d_out=1), engine).to_text())
"""

from m2bridge._version import __version__
from m2bridge.computations.closure import Closure, closure
from m2bridge.computations.dimension import Dimension, dimension
from m2bridge.computations.fibres import Fibre, fibres
from m2bridge.computations.locus import Component, OrbitStatus, SingularLocus
from m2bridge.computations.membership import Membership, membership
from m2bridge.computations.observation import Observations, OrbitFacts, observe
from m2bridge.computations.singular_locus import singular_locus
from m2bridge.crosscheck import CrossCheck, Outcome, Verdict, cross_check
from m2bridge.engine import Engine, Limits, Macaulay2, Transcript
from m2bridge.model.attention import SingleLayerAttention
from m2bridge.model.field import QQ, CoefficientField
from m2bridge.model.orbit import Orbit
from m2bridge.model.polynomial_map import PolynomialMap
from m2bridge.model.ring import Ideal, PolynomialRing
from m2bridge.render import Script

__all__ = [
    "QQ",
    "Closure",
    "CoefficientField",
    "Component",
    "CrossCheck",
    "Dimension",
    "Engine",
    "Fibre",
    "Ideal",
    "Limits",
    "Macaulay2",
    "Membership",
    "Observations",
    "Orbit",
    "OrbitFacts",
    "OrbitStatus",
    "Outcome",
    "PolynomialMap",
    "PolynomialRing",
    "Script",
    "SingleLayerAttention",
    "SingularLocus",
    "Transcript",
    "Verdict",
    "__version__",
    "closure",
    "cross_check",
    "dimension",
    "fibres",
    "membership",
    "observe",
    "singular_locus",
]
