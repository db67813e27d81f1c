"""What checkers draw: no number that a maker of certificates can know."""

import ast
from collections.abc import Iterator
from pathlib import Path

import flint

import m2bridge
from m2bridge.checker import algebra, draws

PACKAGE = Path(m2bridge.__file__).parent
CHECKERS = [
    *PACKAGE.glob("checker/*.py"),
    *PACKAGE.glob("families/*/checker.py"),
    *PACKAGE.glob("families/*/checker/*.py"),
    *PACKAGE.glob("families/*/all_sizes/checker.py"),
    *PACKAGE.glob("families/*/all_sizes/checker/*.py"),
]


def test_primes_are_long_and_differ() -> None:
    primes = {draws.random_prime() for _ in range(20)}
    assert len(primes) == 20
    assert all(flint.fmpz(p).is_prime() and p.bit_length() == 61 for p in primes)
    assert algebra.PRIME.bit_length() == 61
    assert algebra.PRIME not in primes


def test_random_numbers_differ() -> None:
    first, second = draws.unpredictable(), draws.unpredictable()
    assert [first.random() for _ in range(3)] != [second.random() for _ in range(3)]


def calls_of_random(path: Path) -> Iterator[str]:
    """The calls of Random(…), and of functions of the module random, in a file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called == "Random" or called.startswith(("random.seed", "numpy.random")):
                yield ast.unparse(node)


def test_seeds_are_drawn_but_for_the_target_of_the_program() -> None:
    assert len(CHECKERS) > 30
    found = {}
    for path in CHECKERS:
        calls = list(calls_of_random(path))
        if calls:
            found[path.relative_to(PACKAGE).as_posix()] = calls
    assert found == {
        "checker/draws.py": ["Random(secrets.randbits(256))"],
        "families/attention/checker/learning_degree.py": ["Random('target 0')"],
    }
