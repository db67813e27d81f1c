"""The ideal of the image of a polynomial map, by exact linear algebra in each multidegree."""

from m2bridge.implicitization.implicitize import (
    GeneratorOrbit,
    HilbertFunction,
    Implicitization,
    hilbert_function,
    implicitize,
    implicitize_and_look_ahead,
)
from m2bridge.implicitization.multigraded_map import MultigradedMap, multigraded

__all__ = [
    "GeneratorOrbit",
    "HilbertFunction",
    "Implicitization",
    "MultigradedMap",
    "hilbert_function",
    "implicitize",
    "implicitize_and_look_ahead",
    "multigraded",
]
