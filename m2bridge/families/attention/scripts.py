"""The Macaulay2 program of each computation, for running by hand."""

from __future__ import annotations

from functools import lru_cache

from m2bridge.algebra.field import QQ, CoefficientField
from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.attention.fibres import fibres_script
from m2bridge.families.attention.model import Coordinates, SingleLayerAttention
from m2bridge.families.attention.orbit_criterion import orbit_script
from m2bridge.maps.closure import closure_script
from m2bridge.maps.jacobian_criterion import jacobian_script
from m2bridge.maps.subject import Subject
from m2bridge.render import Script


def standalone(
    computation: str,
    model: SingleLayerAttention,
    field: CoefficientField = QQ,
    coordinates: Coordinates | None = None,
    method: str = "orbits",
) -> str:
    """The complete program for ``M2 --script``.

    Parameters
    ----------
    computation : {"closure", "dimension", "singular-locus", "fibres"}
        The dimension by elimination is part of the program for the closure; the method of fibres and cross-checks
        run the program for the fibres.
    method : {"orbits", "jacobian"}
        For ``singular-locus``.
    """
    if computation == "fibres":
        if model.t == 1:
            raise MethodUnavailableError("the method of fibres is for t ≥ 2")
        return fibres_script(model).standalone()
    subject = Subject.of(model, coordinates)
    if computation in ("closure", "dimension"):
        return closure_script(subject, field).standalone()
    if method == "jacobian":
        return jacobian_script(subject, field).standalone()
    if method != "orbits":
        raise InvalidCaseError("method", f"no script for the method '{method}': use orbits or jacobian")
    if model.t == 1:
        raise MethodUnavailableError("orbits classify functions of attention with t ≥ 2 only; use --method jacobian")
    return orbit_script(subject, field).standalone()


@lru_cache(maxsize=256)
def fibres_program(model: SingleLayerAttention) -> Script | None:
    """The program behind the statements about a case; for one token there is none."""
    return fibres_script(model) if model.t > 1 else None
