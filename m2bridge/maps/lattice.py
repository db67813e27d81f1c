"""The ideal of the closure of the image of a monomial map: the ideal of a lattice."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import suppress
from math import prod
from operator import mul
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import flint

from m2bridge.algebra.field import CoefficientField
from m2bridge.algebra.linear_algebra import Vector, elimination_price
from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.algebra.ring import GeneratingSet
from m2bridge.convert import macaulay2
from m2bridge.engine.script import Script, render
from m2bridge.errors import MethodUnavailableError
from m2bridge.limits import check, clock

BY_MARKOV = "all generators: a Markov basis of the lattice of relations among the exponents, by {}"
BY_SATURATION = (
    "all generators: the binomials of a basis of the lattice of relations among the exponents,"
    " saturated by Macaulay2"
)


def is_monomial(polynomial_map: PolynomialMap) -> bool:
    """Whether each coordinate is a scalar times a monomial in free parameters."""
    return not polynomial_map.relations and all(len(image) <= 1 for image in polynomial_map.images)


def exponent_columns(independent: PolynomialMap) -> list[Vector]:
    """The exponents of the image of each coordinate; the coordinates are linearly independent, so
    none has image zero.

    Raises
    ------
    MethodUnavailableError
        If a coordinate is no monomial, or a constant.
    """
    if not is_monomial(independent):
        raise MethodUnavailableError(
            "the ideal is that of a lattice only where each coordinate is a monomial"
        )
    columns = [next(iter(image)) for image in independent.images]
    if not all(map(any, columns)):
        raise MethodUnavailableError("a coordinate is constant; use --strategy elimination")
    return columns


def lattice_basis(columns: Sequence[Vector]) -> list[Vector]:
    """A short basis over ZZ of all integer vectors u with Σ u_j a_j = 0, where a_j are the columns.

    The rows of the Hermite normal form of (a_j | e_j) that begin with zeros are one, because row
    operations over ZZ that are invertible carry the vectors (Σ u_j a_j | u) of the row lattice to
    each other.

    Examples
    --------
    >>> lattice_basis([(2, 0), (1, 1), (0, 2)])
    [(1, -2, 1)]
    """
    size = len(columns)
    width = len(columns[0]) if columns else 0
    check(4 * elimination_price(size, width + size))
    rows = [[*column, *(int(i == j) for j in range(size))] for i, column in enumerate(columns)]
    hermite = flint.fmpz_mat(rows).hnf().tolist() if rows else []
    kernel = [[int(entry) for entry in row[width:]] for row in hermite if not any(row[:width])]
    return [_signed(tuple(map(int, row))) for row in flint.fmpz_mat(kernel).lll().tolist()]


def _signed(vector: Vector) -> Vector:
    return vector if next(filter(None, vector)) > 0 else tuple(-entry for entry in vector)


def markov_program() -> Path | None:
    """The first of the programs for Markov bases that are installed."""
    return next(markov_programs(), None)


def markov_programs() -> Iterator[Path]:
    """Programs for Markov bases: that of 4ti2, from Debian or a wheel, and Normaliz, from the wheel
    of Macaulay2.
    """
    from importlib import metadata  # slow to import

    if installed := shutil.which("4ti2-markov"):
        yield Path(installed)
    for wheel, name in (
        ("passagemath-latte-4ti2", "markov"),
        ("passagemath-macaulay2", "normaliz"),
    ):
        with suppress(metadata.PackageNotFoundError):
            program = Path(
                str(metadata.distribution(wheel).locate_file(f"sage_wheels/bin/{name}"))
            ).absolute()
            if program.exists():
                yield program


def program_name(program: Path) -> str:
    """The name of the software that a program belongs to."""
    return "Normaliz" if program.name == "normaliz" else "4ti2"


def markov_basis(columns: Sequence[Vector], program: Path) -> list[Vector]:
    """Vectors u whose binomials x^u⁺ − x^u⁻ are minimal generators of the ideal of the lattice, by
    4ti2 or Normaliz.

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
    rows, name = list(zip(*columns, strict=True)), program_name(program)
    with TemporaryDirectory() as folder:
        stem = Path(folder) / "map"
        if name == "Normaliz":
            heads, written, ends, given, found = 2, columns, ["MarkovBasis"], ".in", ".mrk"
            header, arguments = (
                f"amb_space {len(rows)}\nmonoid {len(columns)}",
                [str(stem.with_suffix(given))],
            )
        else:
            heads, written, ends, given, found = 1, rows, [], ".mat", ".mar"
            header, arguments = f"{len(rows)} {len(columns)}", ["-q", str(stem)]
        lines = [header, *(" ".join(map(str, row)) for row in written), *ends]
        stem.with_suffix(given).write_text("\n".join(lines) + "\n", encoding="ascii")
        try:
            subprocess.run(
                [program, *arguments], check=True, capture_output=True, timeout=clock().remaining
            )
            vectors = stem.with_suffix(found).read_text(encoding="ascii").splitlines()[heads:]
        except subprocess.TimeoutExpired as reason:
            raise clock().late(name) from reason
        except (OSError, subprocess.CalledProcessError) as reason:
            raise MethodUnavailableError(
                f"{name} failed ({program}); use --strategy elimination"
            ) from reason
    basis = [_signed(tuple(map(int, line.split()))) for line in vectors if line.strip()]
    if any(sum(map(mul, vector, row)) for vector in basis for row in rows):
        raise MethodUnavailableError(
            f"{name} gave what is no relation ({program}); use --strategy elimination"
        )
    return sorted(basis)


def binomial(vector: Vector, scalars: Sequence[Any]) -> dict[Vector, Any]:
    """The equation x^u⁺ c^u⁻ − x^u⁻ c^u⁺ of the closure of the image of x_j = c_j t^(a_j), as
    exponents and scalars.
    """
    up = tuple(max(entry, 0) for entry in vector)
    down = tuple(max(-entry, 0) for entry in vector)
    return {
        up: prod(c**k for c, k in zip(scalars, down, strict=True)),
        down: -prod(c**k for c, k in zip(scalars, up, strict=True)),
    }


def lattice_script(
    independent: PolynomialMap, *, field: CoefficientField, title: str
) -> tuple[Script, str]:
    """The Macaulay2 program for the ideal, and how it is known that its generators are all.

    A torus translates the closure to that of the monomial map without coefficients, whose ideal is
    generated by the binomials of all vectors of the lattice: by those of a Markov basis, or of any
    basis after saturation by the product of the coordinates. Source: Sturmfels, *Gröbner Bases and
    Convex Polytopes*, Lemma 4.1 and Lemma 12.2.

    Raises
    ------
    MethodUnavailableError
        If the map is not monomial, or the program for Markov bases fails.
    """
    columns = exponent_columns(independent)
    program = markov_program()
    vectors = lattice_basis(columns) if program is None else markov_basis(columns, program)
    scalars = [next(iter(image.values())) for image in independent.images]
    ring = independent.target()
    equations = tuple(ring.sympy_ring.from_dict(binomial(vector, scalars)) for vector in vectors)
    values = macaulay2.ring_values(GeneratingSet(ring, equations)) | {
        "title": title,
        "field": macaulay2.field(field),
        "degrees": ", ".join(str(sum(column)) for column in columns),
        "saturated": program is not None,
    }
    script = render("lattice_ideal", ("wire", "invariants"), values)
    return script, BY_SATURATION if program is None else BY_MARKOV.format(program_name(program))
