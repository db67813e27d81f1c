"""The line on the type of a head: exact ranks, and effective ones where these are not proved."""

from m2bridge.trained_weights.heads.weight_type import HeadType, HeadTypes


def _type(**ranks: int) -> HeadType:
    return HeadType(ranks=ranks, exposed=False, saddle=False)


def test_effective_ranks_are_marked_where_exact_ones_are_not_proved() -> None:
    effective = _type(K=2, Q=2, V=1, A=2)
    assert HeadTypes(exact=None, effective=effective).words() == (
        "rk K = 2, rk Q = 2, rk V = 1, rk A = 2 (effective ranks, not proved):"
        " such effective ranks are critical for almost no target"
    )


def test_exact_ranks_come_first_and_effective_ones_where_they_differ() -> None:
    types = HeadTypes(exact=_type(K=3, Q=2, V=1, A=2), effective=_type(K=2, Q=2, V=1, A=2))
    assert types.words() == (
        "rk K = 3 (2), rk Q = 2, rk V = 1, rk A = 2:"
        " such effective ranks are critical for almost no target"
    )
