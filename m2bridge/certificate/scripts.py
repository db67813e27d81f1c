"""The Macaulay2 programs behind certificates, and digests of the shared code."""

from __future__ import annotations

from functools import cache, lru_cache

from m2bridge.algebra.field import QQ
from m2bridge.certificate.schema import digest
from m2bridge.families.attention.fibres import fibres_script
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.maps.closure import closure_script
from m2bridge.maps.subject import Subject
from m2bridge.render import Script
from m2bridge.resources import m2script


def script_of(question: str, model: SingleLayerAttention) -> Script | None:
    """The program that answers a question about a case; ``None`` if no program is needed."""
    if question == "closure":
        return closure_script(Subject.of(model), QQ)
    return _fibres(model) if model.t > 1 else None


@lru_cache(maxsize=256)
def _fibres(model: SingleLayerAttention) -> Script:
    return fibres_script(model)


def library_digests(names: tuple[str, ...]) -> dict[str, str]:
    """SHA-256 of shared Macaulay2 scripts of this installation.

    Raises
    ------
    ResourceError
        If this installation has no script of such a name.
    """
    return {name: _library_digest(name) for name in names}


@cache
def _library_digest(name: str) -> str:
    return digest(m2script(name).read_text(encoding="utf-8"))
