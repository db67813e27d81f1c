"""Everything that takes a limit ends at it: by a named error, or by a result that says so.

The inputs are so large that none is done within the limit. A computation that goes on is seen by a
thread that waits for it; so it has a limit of its own, as threads begin without one.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
import sympy

from m2bridge import (
    ConvolutionalNetwork,
    DeepAttention,
    Engine,
    Limits,
    Macaulay2,
    PolynomialMap,
    PolynomialNetwork,
    SingleLayerAttention,
    certify,
    closure,
    critical_points,
    cross_check,
    dimension,
    ed_degree,
    hilbert_function,
    ideal,
    image,
    polar_degrees,
    singular_locus,
    slice_surface,
)
from m2bridge.errors import M2BridgeError, TimeLimitError
from m2bridge.families.attention.all_sizes.generators import generators_of_all_sizes
from tests.events import PATIENCE
from tests.tiers import few

pytestmark = [pytest.mark.engine, pytest.mark.slow]

SECONDS = 1.0

HARD = ideal(
    "x^5*y + y^5*z + z^5*x + w^3*x + u*v - 1, x^4*z + y^4*w - z^3*x*y + 2*u^2,"
    " w^5 + x^3*y*z - y^4*u + 3, u^3 + v^4*x - w*z"
)


def hard_map() -> PolynomialMap:
    """Five general forms of degree about five in eight coordinates."""
    s = sympy.symbols("s0:5")
    images = {}
    for i in range(8):
        terms = [(i + 2) ** j * s[j] ** (2 + (i + j) % 3) * s[(i + j) % 5] for j in range(5)]
        images[f"x{i}"] = sum(terms)
    return PolynomialMap.from_expressions(list(s), images)


LAYER = SingleLayerAttention(4, 4, 2)
DEEP = DeepAttention([12] * 6, [6] * 5, t=2, heads=4)
METHODS = [
    "groebner_basis",
    "dimension",
    "degree",
    "radical",
    "minimal_primes",
    "primary_decomposition",
    "associated_primes",
    "is_prime",
    "is_radical",
    "resolution",
]

Computation = Callable[..., Any]
BY_TIMEOUT: dict[str, Computation] = {
    **{f"ideal.{method}": getattr(HARD, method) for method in METHODS},
    "ideal.singular_locus": HARD.singular_locus,
    "ideal.eliminate": partial(HARD.eliminate, ["u", "v"]),
    "ideal.contains": partial(HARD.contains, "x^7*y - z"),
    "certify": partial(certify, SingleLayerAttention(12, 12, 6), "3.4"),
    "certify closure": partial(certify, SingleLayerAttention(3, 2, 3), "closure"),
    "certify exposed": partial(certify, SingleLayerAttention(6, 6, 3), "exposed"),
    "cross_check": partial(cross_check, SingleLayerAttention(24, 24, 12), "3.4"),
    "cross_check polar": partial(cross_check, LAYER, "polar"),
    "cross_check generators": partial(cross_check, LAYER, "generators"),
    "ed_degree": partial(ed_degree, HARD),
    "ed_degree of a map": lambda **options: ed_degree(hard_map(), **options),
    "polar_degrees": lambda **options: polar_degrees(hard_map(), **options),
    "dimension": partial(dimension, DEEP),
    "singular_locus": partial(singular_locus, LAYER),
    "singular_locus of a network": partial(singular_locus, PolynomialNetwork([3, 4, 4, 2], 2)),
    "closure": partial(closure, LAYER),
    "closure of filters": partial(closure, ConvolutionalNetwork([3, 3, 2], 2)),
    "image": lambda **options: image(hard_map(), **options),
    "hilbert_function": partial(hilbert_function, LAYER, 8),
    "slice_surface": lambda **options: slice_surface(hard_map(), **options),
    "critical_points": partial(critical_points, SingleLayerAttention(3, 2, 1)),
    "generators_of_all_sizes": generators_of_all_sizes,
}


def ending(compute: Callable[[], Any]) -> object:
    """What a computation returns, or its named error; anything else is raised, a hang too."""
    with ThreadPoolExecutor(1) as pool:
        try:
            return pool.submit(compute).result(PATIENCE)
        except M2BridgeError as reason:
            return reason


@pytest.mark.parametrize("name", few(BY_TIMEOUT, 6))
def test_a_limit_ends_every_computation(name: str, engine: Engine) -> None:
    found = ending(lambda: BY_TIMEOUT[name](engine=engine, timeout=SECONDS))
    if isinstance(found, M2BridgeError):
        assert isinstance(found, TimeLimitError), found
        assert "second" in str(found)


@pytest.mark.parametrize("method", METHODS)
def test_the_limit_of_a_session_ends_every_method(method: str, program: str) -> None:
    """It holds for each run of Macaulay2: what tries again would go on for ever."""
    with Macaulay2(program, limits=Limits(timeout=SECONDS)) as session:
        found = ending(lambda: getattr(HARD, method)(engine=session))
    assert isinstance(found, TimeLimitError)
    assert found.of_session
