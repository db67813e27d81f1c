"""Closed formulas: monomials of a degree, and the varieties of matrices of bounded rank.

Matrices of rank at most r are products of a rows × r and an r × columns matrix, unique up to the r²
dimensions of GL_r. The varieties of all matrices of bounded rank, and of symmetric ones, are cones;
their degrees are degrees in projective space. For rank 0 the degree is 1, for the apex.
"""

from math import comb, prod

from m2bridge.algebra.schur import dimension, partitions


def monomial_count(variables: int, degree: int) -> int:
    """The number of monomials of a degree, at least 0, in ``variables`` variables, at least one."""
    return comb(variables + degree - 1, degree)


def matrices_of_rank(size: int, rank: int) -> int:
    """The dimension of the variety of n × n matrices of rank at most r, n the size, r the rank."""
    return determinantal_dimension(size, size, rank)


def dimension_of_symmetric_rank(size: int, rank: int) -> int:
    """The dimension of the variety of symmetric n × n matrices of rank at most r, n the size."""
    codimension = comb(max(0, size - rank) + 1, 2)
    return comb(size + 1, 2) - codimension


def determinantal_dimension(rows: int, columns: int, rank: int) -> int:
    """The dimension of the affine cone of rows × columns matrices of rank at most ``rank``."""
    rank = min(rank, rows, columns)
    return rank * (rows + columns - rank)


def determinantal_degree(rows: int, columns: int, rank: int) -> int:
    """The degree of the variety of matrices of rank at most ``rank``.

    Source: Harris, *Algebraic Geometry: A First Course*, Example 19.10 (for ``rank`` at most the
    smaller size).
    """
    small, large = sorted((rows, columns))
    if rank >= small:  # all matrices, which are a linear space
        return 1
    # The quotient of Π C(large + i, rank) by Π C(rank + i, rank), for 0 ≤ i < small − rank.
    numerator = prod(comb(large + i, rank) for i in range(small - rank))
    denominator = prod(comb(rank + i, rank) for i in range(small - rank))
    return numerator // denominator


def symmetric_determinantal_degree(size: int, rank: int) -> int:
    """The degree of the variety of symmetric matrices of rank at most ``rank`` ≥ 1.

    For size n and corank c = n − rank it is the product of C(n + i, c − i) / C(2i + 1, i) over 0 ≤
    i < c. Source: Harris, Tu, *On symmetric and skew-symmetric determinantal varieties*, Topology
    23 (1984), Proposition 12.
    """
    corank = max(0, size - rank)
    numerator = prod(comb(size + i, corank - i) for i in range(corank))
    denominator = prod(comb(2 * i + 1, i) for i in range(corank))
    return numerator // denominator


def determinantal_hilbert_function(rows: int, columns: int, rank: int, n: int) -> int:
    """The dimension of the forms of degree n on the matrices of rank at most ``rank``.

    It is the sum of dim S_λ(C^rows) · dim S_λ(C^columns) over the partitions λ of n with at most
    ``rank`` parts. Source: Bruns, Vetter, *Determinantal Rings*, Corollary 11.7 (Cauchy's formula).
    """
    if rank >= min(rows, columns):
        return monomial_count(rows * columns, n)
    return sum(
        dimension(partition, rows) * dimension(partition, columns)
        for partition in partitions(n, rank)
    )
