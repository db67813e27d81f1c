"""The result of a cross-check of single-layer attention for all sizes."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import islpy as isl

from m2bridge.families.all_sizes import AllSizesResult, AllSizesVerdict
from m2bridge.families.attention.all_sizes import sizes
from m2bridge.families.attention.all_sizes.facts import Basis
from m2bridge.families.attention.all_sizes.fibre_theorem import Stratum
from m2bridge.families.attention.all_sizes.sizes import Generators, canonical, order, words
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.orbits import Orbit
from m2bridge.maps.statement import IntegerMatrix
from m2bridge.results.sheet import Facts, Finding, Findings, Sheet, Table, duration, matrix_text

SCOPE = "all d, d', a ≥ 1 and all t ≥ 2, in characteristic 0"


@dataclass(frozen=True, slots=True)
class NotApplicable:
    """Sizes to which a statement does not apply, and whether what it says is so there all the same.

    Parameters
    ----------
    sizes : set of sizes
    reason : str
        Which hypothesis fails.
    holds_for, fails_for, undecided_for : sets of sizes
        Parts of them.
    """

    sizes: isl.Set
    reason: str
    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set


@dataclass(frozen=True, slots=True)
class Counterexample:
    """The first size for which a statement is false, and the largest orbit where it is.

    Parameters
    ----------
    model : SingleLayerAttention
    orbit : Orbit or None
        ``None`` if the statement is not about orbits.
    A, V : matrices of int
        Weights of a function in the orbit; empty without an orbit.
    numbers : dict of str to int
        What shows it: the dimension, the tangent dimension.
    """

    model: SingleLayerAttention
    orbit: Orbit | None = None
    A: IntegerMatrix = ()
    V: IntegerMatrix = ()
    numbers: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SizesVerdict(AllSizesVerdict):
    """The verdict on one statement for all sizes.

    REFUTED if it is false for some size to which it applies; else UNDECIDED if the facts leave some size open.

    Parameters
    ----------
    holds_for, fails_for, undecided_for : sets of sizes
        Together all sizes to which it applies.
    vacuous_for : set of sizes
        Those among ``holds_for`` without any function that it is about.
    not_applicable : tuple of NotApplicable
    counterexample : Counterexample or None
    """

    holds_for: isl.Set
    fails_for: isl.Set
    undecided_for: isl.Set
    vacuous_for: isl.Set
    not_applicable: tuple[NotApplicable, ...]
    counterexample: Counterexample | None

    def to_json(self) -> dict[str, Any]:
        """Return the verdict with its sets of sizes in words and exactly, for ``json.dumps``."""
        return {
            "statement": self.statement,
            **self._json(set_json),
            "not_applicable": [
                _not_applicable_json(out, set_json, "reason", "conclusion_") for out in self.not_applicable
            ],
            "counterexample": self._counterexample_json(),
            "computed": list(self.computed),
            "trusted": list(self.trusted),
        }

    def certificate_json(self) -> dict[str, Any]:
        """Return the verdict with the canonical texts of its sets of sizes.

        Raises
        ------
        MethodUnavailableError
            If a set of sizes has no canonical text.
        """
        return {
            **self._json(canonical),
            "not_applicable": [_not_applicable_json(out, canonical, "hypothesis", "") for out in self.not_applicable],
            "counterexample": self._counterexample_json(),
        }

    def _json(self, form: Callable[[isl.Set], Any]) -> dict[str, Any]:
        return {
            "part": self.part,
            "text": self.text,
            "source": self.source,
            "verdict": str(self.decision),
            **_parts_json(self, form),
            "vacuous_for": form(self.vacuous_for),
        }

    def _counterexample_json(self) -> dict[str, Any] | None:
        return None if self.counterexample is None else counterexample_json(self.counterexample)


def _parts_json(some: NotApplicable | SizesVerdict, form: Callable[[isl.Set], Any], prefix: str = "") -> dict[str, Any]:
    return {f"{prefix}{name}": form(getattr(some, name)) for name in ("holds_for", "fails_for", "undecided_for")}


def _not_applicable_json(
    out: NotApplicable, form: Callable[[isl.Set], Any], reason: str, prefix: str
) -> dict[str, Any]:
    return {"sizes": form(out.sizes), reason: out.reason, **_parts_json(out, form, prefix)}


@dataclass(frozen=True, slots=True)
class AllSizes(AllSizesResult[SizesVerdict]):
    """Verdicts on statements for all sizes, and the theorem about fibres on which they rest.

    Parameters
    ----------
    strata : tuple of Stratum
        The fibre over every orbit.
    basis : Basis
        What Macaulay2 computed.
    engine_version : str
        Empty if Macaulay2 was not used.

    Examples
    --------
    >>> with Macaulay2() as engine:
    ...     found = cross_check_all_sizes(engine=engine)
    >>> len(found.strata)
    4
    """

    strata: tuple[Stratum, ...]
    basis: Basis
    engine_version: str

    def evidence(self) -> dict[str, Any]:
        """Return the fibres and ideals, for ``json.dumps``."""
        return {
            "fibres": [stratum_json(stratum) for stratum in self.strata],
            "base_locus_empty": self.basis.base_locus_empty,
            "boundary_family": self.basis.boundary_family,
            "ideals": ideals_json(self.basis),
        }

    def to_json(self) -> dict[str, Any]:
        """Return every verdict with its sets of sizes, and what was computed."""
        return {
            "scope": SCOPE,
            "field": "QQ",
            "engine": {"version": self.engine_version or None},
            "seconds": round(self.seconds, 3),
            "verdicts": [verdict.to_json() for verdict in self.verdicts],
            "not_stated": list(self.not_stated),
            **({"unfinished": self.unfinished} if self.unfinished else {}),
            **self.evidence(),
        }

    def to_macaulay2(self) -> str:
        """Return for each statement the verdict and the sizes for which it is false, as a Macaulay2 hash table."""
        entries = (f'"{v.name}" => {{"{v.decision}", "false for {words(v.fails_for)}"}}' for v in self.verdicts)
        return f"verdicts = hashTable {{{', '.join(entries)}}}"

    def to_sheet(self) -> Sheet:
        """Return the theorem about fibres, and the verdicts."""
        used = {base for stratum in self.strata for base in stratum.bases}
        engine = f"Macaulay2 {self.engine_version}" if self.engine_version else "exact linear algebra (FLINT)"
        ideals = f"{len(self.basis.ideals)} fibre ideals of small cases; {len(used)} of them have the patterns below"
        rows = [(_signs(s.condition), s.length, s.points, s.patterns) for s in self.strata]
        legend = (
            "Fibres over the orbits (r = rk A, s = rk V, m = dim of the intersection of column space and row space)"
        )
        return Sheet(
            f"Cross-check of lightning self-attention for {SCOPE}",
            [
                Facts(
                    [
                        ("ideals", ideals),
                        ("not stated for all sizes", ", ".join(self.not_stated) or None),
                        ("computed by", f"{engine}, {duration(self.seconds)}"),
                        ("not finished", self.unfinished or None),
                    ]
                ),
                Table(("orbits", "length", "points", "patterns of entries"), rows, legend),
                Findings([_finding(verdict) for verdict in self.verdicts]),
            ],
        )


def counterexample_json(found: Counterexample) -> dict[str, Any]:
    """Where a statement is false."""
    return {
        "d": found.model.d,
        "d_out": found.model.d_out,
        "a": found.model.a,
        "orbit": None if found.orbit is None else found.orbit.to_json(),
        "A": [list(row) for row in found.A],
        "V": [list(row) for row in found.V],
        "numbers": dict(found.numbers),
    }


def counterexample_text(found: dict[str, Any]) -> str:
    """The same in words, from the data."""
    where = f"(d, d', a) = ({found['d']}, {found['d_out']}, {found['a']})"
    if found["orbit"] is None:
        return where
    orbit = f"orbit ({', '.join(str(found['orbit'][name]) for name in 'rsm')})"
    weights = [f"{name} = {matrix_text(found[name])}" for name in ("A", "V")]
    numbers = [f"{name.replace('_', ' ')} {value}" for name, value in found["numbers"].items()]
    return ", ".join((where, orbit, *weights, *numbers))


def stratum_json(stratum: Stratum) -> dict[str, Any]:
    """Orbits with one kind of fibre."""
    return {
        "orbits": stratum.condition,
        "length": stratum.length,
        "points": stratum.points,
        "patterns": stratum.patterns,
        "ideals": [str(base) for base in stratum.bases],
    }


def ideals_json(basis: Basis) -> list[dict[str, Any]]:
    """The Gröbner bases: polynomials as lists of terms, exponents and coefficient, the largest first."""
    return [
        {**base.orbit.to_json(), "d": base.d, "groebner_basis": _generators(ideal)}
        for base, ideal in sorted(basis.ideals.items())
    ]


def _generators(ideal: Generators) -> list[list[list[Any]]]:
    listed = [sorted(polynomial, key=lambda term: order(term[0]), reverse=True) for polynomial in ideal]
    listed.sort(key=lambda terms: order(terms[0][0]), reverse=True)
    return [[[list(monomial), str(c)] for monomial, c in terms] for terms in listed]


def set_json(some: isl.Set) -> dict[str, str]:
    """A set of sizes: for people, and exactly, in the language of the library isl."""
    return {"words": words(some), "isl": sizes.text(some)}


def _finding(verdict: SizesVerdict) -> Finding:
    said = [
        ("false for", verdict.fails_for),
        ("not decided for", verdict.undecided_for),
        ("true for", verdict.holds_for),
        ("vacuous for", verdict.vacuous_for),
    ]
    lines = [f"{name} {words(some)}" for name, some in said if not some.is_empty()]
    lines += [_not_applicable_text(out) for out in verdict.not_applicable]
    if verdict.counterexample is not None:
        lines.append(f"the first counterexample: {counterexample_text(counterexample_json(verdict.counterexample))}")
    return Finding(str(verdict.decision), verdict.name, verdict.text, lines)


def _not_applicable_text(out: NotApplicable) -> str:
    said = [
        ("would be true", out.holds_for),
        ("would be false", out.fails_for),
        ("is not decided here", out.undecided_for),
    ]
    parts = [(name, some) for name, some in said if not some.is_empty()]
    conclusion = parts[0][0] if len(parts) == 1 else ", ".join(f"{name} for {words(some)}" for name, some in parts)
    return f"does not apply for {words(out.sizes)}: {out.reason}; there it {conclusion}"


def _signs(condition: str) -> str:
    return condition.replace(">=", "≥").replace("<=", "≤")
