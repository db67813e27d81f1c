"""The ideal of the closure of the image of a monomial map: the ideal of a lattice.

The map x_j = c_j t^(a_j) satisfies a binomial for each integer vector u with Σ u_j a_j = 0. These
vectors are a lattice, and the binomials of a Markov basis of it generate the ideal; 4ti2 or
Normaliz finds one. Where neither is installed, the binomials of any basis are saturated by
Macaulay2. The ``columns`` are the a_j, and ``independent`` is the map in linearly independent
coordinates. What a lattice or a program does not give is a MethodUnavailableError. Source:
Sturmfels, *Gröbner Bases and Convex Polytopes*, Lemma 4.1 and Lemma 12.2.
"""

import shutil
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from itertools import product
from math import prod
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import flint

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.linear_algebra import IntegerVector, elimination_price
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert import m2_syntax
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError
from m2bridge.limits import check, clock

WHEELS = {"passagemath-latte-4ti2": "markov", "passagemath-macaulay2": "normaliz"}
"""The name of the program for Markov bases in each of the wheels that bring one."""
ELIMINATE = "use --strategy elimination"

BY_MARKOV = "all generators: a Markov basis of the lattice of relations among the exponents, by {}"
BY_SATURATION = (
    "all generators: the binomials of a basis of the lattice of relations among the exponents,"
    " saturated by Macaulay2"
)


def is_monomial(polynomial_map: PolynomialMap) -> bool:
    """Whether the parameters are free, and each image is a scalar (or 0) times a monomial."""
    return not polynomial_map.relations and all(len(image) <= 1 for image in polynomial_map.images)


def exponent_columns(independent: PolynomialMap) -> list[IntegerVector]:
    """Return for each coordinate the exponents a_j of its image c_j t^(a_j), none of which is
    constant.
    """
    if not independent.images:
        raise MethodUnavailableError(f"all coordinates are zero; {ELIMINATE}")
    if not is_monomial(independent):
        raise MethodUnavailableError(
            "the ideal belongs to a lattice only where each coordinate is a monomial"
        )
    # no image is zero, since they are linearly independent, so each has one term
    columns = [next(iter(image)) for image in independent.images]
    if not all(map(any, columns)):  # all exponents of a constant are zero
        raise MethodUnavailableError(f"a coordinate is constant; {ELIMINATE}")
    return columns


def lattice_basis(columns: Sequence[IntegerVector]) -> list[IntegerVector]:
    """Return a short basis over ZZ of all integer vectors u with Σ u_j a_j = 0.

    The vectors (Σ u_j a_j | u) form the lattice spanned by the rows (a_j | e_j), where e_j are the
    unit vectors. Its Hermite normal form is another basis of this lattice, in echelon form; so the
    rows of it that begin with zeros in place of Σ u_j a_j are a basis of all vectors (0 | u), and
    the ends u of these rows are the basis that is wanted; it is then made short by LLL.

    Examples
    --------
    >>> lattice_basis([(2, 0), (1, 1), (0, 2)])
    [(1, -2, 1)]
    """
    if not columns:
        # a matrix without rows has no number of columns
        return []
    coordinate_count = len(columns)
    parameter_count = len(columns[0])
    # Raises at once if the normal form would not end before the limit on time. It takes about 4
    # times as long as elimination modulo a prime, since its entries grow.
    check(4 * elimination_price(coordinate_count, parameter_count + coordinate_count))
    rows = []
    for j, column in enumerate(columns):
        unit = [0] * coordinate_count
        unit[j] = 1
        rows.append([*column, *unit])
    hermite = flint.fmpz_mat(rows).hnf().tolist()
    relations = [row[parameter_count:] for row in hermite if not any(row[:parameter_count])]
    kernel = flint.fmpz_mat(relations)
    # LLL makes the vectors short, and short vectors make binomials of low degree
    return [_with_positive_leading_entry(tuple(map(int, row))) for row in kernel.lll().tolist()]


def _with_positive_leading_entry(vector: IntegerVector) -> IntegerVector:
    """Return the vector or its negative, which gives the same ideal, so that its first nonzero
    entry is positive.
    """
    leading_entry = next(filter(None, vector))  # the vector is not zero
    if leading_entry > 0:
        return vector
    return tuple(-entry for entry in vector)


def markov_program() -> Path | None:
    """Return the first program for Markov bases that is installed; ``None`` if there is none."""
    return next(installed_markov_programs(), None)


def installed_markov_programs() -> Iterator[Path]:
    """Yield the installed programs for Markov bases, preferred ones first: 4ti2 on the path, as
    Debian installs it; 4ti2 in its wheel; and Normaliz in the wheel of Macaulay2.
    """
    from importlib import metadata  # slow to import

    installed = shutil.which("4ti2-markov")
    if installed:
        yield Path(installed)
    for wheel, name in WHEELS.items():
        with suppress(metadata.PackageNotFoundError):
            place = metadata.distribution(wheel).locate_file(f"sage_wheels/bin/{name}")
            program = Path(str(place)).absolute()
            if program.exists():
                yield program


def program_name(program: Path) -> str:
    """Return the name of the software that a program for Markov bases belongs to."""
    return "Normaliz" if program.name == "normaliz" else "4ti2"


def markov_basis(columns: Sequence[IntegerVector], program: Path) -> list[IntegerVector]:
    """Return vectors u whose binomials x^u⁺ − x^u⁻ are minimal generators of the ideal of the
    lattice.

    Each vector is checked to be in the lattice; that the binomials generate the ideal is what the
    program, 4ti2 or Normaliz, guarantees, and not checked.
    Source: Hemmecke, Malkin, *Computing generating sets of lattice ideals*, J. Symb. Comp. 44
    (2009).
    """
    # the matrix whose columns are the a_j
    rows = list(zip(*columns, strict=True))
    name = program_name(program)
    with TemporaryDirectory() as folder:
        try:
            lines = _markov_lines(program, name, rows, Path(folder) / "map")
        except subprocess.TimeoutExpired as reason:
            raise clock().late(name) from reason
        except (OSError, subprocess.CalledProcessError) as reason:
            raise MethodUnavailableError(f"{name} failed ({program}); {ELIMINATE}") from reason
    vectors = [tuple(map(int, line.split())) for line in lines if line.strip()]
    basis = list(map(_with_positive_leading_entry, vectors))
    for u, row in product(basis, rows):
        if sum(map(mul, u, row)) != 0:  # an entry of Σ u_j a_j
            raise MethodUnavailableError(
                f"{name} gave a polynomial that is not a relation ({program}); {ELIMINATE}"
            )
    # no certificate or example should depend on the order in which a program writes
    return sorted(basis)


def _markov_lines(program: Path, name: str, rows: Sequence[IntegerVector], stem: Path) -> list[str]:
    """Run a program, within the limit on time, and return the lines of the Markov basis that it
    writes, one for each vector; ``stem`` is the path of the exchanged files without their endings.
    """
    if name == "Normaliz":
        # the monoid that the a_j generate, whose Markov basis is asked for
        monoid = [f"amb_space {len(rows)}", f"monoid {len(rows[0])}"]
        lines = [*monoid, *_vector_lines(zip(*rows, strict=True)), "MarkovBasis"]
        input_file = stem.with_suffix(".in")
        arguments, basis, size_lines = [str(input_file)], ".mrk", 2
    else:
        lines = [f"{len(rows)} {len(rows[0])}", *_vector_lines(rows)]
        input_file = stem.with_suffix(".mat")
        arguments, basis, size_lines = ["-q", str(stem)], ".mar", 1
    input_file.write_text("\n".join(lines) + "\n", encoding="ascii")
    # what the program prints is not shown
    subprocess.run(
        [program, *arguments], check=True, capture_output=True, timeout=clock().remaining
    )
    # the first lines are the size of the basis
    return stem.with_suffix(basis).read_text(encoding="ascii").splitlines()[size_lines:]


def _vector_lines(vectors: Iterable[IntegerVector]) -> list[str]:
    """Return each vector as a line of text, with spaces between its entries."""
    return [" ".join(map(str, vector)) for vector in vectors]


def binomial(vector: IntegerVector, scalars: Sequence[Any]) -> dict[IntegerVector, Any]:
    """Return the equation x^u⁺ c^u⁻ − x^u⁻ c^u⁺ of the image, as {exponents: coefficient}, for a
    vector u = u⁺ − u⁻ of the lattice, with its positive and negative parts, and the scalars c_j.
    """
    positive = tuple(max(entry, 0) for entry in vector)
    negative = tuple(max(-entry, 0) for entry in vector)
    return {
        positive: prod(map(pow, scalars, negative)),
        negative: -prod(map(pow, scalars, positive)),
    }


class IdealProgram(NamedTuple):
    """A Macaulay2 program for the ideal of a closure, and in words why its generators are all."""

    script: Script
    reason: str


def lattice_script(
    independent: PolynomialMap, *, field: CoefficientField, title: str
) -> IdealProgram:
    """Return the Macaulay2 program for the ideal of a monomial map.

    A torus translates the closure to the closure of the monomial map without coefficients, whose
    ideal is generated by the binomials of all vectors of the lattice: by a Markov basis, or of any
    basis after saturation by the product of the coordinates.
    """
    columns = exponent_columns(independent)
    program = markov_program()
    if program is None:
        vectors = lattice_basis(columns)
        reason = BY_SATURATION
    else:
        vectors = markov_basis(columns, program)
        reason = BY_MARKOV.format(program_name(program))
    # the coefficient c_j of the one term of each image
    scalars = [next(iter(image.values())) for image in independent.images]
    ring = independent.target()
    binomials = (ring.sympy_ring.from_dict(binomial(vector, scalars)) for vector in vectors)
    values = m2_syntax.ring_values(GeneratingSet(ring, tuple(binomials))) | {
        "title": title,
        "field": m2_syntax.field(field),
        # with the degrees of the monomials in the parameters the ideal is homogeneous
        "degrees": ", ".join(str(sum(column)) for column in columns),
        # the template saturates unless this is true; a Markov basis does not need it
        "saturated": program is not None,
    }
    script = render("lattice_ideal", libraries=("wire", "invariants"), values=values)
    return IdealProgram(script, reason)
