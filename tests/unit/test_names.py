import pytest

from m2bridge.convert.macaulay2 import all_to_macaulay2, from_macaulay2, to_macaulay2


@pytest.mark.parametrize(
    ("name", "written"),
    [
        ("x", "x"),
        ("x_1", "x_1"),
        ("c_1_2", "c_(1,2)"),
        ("c_1_-2", "c_(1,-2)"),
        ("x_-1", "x_(-1)"),
        ("gens", "mbvgens"),
        ("x1", "mbvx1"),
        ("x_01", "mbvxZ5fZ01"),
        ("λ_3", "mbvZ3bbZ_3"),
        ("mbvx", "mbvmbvx"),
    ],
)
def test_each_name_has_one_safe_form(name: str, written: str) -> None:
    assert to_macaulay2(name) == written


def test_a_letter_with_and_without_index_is_kept_apart() -> None:
    assert all_to_macaulay2(["x", "x_1", "y"]) == ("mbpx", "x_1", "y")
    assert from_macaulay2("mbpx") == "x"
    assert all_to_macaulay2(["beta", "beta_2"]) == ("mbpbeta", "mbvbeta_2")


def test_indices_come_back() -> None:
    assert from_macaulay2("c", [1, 2]) == "c_1_2"
    assert from_macaulay2("mbvZ3bbZ", [-3]) == "λ_-3"
