"""The observations of a case once more, without Macaulay2."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from m2bridge.checker.fibre_scheme import fibre_scheme
from m2bridge.checker.identities import base_locus_is_empty, boundary_family_is_verified
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.attention.deduction import deduce
from m2bridge.families.attention.fibres import Fibre, Fibres
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.observed import Observations
from m2bridge.families.attention.orbits import Orbit, orbits


def recheck(model: SingleLayerAttention) -> Observations:
    """What :func:`m2bridge.families.attention.observation.observe` says, from fibres by linear algebra in Python.

    Computed once for all t ≥ 2 and all a ≥ d.

    Raises
    ------
    MethodUnavailableError
        If linear algebra does not decide a fibre.
    ContradictionError
        If independent methods disagree.
    """
    return replace(_observations(model.d, model.d_out, model.alpha), model=model)


@lru_cache(maxsize=256)
def _observations(d: int, d_out: int, alpha: int) -> Observations:
    model = SingleLayerAttention(d, d_out, alpha)
    at: dict[Orbit, Fibre] = {}
    for orbit in orbits(model):
        fibre = fibre_scheme(orbit, model)
        if fibre is None:
            raise MethodUnavailableError(f"linear algebra does not decide the fibre over orbit {orbit} of {model}")
        at[orbit] = fibre
    return deduce(model, Fibres(at, base_locus_is_empty(), d > 1 and boundary_family_is_verified()))
