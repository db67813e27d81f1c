"""Ranks of sparse integer matrices over QQ, by FLINT."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from typing import Any, TypeVar

import flint

Column = TypeVar("Column", bound=Hashable)


def rank(rows: Iterable[Mapping[Column, int]]) -> int:
    """The rank over QQ of rows given by their nonzero entries: the sum over blocks without common columns."""
    leader: dict[Any, Any] = {}

    def find(column: Any) -> Any:
        while (above := leader.setdefault(column, column)) != column:
            leader[column] = column = leader[above]
        return column

    listed = [tuple(row) for row in {frozenset((c, x) for c, x in row.items() if x) for row in rows} if row]
    for row in listed:
        for column, _ in row:
            leader[find(column)] = find(row[0][0])
    blocks: dict[Any, list[Any]] = {}
    for row in listed:
        blocks.setdefault(find(row[0][0]), []).append(row)
    return sum(map(_block_rank, blocks.values()))


def _block_rank(rows: list[tuple[tuple[Any, int], ...]]) -> int:
    if len(rows) == 1:
        return 1
    place = {column: j for j, column in enumerate({column for row in rows for column, _ in row})}
    matrix = flint.fmpz_mat(len(rows), len(place))
    for i, row in enumerate(rows):
        for column, x in row:
            matrix[i, place[column]] = x
    return int(matrix.rank())
