"""Singular loci by selected minors, against all minors, for varieties from books and papers."""

from dataclasses import replace
from itertools import combinations, combinations_with_replacement

import pytest

from m2bridge import QQ, CoefficientField, Engine, Transcript, ideal
from m2bridge.convert import m2_syntax
from m2bridge.convert.answers import parse
from m2bridge.engine.script import Script
from m2bridge.system import folder

pytestmark = pytest.mark.macaulay2("any")


def minors(rows: list[list[str]], size: int = 2) -> list[str]:
    """The minors of size 2 or 3 of a matrix, as text."""

    def determinant(matrix: list[list[str]]) -> str:
        if len(matrix) == 1:
            return f"({matrix[0][0]})"
        terms = [
            f"{'-' if j % 2 else '+'}({entry})*({determinant([row[:j] + row[j + 1 :] for row in matrix[1:]])})"
            for j, entry in enumerate(matrix[0])
        ]
        return "".join(terms)

    return [
        determinant([[rows[i][j] for j in columns] for i in chosen])
        for chosen in combinations(range(len(rows)), size)
        for columns in combinations(range(len(rows[0])), size)
    ]


def hankel(entries: str, height: int) -> list[list[str]]:
    listed = list(entries)
    return [listed[i : len(listed) - height + 1 + i] for i in range(height)]


COMPARED = """
scan({"Elimination", "Saturation", "MinimalPrimes"}, needsPackage)
forgotten = (name, value) -> null
compareMinors = (number, I) -> (
    components := minimalPrimes I;
    selectedPrimes := singularPrimes(components, 0);
    allPrimes := singularPrimes(components, infinity);
    same := all(selectedPrimes, P -> any(allPrimes, Q -> P == Q));
    mbEmit(toString number | "_counts", {#selectedPrimes, #allPrimes, if same then 1 else 0});
    mbEmit(toString number | "_dimensions", apply(selectedPrimes, dim));
    mbEmit(toString number | "_degrees", apply(selectedPrimes, degree)))
"""

# source: generators, variables, (dimension, degree) of each component of the singular locus where
# the source or a calculation by hand gives them.
VARIETIES: dict[str, tuple[list[str], str, list[tuple[int, int]]]] = {
    "Hartshorne, Exercise I.5.1(a), tacnode": (["x^2 - x^4 - y^4"], "x y", [(0, 1)]),
    "Hartshorne, Exercise I.5.1(b), node": (["x*y - x^6 - y^6"], "x y", [(0, 1)]),
    "Hartshorne, Exercise I.5.1(c), cusp": (["x^3 - y^2 - x^4 - y^4"], "x y", [(0, 1)]),
    "Hartshorne, Exercise I.5.1(d), triple point": (["x^2*y + x*y^2 - x^4 - y^4"], "x y", [(0, 1)]),
    "Hartshorne, Exercise I.5.2(a), pinch point": (["x*y^2 - z^2"], "x y z", [(1, 1)]),
    "Hartshorne, Exercise I.5.2(b), conical double point": (["x^2 + y^2 - z^2"], "x y z", [(0, 1)]),
    "Hartshorne, Exercise I.5.2(c), double line": (["x*y + x^3 + y^3"], "x y z", [(1, 1)]),
    "Hartshorne, Exercise I.2.9, twisted cubic": (["y - x^2", "z - x^3"], "x y z", []),
    "Cox, Little, O'Shea, section 3.3, tangent surface of it": (
        ["4*x^3*z - 3*x^2*y^2 - 6*x*y*z + 4*y^3 + z^2"],
        "x y z",
        [(1, 3)],
    ),
    "Cox, Little, O'Shea, section 3.4, four-leaved rose": (
        ["(x^2 + y^2)^3 - 4*x^2*y^2"],
        "x y",
        [(0, 1)],
    ),
    "Cox, Little, O'Shea, section 1.3, Whitney umbrella": (["x^2 - y^2*z"], "x y z", [(1, 1)]),
    "Eisenbud, section 1.9, cuspidal cubic": (["y^2 - x^3"], "x y", [(0, 1)]),
    "Harris, Lecture 1, cone over the twisted cubic": (
        minors(hankel("abcd", 2)),
        "a b c d",
        [(0, 1)],
    ),
    "Harris, Lecture 1, cone over the rational normal quartic": (
        minors(hankel("abcde", 2)),
        "a b c d e",
        [(0, 1)],
    ),
    "Harris, Lecture 2, scroll S(1, 2)": (
        minors([list("abd"), list("bce")]),
        "a b c d e",
        [(0, 1)],
    ),
    "Harris, Lecture 2, scroll S(2, 2)": (
        minors([list("abde"), list("bcef")]),
        "a b c d e f",
        [(0, 1)],
    ),
    "Harris, Lecture 2, cone S(0, 3)": (minors(hankel("abcd", 2)), "a b c d e", [(1, 1)]),
    "Harris, Lecture 2, Segre P1 x P2": (
        minors([list("abc"), list("def")]),
        "a b c d e f",
        [(0, 1)],
    ),
    "Harris, Lecture 2, Veronese surface": (minors(["abc", "bde", "cef"]), "a b c d e f", [(0, 1)]),  # type: ignore[list-item]
    "Harris, Lecture 9, secants of the quartic": (
        minors(hankel("abcde", 3), 3),
        "a b c d e",
        [(2, 4)],
    ),
    "Harris, Lecture 9, 3 x 3 determinant": (
        minors(["abc", "def", "ghi"], 3),
        "a b c d e f g h i",
        [(5, 6)],
    ),  # type: ignore[list-item]
    "Harris, Lecture 9, symmetric 3 x 3 determinant": (
        minors(["abc", "bde", "cef"], 3),
        "a b c d e f",
        [(3, 4)],
    ),  # type: ignore[list-item]
    "Fulton, Algebraic Curves, 3.1, cusp and double points": (["y^2 - x^3 - x^2"], "x y", [(0, 1)]),
    "Fulton, Algebraic Curves, 3.1, three leaves": (
        ["(x^2 + y^2)^2 + 3*x^2*y - y^3"],
        "x y",
        [(0, 1)],
    ),
    "Greuel, Pfister, surface singularity E8": (["x^2 + y^3 + z^5"], "x y z", [(0, 1)]),
    "Greuel, Pfister, surface singularity D4": (["x^2 + y^2*z + z^3"], "x y z", [(0, 1)]),
    "Reid, Undergraduate Algebraic Geometry, Cayley cubic": (
        ["a*b*c + a*b*d + a*c*d + b*c*d"],
        "a b c d",
        [(1, 1)] * 4,
    ),
    "Clebsch cubic": (["a^3 + b^3 + c^3 + d^3 - (a + b + c + d)^3"], "a b c d", [(0, 1)]),
    "Sturmfels, Solving Systems, section 8.2, twisted cubic and a line": (
        ["a*c - b^2", "a*d - b*c"],
        "a b c d",
        [(1, 1)],
    ),
    "Harris, Lecture 6, Grassmannian G(2, 4)": (["a*f - b*e + c*d"], "a b c d e f", [(0, 1)]),
    "nodal quartic curve, intersection of two quadrics": (
        ["a^2 + b^2 - c^2", "c*d - a*b"],
        "a b c d",
        [(1, 1)],
    ),
    "Macaulay's curve": (
        ["b*c - a*d", "c^3 - b*d^2", "a*c^2 - b^2*d", "b^3 - a^2*c"],
        "a b c d",
        [(0, 1)],
    ),
    "Cartan umbrella": (["z*(x^2 + y^2) - x^3"], "x y z", [(1, 1)]),
    "Steiner's Roman surface": (["x^2*y^2 + y^2*z^2 + z^2*x^2 - x*y*z"], "x y z", [(1, 1)] * 3),
    "three coordinate axes": (["x*y", "x*z", "y*z"], "x y z", [(0, 1)]),
    "a plane and a line beside": (["z*(z - 1)", "x*z"], "x y z", []),
    "a surface and a curve through its singular point": (
        ["y*(x^2 - y^2*z)", "(z - 1)*(x^2 - y^2*z)"],
        "x y z",
        [(1, 1)],
    ),
    "conjugate lines": (["x^2 + y^2"], "x y z", [(1, 1)]),
    "complete intersection of two quadrics": (["a*b - c*d", "a^2 - b*c"], "a b c d", [(1, 1)]),
    "commuting 2 x 2 matrices": (
        ["b*g - c*f", "a*f + b*h - b*e - d*f", "c*e + d*g - a*g - c*h"],
        "a b c d e f g h",
        [(2, 1)],
    ),
    "swallowtail": (
        ["16*x^4*z - 4*x^3*y^2 - 128*x^2*z^2 + 144*x*y^2*z - 27*y^4 + 256*z^3"],
        "x y z",
        [(1, 2), (1, 4)],
    ),
}


SOME = [
    "Cox, Little, O'Shea, section 3.3, tangent surface of it",
    "Cox, Little, O'Shea, section 3.4, four-leaved rose",
    "Harris, Lecture 2, scroll S(1, 2)",
    "Steiner's Roman surface",
    "three coordinate axes",
    "a plane and a line beside",
    "a surface and a curve through its singular point",
    "conjugate lines",
    "commuting 2 x 2 matrices",
    "swallowtail",
]


@pytest.mark.slow
@pytest.mark.parametrize("source", SOME)
def test_selected_minors_and_all_minors_give_the_same_locus(engine: Engine, source: str) -> None:
    generators, variables, expected = VARIETIES[source]
    variety = ideal(generators, variables=variables)
    selected = variety.singular_locus(engine=engine, minors="selected")
    every = variety.singular_locus(engine=engine, minors="all")
    assert selected.components is not None
    assert every.components is not None
    assert not selected.unfinished
    assert selected.ideal is not None
    assert every.ideal is not None
    assert selected.ideal.equals(every.ideal, engine=engine)  # both are radical
    assert len(selected.components) == len(every.components)
    assert sorted((c.dimension, c.degree) for c in selected.components) == sorted(expected)


@pytest.mark.slow
def test_selected_minors_and_all_minors_give_the_same_primes(engine: Engine) -> None:
    """Those of the sources, for the varieties whose loci are not compared above."""
    others = [source for source in VARIETIES if source not in SOME]
    for source, (counts, found) in compared(engine, others, QQ).items():
        expected = VARIETIES[source][2]
        assert counts == [len(expected), len(expected), 1], source
        assert sorted(found) == sorted(expected), source


@pytest.mark.slow
def test_over_a_finite_field_selected_minors_and_all_minors_give_the_same_primes(
    engine: Engine,
) -> None:
    """Of some varieties; as many primes as over QQ or more: a component can decompose there."""
    for source, ((selected, every, same), _) in compared(
        engine, SOME, CoefficientField(32003)
    ).items():
        assert selected == every, source
        assert same == 1, source
        assert selected >= len(VARIETIES[source][2]), source


def compared(
    engine: Engine, sources: list[str], field: CoefficientField
) -> dict[str, tuple[list[int], list[tuple[int, int]]]]:
    """Of each variety, in one run: numbers of primes by selected and by all minors, and dimensions
    and degrees.
    """
    template = (folder("templates") / "_singular_locus.m2.j2").read_text(encoding="utf-8")
    lines = [COMPARED, template.replace("mbEmit(", "forgotten(")]
    for number, source in enumerate(sources):
        generators, variables, _ = VARIETIES[source]
        variety = ideal(generators, variables=variables, field=field)
        lines.append(f"givenRing = {m2_syntax.ring(variety.ring)}")
        lines.append(f"compareMinors({number}, {m2_syntax.ideal(variety, 'givenRing')})")
    answer = parse(engine.run(Script("selected_minors", "\n".join(lines))).records)
    return {
        source: (
            list(answer.integers(f"{number}_counts")),
            list(
                zip(
                    answer.integers(f"{number}_dimensions"),
                    answer.integers(f"{number}_degrees"),
                    strict=True,
                )
            ),
        )
        for number, source in enumerate(sources)
    }


CUBIC = [(1, "yyz"), (-1, "xxx"), (1, "xzz"), (-1, "zzz")]
"""The smooth plane cubic y^2 z = x^3 - x z^2 + z^3."""
FERMAT = [(1, "xxx"), (1, "yyy"), (1, "zzz")]
"""A smooth plane cubic on whose cone all minors of lowest entries are zero."""


def cone_over_plane_times_cubic(terms: list[tuple[int, str]]) -> tuple[list[str], str]:
    """Generators and variables of the affine cone over P2 x E in its Segre embedding, where E is a
    plane cubic of these terms.

    Coordinates are u_i v_j, u in the plane and v in E: rows have rank one, and each cubic monomial
    in u times the equation of E is written in them.
    """
    rows = ["abc", "def", "ghi"]
    generators = minors(rows)  # type: ignore[arg-type]
    for chosen in combinations_with_replacement(rows, 3):
        products = []
        for coefficient, monomial in terms:
            factors = [row["xyz".index(v)] for row, v in zip(chosen, monomial, strict=True)]
            products.append(f"({coefficient})*{'*'.join(factors)}")
        generators.append(" + ".join(products))
    return generators, "a b c d e f g h i"


@pytest.mark.slow
def test_minors_beside_the_given_one_are_chosen_where_the_first_and_second_ones_are_zero(
    engine: Engine,
) -> None:
    """As on the cone over P2 x E for Fermat's cubic; they cut it down more than the given one."""
    generators, variables = cone_over_plane_times_cubic(FERMAT)
    cone = ideal(generators, variables=variables)
    template = (folder("templates") / "_singular_locus.m2.j2").read_text(encoding="utf-8")
    program = [
        f"givenRing = {m2_syntax.ring(cone.ring)}",
        f"coneIdeal = {m2_syntax.ideal(cone, 'givenRing')}",
        template,
        "jacobianMatrix = jacobian coneIdeal",
        "(minor', rows', columns') = minorOutside(jacobianMatrix, 5, coneIdeal)",
        'failed = new MutableHashTable from {"choices" => 0}',
        "cut = cutByMinors(jacobianMatrix, 5, coneIdeal, minor', rows', columns', failed)",
        'mbEmit("choice", failed#"choices")',
        "given = coneIdeal + ideal minor'",
        'mbEmit("more", if cut == given then 0 else 1)',
    ]
    answer = parse(engine.run(Script("minors_elsewhere", "\n".join(program))).records)
    assert answer.integer("choice") == 2
    assert answer.integer("more") == 1


def test_a_cone_of_dimension_zero_is_the_origin_without_a_decomposition(engine: Engine) -> None:
    """Its ideal is not prime; an ideal of points that is no cone is decomposed."""
    template = (folder("templates") / "_singular_locus.m2.j2").read_text(encoding="utf-8")
    program = [
        'needsPackage "MinimalPrimes"',
        template,
        "coneRing = QQ[x, y]",
        'mbEmit("apex", #(primesOf ideal(x^2, x*y, y^3)))',
        'mbEmit("is_apex", if first primesOf ideal(x^2, x*y, y^3) == ideal(x, y) then 1 else 0)',
        'mbEmit("points", #(primesOf ideal(x^2 - 1, y)))',
        'mbEmit("lines", #(primesOf ideal(x^2 - y^2)))',
    ]
    answer = parse(engine.run(Script("origin", "\n".join(program))).records)
    found = [answer.integer(name) for name in ("apex", "is_apex", "points", "lines")]
    assert found == [1, 1, 2, 2]


NOTING = """
cutWithoutNote = cutByMinors
noted = false
cutByMinors = (J, c, Q, minor', rows', columns', failed) -> (
    cut := cutWithoutNote(J, c, Q, minor', rows', columns', failed);
    if not noted then (
        noted = true;
        mbEmit("choice", failed#"choices");
        mbEmit("more", if cut == Q + ideal minor' then 0 else 1));
    cut)
"""
"""The first cut of a cone says which choice of minors had some that are not zero, and whether they
cut it down more than the given minor alone.
"""
AFTER_CUTS = "-- The minimal primes of an ideal."
"""In the template, behind ``cutByMinors`` and before what calls it."""


class Noting:
    """An engine whose scripts say what their first cut by minors was."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self.found: list[tuple[int, int]] = []
        """Of each such script the choice, and 1 if it cut down more, else 0."""

    @property
    def version(self) -> str:
        return self._engine.version

    def run(self, script: Script, *, timeout: float | None = None) -> Transcript:
        before, mark, behind = script.body.partition(AFTER_CUTS)
        if not mark:
            return self._engine.run(script, timeout=timeout)
        noting = replace(script, body=before + NOTING + mark + behind)
        transcript = self._engine.run(noting, timeout=timeout)
        answer = parse(transcript.records)
        self.found.append((answer.integer("choice"), answer.integer("more")))
        return transcript


@pytest.mark.slow
@pytest.mark.parametrize("field", [QQ, CoefficientField(32003)], ids=["QQ", "finite"])
def test_the_cone_over_a_plane_times_a_smooth_cubic_is_singular_at_its_apex(
    engine: Engine, field: CoefficientField
) -> None:
    """P2 x E is smooth, so that its cone is singular at the apex and nowhere else.

    The minors that come first are all zero on the cone; the second ones are not, and cut it down
    more than the given one alone.
    """
    generators, variables = cone_over_plane_times_cubic(CUBIC)
    cone = ideal(generators, variables=variables, field=field)
    noting = Noting(engine)
    locus = cone.singular_locus(engine=noting)
    assert locus.variety_dimension == 4
    assert locus.ideal is not None
    assert sorted(map(str, locus.ideal.generators)) == variables.split()
    assert noting.found == [(1, 1)]
