"""The ideal of the closure of the image of a monomial map: the ideal of a lattice.

The map x_j = c_j t^(a_j) satisfies a binomial for each integer vector u with Σ u_j a_j = 0. These
vectors are a lattice, and the binomials of a Markov basis of it generate the ideal; 4ti2 or
Normaliz finds one. Where neither is installed, those of any basis are saturated by Macaulay2.
Source: Sturmfels, *Gröbner Bases and Convex Polytopes*, Lemma 4.1 and Lemma 12.2.
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
from typing import Any

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
"""The wheels that bring a program for Markov bases, and its name."""
ELIMINATE = "use --strategy elimination"

BY_MARKOV = "all generators: a Markov basis of the lattice of relations among the exponents, by {}"
BY_SATURATION = (
    "all generators: the binomials of a basis of the lattice of relations among the exponents,"
    " saturated by Macaulay2"
)


def is_monomial(polynomial_map: PolynomialMap) -> bool:
    """Whether each coordinate is a scalar times a monomial in free parameters."""
    return not polynomial_map.relations and all(len(image) <= 1 for image in polynomial_map.images)


def exponent_columns(independent: PolynomialMap) -> list[IntegerVector]:
    """The exponents of the image of each of the coordinates, which are linearly independent.

    Raises
    ------
    MethodUnavailableError
        If a coordinate is not a monomial, or a constant.
    """
    if not is_monomial(independent):
        raise MethodUnavailableError(
            "the ideal is that of a lattice only where each coordinate is a monomial"
        )
    # no image is zero, since they are linearly independent, so each has one term
    columns = [next(iter(image)) for image in independent.images]
    if not all(map(any, columns)):
        raise MethodUnavailableError(f"a coordinate is constant; {ELIMINATE}")
    return columns


def lattice_basis(columns: Sequence[IntegerVector]) -> list[IntegerVector]:
    """A short basis over ZZ of all integer vectors u with Σ u_j a_j = 0, where a_j are the columns.

    The rows of the Hermite normal form of (a_j | e_j) that begin with zeros are one, because row
    operations over ZZ that are invertible carry the vectors (Σ u_j a_j | u) of the row lattice to
    each other.

    Examples
    --------
    >>> lattice_basis([(2, 0), (1, 1), (0, 2)])
    [(1, -2, 1)]
    """
    if not columns:
        # a matrix without rows has no number of columns
        return []
    size = len(columns)
    width = len(columns[0])
    # entries of a normal form grow, while those of an elimination modulo a prime do not
    check(4 * elimination_price(size, width + size))
    rows = []
    for i, column in enumerate(columns):
        unit = [0] * size
        unit[i] = 1
        rows.append([*column, *unit])
    hermite = flint.fmpz_mat(rows).hnf().tolist()
    kernel = flint.fmpz_mat([row[width:] for row in hermite if not any(row[:width])])
    # short vectors make binomials of low degree
    return [_signed(tuple(map(int, row))) for row in kernel.lll().tolist()]


def _signed(vector: IntegerVector) -> IntegerVector:
    """The vector or its negative, whose binomial is the same: its first entry is positive."""
    first = next(filter(None, vector))
    if first > 0:
        return vector
    return tuple(-entry for entry in vector)


def markov_program() -> Path | None:
    """The first of the programs for Markov bases that are installed."""
    return next(markov_programs(), None)


def markov_programs() -> Iterator[Path]:
    """Programs for Markov bases: of 4ti2, from Debian or a wheel; Normaliz, from Macaulay2's."""
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
    """The name of the software that a program belongs to."""
    return "Normaliz" if program.name == "normaliz" else "4ti2"


def markov_basis(columns: Sequence[IntegerVector], program: Path) -> list[IntegerVector]:
    """Vectors u whose binomials x^u⁺ − x^u⁻ are minimal generators of the ideal of the lattice.

    Each is checked to be a relation among the columns; that they are all rests on the program.
    Source: Hemmecke, Malkin, *Computing generating sets of lattice ideals*, J. Symb. Comp. 44
    (2009).

    Raises
    ------
    TimeLimitError
        If the limit was reached.
    MethodUnavailableError
        If the program fails.
    """
    rows = list(zip(*columns, strict=True))
    name = program_name(program)
    run = _run_4ti2
    if name == "Normaliz":
        run = _run_normaliz
    with TemporaryDirectory() as folder:
        try:
            lines = run(program, rows, Path(folder) / "map")
        except subprocess.TimeoutExpired as reason:
            raise clock().late(name) from reason
        except (OSError, subprocess.CalledProcessError) as reason:
            raise MethodUnavailableError(f"{name} failed ({program}); {ELIMINATE}") from reason
    basis = [_signed(tuple(map(int, line.split()))) for line in lines if line.strip()]
    for vector, row in product(basis, rows):
        if sum(map(mul, vector, row)) != 0:
            raise MethodUnavailableError(
                f"{name} gave a polynomial that is not a relation ({program}); {ELIMINATE}"
            )
    # no certificate or example should depend on the order in which a program writes
    return sorted(basis)


def _run_normaliz(program: Path, rows: Sequence[IntegerVector], stem: Path) -> list[str]:
    """The lines of the basis that Normaliz writes after two lines on its size."""
    columns = _lines(zip(*rows, strict=True))
    header = [f"amb_space {len(rows)}", f"monoid {len(columns)}"]
    given = stem.with_suffix(".in")
    _write(given, [*header, *columns, "MarkovBasis"])
    _run(program, str(given))
    return stem.with_suffix(".mrk").read_text(encoding="ascii").splitlines()[2:]


def _run_4ti2(program: Path, rows: Sequence[IntegerVector], stem: Path) -> list[str]:
    """The lines of the basis that 4ti2 writes after one line on its size."""
    _write(stem.with_suffix(".mat"), [f"{len(rows)} {len(rows[0])}", *_lines(rows)])
    _run(program, "-q", str(stem))
    return stem.with_suffix(".mar").read_text(encoding="ascii").splitlines()[1:]


def _lines(vectors: Iterable[IntegerVector]) -> list[str]:
    return [" ".join(map(str, vector)) for vector in vectors]


def _write(file: Path, lines: Sequence[str]) -> None:
    file.write_text("\n".join(lines) + "\n", encoding="ascii")


def _run(program: Path, *arguments: str) -> None:
    subprocess.run(
        [program, *arguments], check=True, capture_output=True, timeout=clock().remaining
    )


def binomial(vector: IntegerVector, scalars: Sequence[Any]) -> dict[IntegerVector, Any]:
    """The equation x^u⁺ c^u⁻ − x^u⁻ c^u⁺ of the image of x_j = c_j t^(a_j), by exponents."""
    up = tuple(max(entry, 0) for entry in vector)
    down = tuple(max(-entry, 0) for entry in vector)
    return {up: prod(map(pow, scalars, down)), down: -prod(map(pow, scalars, up))}


def lattice_script(
    independent: PolynomialMap, *, field: CoefficientField, title: str
) -> tuple[Script, str]:
    """The Macaulay2 program for the ideal, and the reason why its generators are all.

    A torus translates the closure to that of the monomial map without coefficients, whose ideal is
    generated by the binomials of all vectors of the lattice: by those of a Markov basis, or of any
    basis after saturation by the product of the coordinates.

    Raises
    ------
    MethodUnavailableError
        If the map is not monomial, or the program for Markov bases fails.
    """
    columns = exponent_columns(independent)
    program = markov_program()
    if program is None:
        vectors = lattice_basis(columns)
        reason = BY_SATURATION
    else:
        vectors = markov_basis(columns, program)
        reason = BY_MARKOV.format(program_name(program))
    scalars = [next(iter(image.values())) for image in independent.images]
    ring = independent.target()
    binomials = [binomial(vector, scalars) for vector in vectors]
    equations = tuple(map(ring.sympy_ring.from_dict, binomials))
    values = m2_syntax.ring_values(GeneratingSet(ring, equations)) | {
        "title": title,
        "field": m2_syntax.field(field),
        # with the degrees of the monomials in the parameters the ideal is homogeneous
        "degrees": ", ".join(str(sum(column)) for column in columns),
        "saturated": program is not None,
    }
    return render("lattice_ideal", ("wire", "invariants"), values), reason
