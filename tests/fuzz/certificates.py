"""Changed certificates with a digest that fits: none that says something else is accepted, and
``verify`` never fails.

``python -m tests.fuzz certificates --count 10000 --seed 1``. All changed files are verified by one
command, as people do it, so that a file which hides the others is seen too.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

from tests.certificates import VERIFIED

ACCEPTED = sorted(
    path
    for name in VERIFIED
    for path in (Path(__file__).parents[1] / "certificates" / name).glob("*.json")
    # takes seconds; each of its numbers is changed in tests/unit/checker/test_checker.py
    if "closures" not in path.name
)
REPORTED = {"reported", "seconds", "peak_memory", "versions", "digest"}
"""What a certificate says and nobody checks; the digest is made anew."""

ENDS = {0, 1, 3}
"""Exit codes: all accepted; some not; some not decided."""

VERDICTS = ("CONFIRMED", "REFUTED", "UNDECIDED", "NOT_APPLICABLE")
Data = dict[str, Any]
Place = tuple[Any, ...]


def places(value: Any, path: Place = ()) -> Iterator[Place]:
    """Paths to everything inside."""
    if isinstance(value, dict | list):
        for key, inner in value.items() if isinstance(value, dict) else enumerate(value):
            yield (*path, key)
            yield from places(inner, (*path, key))


def at(data: Any, path: Place) -> Any:
    for key in path:
        data = data[key]
    return data


# Changes; each takes the data, and another certificate, and changes the data


def value(random: Random, data: Data, _: Data) -> None:
    """Another value for one entry, near to the old one or far away."""
    path = random.choice(
        [path for path in places(data) if not isinstance(at(data, path), dict | list)]
    )
    at(data, path[:-1])[path[-1]] = other(random, at(data, path))


def other(random: Random, old: Any) -> Any:
    far = [
        None,
        True,
        False,
        0,
        -1,
        "",
        [],
        {},
        1.5,
        "0",
        10 ** random.randint(1, 3000),
        [0] * random.randint(1, 300),
    ]
    if random.random() < 0.2:
        return random.choice(far)
    if isinstance(old, bool) or old is None:
        return random.choice([not old, 1, None])
    if isinstance(old, int | float):
        near = old if abs(old) < 10**300 else 1
        return random.choice([near - 1, near + 1, -near, float(near), 2 * near, str(near)])
    if old in VERDICTS:
        return random.choice(VERDICTS)
    return text(random, old)


def text(random: Random, old: str) -> str:
    """A number in it changed, or one character."""
    numbers = list(re.finditer(r"\d+", old))
    if numbers and random.random() < 0.7:
        match = random.choice(numbers)
        new = random.choice(
            [int(match[0]) + 1, max(int(match[0]) - 1, 0), 0, 10 ** random.randint(1, 9), 20]
        )
        return f"{old[: match.start()]}{new}{old[match.end() :]}"
    position = random.randrange(len(old) + 1)
    return old[:position] + random.choice("01-+*^()e_/ λ") + old[position + random.randint(0, 1) :]


def entry(random: Random, data: Data, _: Data) -> None:
    """An entry of a list left out, doubled, moved, or the list made long."""
    lists = [path for path in places(data) if isinstance(at(data, path), list) and at(data, path)]
    if not lists:
        return
    items = at(data, random.choice(lists))
    i, j = random.randrange(len(items)), random.randrange(len(items))
    match random.randrange(4):
        case 0:
            del items[i]
        case 1:
            items.insert(j, deepcopy(items[i]))
        case 2:
            items[i], items[j] = items[j], items[i]
        case 3:
            items *= random.randint(2, 50)


def key(random: Random, data: Data, _: Data) -> None:
    """A field left out, added or given to another name."""
    inner = random.choice(
        [data, *(at(data, path) for path in places(data) if isinstance(at(data, path), dict))]
    )
    name = random.choice([*inner, "remark"])
    match random.randrange(3):
        case 0:
            inner.pop(name, None)
        case 1:
            inner[f"{name}x"] = 1
        case 2:
            inner[name] = deepcopy(inner[random.choice(list(inner))]) if inner else 1


def splice(random: Random, data: Data, donor: Data) -> None:
    """A part of another certificate."""
    common = [
        path
        for path in places(data)
        if len(path) <= 3 and path[0] not in REPORTED and reaches(donor, path)
    ]
    path = random.choice(common)
    at(data, path[:-1])[path[-1]] = deepcopy(at(donor, path))


def reaches(data: Any, path: Place) -> bool:
    try:
        at(data, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def case(random: Random, data: Data, _: Data) -> None:
    """Another case, perhaps under its name."""
    numbers = data.get("case")
    named = (
        [n for n, number in numbers.items() if isinstance(number, int)]
        if isinstance(numbers, dict)
        else []
    )
    if not named:
        return
    changed = random.choice(named)
    old = numbers[changed]
    numbers[changed] = random.choice([old + 1, old - 1, 1, 2, 12, 10**6, 10**2500])
    if (
        random.random() < 0.7
        and isinstance(data.get("name"), str)
        and numbers.keys() == {"d", "d_out", "a", "t"}
    ):
        data["name"] = "d{d}-dout{d_out}-a{a}-t{t}".format(**numbers)


def program(random: Random, data: Data, _: Data) -> None:
    """Another program, as this release would have it or another one, with a digest that fits."""
    script = data.get("script")
    if isinstance(script, dict) and isinstance(script.get("text"), str):
        added = random.choice(['run "rm -rf ~"', "-- nothing", ""])
        script["text"] = f"{added}\n{script['text']}" if random.random() < 0.5 else added
        script["digest"] = hashlib.sha256(script["text"].encode()).hexdigest()
    for versions in (data.get("versions"), data.get("reported", {}).get("versions")):
        if isinstance(versions, dict) and random.random() < 0.5:
            versions["m2bridge"] = "0.0.9"


def exponent(random: Random, data: Data, _: Data) -> None:
    """A generator of another degree."""
    evidence = data.get("evidence")
    generators = evidence.get("generators") if isinstance(evidence, dict) else None
    if isinstance(generators, list) and generators:
        i = random.randrange(len(generators))
        power = random.choice([2, 3, 20, 40, 9999, 10**9])
        generators[i] = random.choice(
            [f"({generators[i]})**{power}", f"c_1_1_1_1**{power}*({generators[i]})", "0", "1"]
        )


CHANGES: tuple[Callable[[Random, Data, Data], None], ...] = (
    *(value,) * 6,
    *(entry, key, splice) * 2,
    case,
    program,
    exponent,
)


# What is said about them


def changed(random: Random) -> tuple[Data, Data]:
    """A certificate, and the same with one to three changes and a digest that fits."""
    old, donor = (json.loads(random.choice(ACCEPTED).read_text(encoding="utf-8")) for _ in range(2))
    new = deepcopy(old)
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        random.choice(CHANGES)(random, new, donor)
    return old, sealed(new)


def sealed(data: Data) -> Data:
    """With the digest of all the rest; written here once more, from the documentation."""
    rest = {name: data[name] for name in data if name != "digest"}
    canonical = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return rest | {"digest": hashlib.sha256(canonical.encode()).hexdigest()}


def name_of(data: Data) -> str:
    """The file name that belongs to what it says, as far as it can be one."""
    try:
        name = f"{data['name']}-{data['question']}.json"
    except (KeyError, TypeError, ValueError):
        return "d2-dout1-a2-t2-3.4.json"
    return (
        name
        if len(name) < 100 and re.fullmatch(r"[\w.-]+", name, re.ASCII)
        else "d2-dout1-a2-t2-3.4.json"
    )


def meaning(data: Data) -> Data:
    """What it claims. Generators of an ideal may come in any order, and with any sign that is
    common to all terms.
    """
    kept = {name: data[name] for name in data if name not in REPORTED}
    evidence = kept.get("evidence")
    if isinstance(evidence, dict) and isinstance(evidence.get("generators"), list):
        kept["evidence"] = evidence | {"generators": sorted(map(str, evidence["generators"]))}
    return kept


def says_the_same(old: Data, new: Data) -> bool:
    """Whether two certificates claim the same, or the new one claims something else that is as
    true.

    For one token no statement applies, whatever d, d' and a are. For more the functions are the
    same for all t ≥ 2, and for all a ≥ d, as A has no larger rank: all that is said of them is.
    """
    before, after = meaning(old), meaning(new)
    tokens = [kept.get("case", {}).get("t", 0) for kept in (before, after)]
    if tokens == [1, 1] and before["question"] != "closure":
        before, after = (kept | {"case": 1, "name": 1} for kept in (before, after))
    several = all(isinstance(t, int) and t >= 2 for t in tokens)
    if several and before["family"] == after["family"] == "attention":
        before, after = map(with_fewest_weights, (before, after))
    return json.dumps(before, sort_keys=True) == json.dumps(after, sort_keys=True)


def with_fewest_weights(kept: Data) -> Data:
    """The claim about the case with the smallest numbers that has the same functions, t ≥ 2.

    A case that has something else than numbers stays as it is.
    """
    case = kept["case"]
    if not all(isinstance(case[name], int) for name in ("d", "a")):
        return kept
    fewest = case | {"t": 2, "a": min(case["a"], case["d"])}
    return kept | {"case": fewest, "name": 1}


def complaint(old: Data, new: Data, outcome: str) -> str:
    """What is wrong with an outcome; empty if nothing is."""
    if outcome.startswith("accepted") and not says_the_same(old, new):
        return outcome
    return "its check failed" if outcome == "failed" and new.get("family") == old["family"] else ""


def differences(old: Data, new: Data) -> str:
    """The places that differ, with what is there now."""
    changes = [
        path for path in places(new) if not reaches(old, path) or at(old, path) != at(new, path)
    ]
    deepest = [
        path
        for path in changes
        if not any(len(p) > len(path) and p[: len(path)] == path for p in changes)
    ]
    return "; ".join(
        f"{'.'.join(map(str, path))}: {at(new, path)!r:.200}"
        for path in deepest
        if path != ("digest",)
    )


def verified(folder: Path) -> subprocess.CompletedProcess[str]:
    """What the command says about a folder of certificates."""
    code = "from m2bridge.cli.main import main; main()"
    line = [sys.executable, "-c", code, "verify", str(folder), "--json", "--workers", "2"]
    return subprocess.run(
        line, capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False
    )


def run(count: int, seed: int) -> int:
    """Change, write, verify; the number of failures, each of which is shown."""
    drawn = [changed(Random(f"{seed} {number}")) for number in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, str(number), name_of(new)) for number, (_, new) in enumerate(drawn)]
        for path, (_, new) in zip(paths, drawn, strict=True):
            path.parent.mkdir()
            path.write_text(
                json.dumps(new, sort_keys=True, indent=1, ensure_ascii=False) + "\n",
                encoding="utf-8",
            )
        done = verified(Path(folder))
    if done.returncode not in ENDS or "Traceback" in done.stderr:
        print(f"exit code {done.returncode}\n{done.stderr[-2000:]}")
        return 1
    findings = {
        finding["name"]: finding["outcome"] for finding in json.loads(done.stdout)["certificates"]
    }
    said = [
        complaint(old, new, findings[str(path)])
        for path, (old, new) in zip(paths, drawn, strict=True)
    ]
    for number, what in enumerate(said):
        if what:
            print(f"certificate {number} of seed {seed}: {what}: {differences(*drawn[number])}")
    print(f"{count} changed certificates, seed {seed}: {dict(Counter(findings.values()))}")
    return sum(map(bool, said))
