"""A space with a basis, modulo the span of sparse vectors, over GF(p)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import flint

from m2bridge.algebra.linear_algebra import reduced_echelon
from m2bridge.limits import watched

Index = tuple[int, int]
SparseVector = dict[int, int]
Rows = Sequence[tuple[SparseVector, Index]]
DENSE = 4
"""A matrix goes to FLINT when at least one in this many entries is nonzero."""


@dataclass(slots=True)
class Quotient:
    """Rows that are independent, and the basis vectors that they lead, in terms of the others.

    Rows are eliminated in rounds. In each, rows with different leading places are independent without any computation;
    they express their leading places in the remaining ones, and by this the other rows become rows of the next round.
    After some rounds the remaining rows are dense and few, and FLINT eliminates in them.

    Parameters
    ----------
    chosen : list of indices of rows
        Linearly independent, as many as there are.
    forms : dict
        For each place that is dependent modulo the rows its expression in independent places.
    """

    prime: int
    chosen: list[Index] = field(default_factory=list)
    forms: dict[int, SparseVector] = field(default_factory=dict)

    @classmethod
    def of(cls, rows: Rows, prime: int) -> Quotient:
        """Eliminate."""
        result = cls(prime)
        rounds = []
        while rows := [item for item in rows if item[0]]:
            if _is_dense(rows):
                rounds.append(result._dense_round(rows))
                break
            forms, rows = result._sparse_round(rows)
            rounds.append(forms)
        for forms in reversed(rounds):
            result.forms |= {place: combination(form, result.forms, prime) for place, form in forms.items()}
        return result

    def classes(self, size: int) -> list[SparseVector]:
        """The classes of all basis vectors, in terms of those of the independent ones."""
        return [self.forms.get(place, {place: 1}) for place in range(size)]

    def _sparse_round(self, rows: Rows) -> tuple[dict[int, SparseVector], Rows]:
        # Places that occur in few rows lead: expressing them in others changes few rows.
        counts = Counter(place for row, _ in rows for place in row)
        rank = {place: i for i, (place, _) in enumerate(sorted(counts.items(), key=lambda item: (item[1], item[0])))}
        leaders: dict[int, SparseVector] = {}
        rest = []
        for row, index in watched(sorted(rows, key=lambda item: len(item[0]))):
            place = min(row, key=rank.__getitem__)
            if place in leaders:
                rest.append((row, index))
            else:
                leaders[place] = row
                self.chosen.append(index)
        forms: dict[int, SparseVector] = {}
        for place in watched(sorted(leaders, key=rank.__getitem__, reverse=True)):
            others = dict(leaders[place])
            factor = -pow(others.pop(place), -1, self.prime)
            forms[place] = combination({k: c * factor for k, c in others.items()}, forms, self.prime)
        return forms, [(combination(row, forms, self.prime), index) for row, index in watched(rest)]

    def _dense_round(self, rows: Rows) -> dict[int, SparseVector]:
        places = sorted({place for row, _ in rows for place in row})
        number = {place: i for i, place in enumerate(places)}
        matrix = flint.nmod_mat(len(rows), len(places), self.prime)
        for i, (row, _) in enumerate(watched(rows)):
            for place, c in row.items():
                matrix[i, number[place]] = c
        self.chosen += [rows[i][1] for i in reduced_echelon(matrix.transpose())[1]]
        echelon, pivots = reduced_echelon(matrix)
        free = sorted(set(range(len(places))) - set(pivots))
        return {
            places[pivot]: {places[j]: self.prime - c for j in free if (c := int(echelon[i, j]))}
            for i, pivot in enumerate(watched(pivots))
        }


def combination(vector: Mapping[int, int], forms: Mapping[int, SparseVector], prime: int) -> SparseVector:
    """Replace basis vectors by their expressions in others."""
    total: SparseVector = {}
    for place, coefficient in vector.items():
        form = forms.get(place)
        if form is None:
            total[place] = total.get(place, 0) + coefficient
        else:
            for k, c in form.items():
                total[k] = total.get(k, 0) + coefficient * c
    return {k: r for k, c in total.items() if (r := c % prime)}


def _is_dense(rows: Rows) -> bool:
    places = {place for row, _ in watched(rows) for place in row}
    return DENSE * sum(len(row) for row, _ in rows) > len(rows) * len(places)
