"""Random maps: the ideal that m2bridge gives, against a plain ``ker map(…)`` that knows nothing of
m2bridge.

``python -m tests.fuzz maps --count 1000 --seed 1``. Terms are drawn as exponents and coefficients
and written twice, for SymPy and for Macaulay2, so that the two sides share no text. Compared are
the ideals, each in the other, the dimension and the degree.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from random import Random

from sympy import Expr, symbols

from m2bridge import QQ, CoefficientField, Macaulay2, PolynomialMap, Script, image
from m2bridge.convert.answers import Answer, parse
from m2bridge.engine import Engine
from m2bridge.errors import TimeLimitError
from m2bridge.maps.closure import Image

FIELDS = (QQ, *map(CoefficientField, (2, 3, 5, 7)))
SECONDS = 120.0
"""For each side of one map; what takes longer is counted and left out."""

Terms = tuple[tuple[tuple[int, ...], int], ...]


@dataclass(frozen=True)
class Case:
    """A map over a field: what is drawn."""

    field: CoefficientField
    parameters: int
    images: tuple[Terms, ...]
    relations: tuple[Terms, ...]

    def polynomial_map(self) -> PolynomialMap:
        """For m2bridge."""
        names = symbols(f"s0:{self.parameters}")
        images = {f"x{j}": _expression(terms, names) for j, terms in enumerate(self.images)}
        return PolynomialMap.from_expressions(
            names, images, [_expression(terms, names) for terms in self.relations]
        )

    def kernel(self) -> str:
        """For Macaulay2: definitions of its target ring and of the kernel."""
        base = f"ZZ/{self.field.characteristic}" if self.field.characteristic else "QQ"
        images = ", ".join(f"({_text(terms)})_sourceRing" for terms in self.images)
        lines = [
            f"sourceRing = {base}[{', '.join(f's{i}' for i in range(self.parameters))}]",
            (
                f"sourceRing = sourceRing / radical ideal({', '.join(map(_text, self.relations))})"
                if self.relations
                else ""
            ),
            f"targetRing = {base}[{', '.join(f'x{j}' for j in range(len(self.images)))}]",
            f"theKernel = ker map(sourceRing, targetRing, {{{images}}})",
        ]
        return "\n".join(filter(None, lines))

    def __str__(self) -> str:
        return f"over {self.field}: {self.kernel()}"


def _expression(terms: Terms, names: tuple[Expr, ...]) -> Expr:
    total = 0 * names[0]
    for exponents, coefficient in terms:
        product = coefficient + 0 * names[0]
        for name, exponent in zip(names, exponents, strict=True):
            product *= name**exponent
        total += product
    return total


def _text(terms: Terms) -> str:
    written = [
        "*".join([f"({c})", *(f"s{i}^{e}" for i, e in enumerate(exponents))])
        for exponents, c in terms
    ]
    return "+".join(written) or "0*s0"


def random_case(random: Random) -> Case:
    """A small map over one of the fields, homogeneous or not, sometimes on a variety, sometimes
    degenerate.
    """
    field = random.choice(FIELDS)
    parameters = random.choice((1, 2, 2, 2, 3, 3))
    degree = random.choice((1, 2, 2, 3)) if parameters < 3 else random.choice((1, 2, 2))
    homogeneous = random.random() < 0.6
    drawn = [
        _terms(random, parameters, degree, homogeneous)
        for _ in range(random.randint(1, 5 if parameters < 3 else 4))
    ]
    if random.random() < 0.2:
        drawn.append(random.choice([(), drawn[0], tuple((e, 2 * c) for e, c in drawn[0])]))
    with_relation = parameters > 1 and random.random() < 0.25
    relation = _terms(random, parameters, 2, homogeneous) if with_relation else ()
    return Case(
        field, parameters, tuple(drawn), (relation,) if _is_relation(relation, field) else ()
    )


def _terms(random: Random, parameters: int, degree: int, homogeneous: bool) -> Terms:
    coefficients = {}
    for _ in range(random.randint(1, 3)):
        size = degree if homogeneous else random.randint(0, degree)
        exponents = [0] * parameters
        for _ in range(size):
            exponents[random.randrange(parameters)] += 1
        coefficients[tuple(exponents)] = random.choice((1, 1, -1, 2, -3, 5, 30, -7))
    return tuple(coefficients.items())


def _is_relation(terms: Terms, field: CoefficientField) -> bool:
    """Whether the points that it defines are not all, and not none."""
    left = (
        [exponents for exponents, c in terms if c % field.characteristic]
        if field.characteristic
        else [e for e, _ in terms]
    )
    return any(map(any, left))


def comparison(case: Case, found: Image) -> Script:
    """The plain program for the kernel, and what it says of the ideal that was found."""
    assert found.closure.ideal is not None
    generators = [
        re.sub(r"\*\*", "^", str(generator)) for generator in found.closure.ideal.generators
    ]
    body = f"""scan({{"Elimination", "Saturation", "MinimalPrimes"}}, needsPackage)
{case.kernel()}
given = ideal({", ".join(["0_targetRing", *(f"({g})_targetRing" for g in generators)])})
mbEmit("contained", isSubset(given, theKernel))
mbEmit("contains", isSubset(theKernel, given))
mbEmit("dimension", dim theKernel)
mbEmit("degree", degree theKernel)
"""
    return Script("kernel", body)


def complaint(case: Case, found: Image, answer: Answer) -> str:
    """What is wrong with an ideal; empty if nothing is."""
    closure = found.closure
    if not answer.boolean("contained"):
        return "an element that is not in the kernel"
    if closure.completeness.proved and not answer.boolean("contains"):
        return "not the whole kernel"
    if closure.dimension_status == "proved" and closure.dimension != answer.integer("dimension"):
        return f"dimension {closure.dimension}, not {answer.integer('dimension')}"
    if closure.degree not in (None, answer.integer("degree")):
        return f"degree {closure.degree}, not {answer.integer('degree')}"
    return ""


def run(count: int, seed: int, engine: Engine | None = None) -> int:
    """Draw and compare; the number of failures, each of which is shown."""
    if engine is None:
        with Macaulay2() as session:
            return run(count, seed, session)
    tally: Counter[str] = Counter()
    for number in range(count):
        case = random_case(Random(f"{seed} {number}"))
        try:
            found = image(case.polynomial_map(), engine=engine, field=case.field, timeout=SECONDS)
            if found.closure.ideal is None:
                raise TimeLimitError(found.closure.unfinished)
            said = complaint(
                case, found, parse(engine.run(comparison(case, found), timeout=SECONDS).records)
            )
        except TimeLimitError:
            tally["too long"] += 1
            continue
        tally[f"{found.closure.strategy}, {found.closure.completeness}"] += 1
        tally[str(case.field)] += 1
        if said:
            tally["failures"] += 1
            print(f"map {number} of seed {seed}, {said}:\n{case}\n")
    print(f"{count} maps, seed {seed}: {dict(sorted(tally.items()))}")
    return tally["failures"]
