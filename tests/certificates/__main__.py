"""Write the certificates of this folder anew, from real runs: ``python -m tests.certificates``.

A certificate that is the same but for what is reported and not checked (seconds, memory, versions of
libraries) stays as it is, and so do all that are derived from it: what changes is to be read.

``accepted``, ``all-sizes``, ``networks``, ``deep`` and ``convolutional`` have certificates as they
come, and so has ``accepted-on-trust``, where Macaulay2 alone says that there are no further generators, or a number
is known modulo primes only; ``rejected`` and ``too-expensive`` such with one change and a digest that fits, under the name of the check that
has to notice it; ``program-not-checked`` such as another release might have written; ``malformed``
files that are not certificates. ``former`` has what nobody writes any more and ``verify`` accepts
all the same; it stays as it is. So does ``1.0``, with all kinds of certificates as release 1.0
writes them: every later release verifies them. A release that writes others adds a folder of its
own with ``python -m tests.certificates keep NUMBER``.
"""

from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from m2bridge import (
    ConvolutionalNetwork,
    DeepAttention,
    Macaulay2,
    PolynomialNetwork,
    SingleLayerAttention,
)
from m2bridge.certificates.form import Certificate, digest, read, write
from m2bridge.certification.make import certify_all
from m2bridge.families.attention.all_sizes.family import EVERY_SIZE
from m2bridge.families.deep_attention.all_sizes.family import EVERY_NETWORK
from tests.certificates import VERIFIED

HERE = Path(__file__).parent
CASES = {
    (3, 2, 2, 2): ("3.3", "3.4", "A.4", "degree", "polar", "polar-degrees"),
    (3, 2, 1, 2): ("degree",),
    (2, 1, 1, 2): ("3.2", "A.2", "degree", "polar"),
    (2, 2, 2, 3): ("A.3", "A.5", "A.6", "not-a-manifold", "exposed-heads", "learning-degree"),
    (2, 3, 1, 2): ("singular-locus",),
    (1, 2, 1, 2): ("3.2", "3.4", "A.2", "closure", "equations"),
    (2, 2, 2, 1): ("3.4", "closure", "exposed-heads"),
    (2, 1, 2, 2): ("closure", "polar", "polar-degrees"),
    (2, 2, 1, 2): ("closure", "equations", "polar"),
    (4, 2, 2, 2): ("equations",),
    (2, 2, 3, 2): ("exposed",),
    (3, 2, 1, 1): ("exposed",),
}
ON_TRUST = {(2, 3, 1, 1): ("closure",), (2, 1, 2, 2): ("learning-degree",)}
UNLUCKY_TOKENS, UNLUCKY_PRIMES, UNLUCKY_COUNT = 9338, (16487, 21163), 13
"""For d = 3 and so many tokens, modulo these primes, there are fewer critical points than 25."""
NETWORKS = tuple(map(PolynomialNetwork, ([2, 2, 1], [2, 2, 2], [3, 2, 1], [3, 4, 6, 6, 1])))
CONVOLUTIONAL = (
    (ConvolutionalNetwork([2, 2]), ("dimension", "degree", "fibres", "singular")),
    (ConvolutionalNetwork([3, 2]), ("degree", "fibres", "singular")),
    (ConvolutionalNetwork([2, 2], 1), ("degree", "fibres")),
)
ALL_SIZES = ("3.2", "3.4", "A.2", "A.4", "degree", "polar", "closures", "exposed")
DEEP = (
    (DeepAttention([3, 3, 3], [1, 2]), ("3.1", "3.6", "3.8", "L", "V")),
    (DeepAttention([3, 2, 3], 2, 3, normalization="softmax"), ("3.10", "S")),
    (DeepAttention([2, 2, 2], 2, skip=True), ("skip",)),
    (DeepAttention([3, 3], 3, heads=2), ("heads",)),
    (DeepAttention([2, 2, 1], [2, 1]), ("3.7", "fibre")),
    (DeepAttention([2, 2, 2], 1), ("fibre",)),
    (DeepAttention([2, 2, 2], 2), ("3.7",)),
    (DeepAttention([3, 1], 1, heads=2), ("heads",)),
    (DeepAttention([3, 3, 3], [3, 2], 3), ("closed",)),
)
DEEP_ALL_SIZES = ("3.6", "3.8", "L", "S")
FOLDERS = (*VERIFIED, "rejected", "too-expensive", "program-not-checked", "malformed")


def main() -> None:
    """Run Macaulay2 for the accepted ones, and derive the others."""
    folders = {name: HERE / name for name in FOLDERS}
    before = stored()
    for folder in folders.values():
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
    made: dict[str, Certificate] = {}
    with Macaulay2() as engine:
        for case, questions in ON_TRUST.items():
            for certificate in certify_all(SingleLayerAttention(*case), questions, engine=engine):
                kept = made[certificate.file_name] = as_before(certificate, before)
                write(kept, folders["accepted-on-trust"])
        for case, questions in CASES.items():
            for certificate in certify_all(SingleLayerAttention(*case), questions, engine=engine):
                kept = made[certificate.file_name] = as_before(certificate, before)
                write(kept, folders["accepted"])
        for certificate in certify_all(EVERY_SIZE, ALL_SIZES, engine=engine):
            write(as_before(certificate, before), folders["all-sizes"])
        for certificate in deep(engine):
            write(as_before(certificate, before), folders["deep"])
        for filters, questions in CONVOLUTIONAL:
            for certificate in certify_all(filters, questions, engine=engine):
                write(as_before(certificate, before), folders["convolutional"])
    for network in NETWORKS:
        for certificate in certify_all(network, ("expected-dimension",)):
            write(as_before(certificate, before), folders["networks"])
    for outcome, changed in (("rejected", rejected(made)), ("too-expensive", too_expensive(made))):
        for name, certificate in changed.items():
            (folders[outcome] / f"{name}.json").write_text(certificate.to_text(), encoding="utf-8")
    write(with_foreign_program(made["d2-dout1-a1-t2-degree.json"]), folders["program-not-checked"])
    for name, text in malformed(made["d2-dout1-a1-t2-degree.json"].to_text()).items():
        (folders["malformed"] / f"{name}.json").write_text(text, encoding="utf-8")


def keep(release: str) -> None:
    """Copy all that is accepted into a folder that stays as it is."""
    (HERE / release).mkdir()
    for name in VERIFIED:
        for path in (HERE / name).glob("*.json"):
            shutil.copy(path, HERE / release)


def deep(engine: Macaulay2) -> Iterator[Certificate]:
    """Those about deep attention."""
    for network, questions in DEEP:
        yield from certify_all(network, questions, engine=engine)
    yield from certify_all(EVERY_NETWORK, DEEP_ALL_SIZES)


def stored() -> dict[str, Certificate]:
    """The certificates that are there, by the names of their files; no name occurs twice."""
    paths = [path for name in VERIFIED for path in (HERE / name).glob("*.json")]
    return {path.name: read(path) for path in paths}


def as_before(certificate: Certificate, before: Mapping[str, Certificate]) -> Certificate:
    """The certificate that is there, if the same release wrote it and only what is reported
    differs; else the new one.
    """
    old = before.get(certificate.file_name)
    if old is None:
        return certificate
    is_same = replace(certificate, reported=old.reported).sealed() == old
    releases = [one.reported["versions"]["m2bridge"] for one in (old, certificate)]
    return old if is_same and releases[0] == releases[1] else certificate


def by_release(certificate: Certificate, release: str) -> Certificate:
    """Return the certificate, said to be written by another release."""
    return reported(certificate, versions=certificate.reported["versions"] | {"m2bridge": release})


def reported(certificate: Certificate, **changes: Any) -> Certificate:
    """Return the certificate with other reported values, sealed anew."""
    return replace(certificate, reported=certificate.reported | changes).sealed()


def with_foreign_program(certificate: Certificate) -> Certificate:
    """As an older release might have written it, or somebody in its name."""
    text = 'run "rm -rf ~"\n'
    return replace(
        by_release(certificate, "0.0.9"), script={"text": text, "digest": digest(text)}
    ).sealed()


def changed_rank(types: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The facts about types, with a smaller rank of one form."""
    return [
        facts | {"form_rank": facts["form_rank"] - 1} if number == 3 else facts
        for number, facts in enumerate(types)
    ]


def other_types(verdict: dict[str, Any]) -> dict[str, Any]:
    """A verdict on types that states and finds another one in place of the first."""
    (first, *others) = verdict["predicted"]["exposed"]
    exposed = [[*first[:2], first[2] + 1, *first[3:]], *others]
    values = {"exposed": exposed, "undecided": []}
    return verdict | {"predicted": values, "observed": values}


def counted_modulo_unlucky_primes(certificate: Certificate) -> Certificate:
    """A certificate on a learning degree, made into one with a number that only its primes have.

    A coefficient of the moments, 4τ² + 21τ + 28 for d = 3 and t = τ + 1, is zero modulo both.
    """
    (verdict,) = certificate.answer["verdicts"]
    refuted = verdict | {"predicted": 25, "observed": UNLUCKY_COUNT, "verdict": "REFUTED"}
    random = Random("target 0")
    evidence = {
        "learning_degree": UNLUCKY_COUNT,
        "primes": list(UNLUCKY_PRIMES),
        "target": [random.randint(-9, 9) for _ in range(18)],
    }
    return replace(
        certificate,
        case={"d": 3, "d_out": 1, "a": 3, "t": UNLUCKY_TOKENS},
        name=f"d3-dout1-a3-t{UNLUCKY_TOKENS}",
        answer={"verdicts": [refuted]},
        evidence=evidence,
    ).sealed()


def rejected(made: dict[str, Certificate]) -> dict[str, Certificate]:
    """Certificates with one change, by the check that fails."""
    theorem, closure = made["d3-dout2-a2-t2-3.4.json"], made["d2-dout2-a1-t2-closure.json"]
    counted = made["d3-dout2-a1-t2-degree.json"]
    names = [f"c_1_{i}_{p}_{q}" for i in range(1, 13) for p in range(1, 13) for q in range(p, 13)]
    generators, series = closure.evidence["generators"], closure.answer["hilbert_series"]

    def evidence(certificate: Certificate, **changes: Any) -> Certificate:
        return replace(certificate, evidence=certificate.evidence | changes).sealed()

    def answer(certificate: Certificate, **changes: Any) -> Certificate:
        return replace(certificate, answer=certificate.answer | changes).sealed()

    def orbit(number: int, **changes: Any) -> Certificate:
        orbits = [
            o | changes if i == number else o for i, o in enumerate(theorem.evidence["orbits"])
        ]
        return evidence(theorem, orbits=orbits)

    verdicts, (words, _, _) = theorem.answer["verdicts"], theorem.trusted[0].partition("docs/")
    known, unknown = made["d2-dout2-a1-t2-equations.json"], made["d4-dout2-a2-t2-equations.json"]
    slices = made["d2-dout1-a2-t2-polar.json"]
    (numbers,) = slices.answer["verdicts"]
    seen = numbers["observed"]
    types = made["d2-dout2-a3-t2-exposed.json"]
    (stated,) = types.answer["verdicts"]
    polar, text = made["d2-dout1-a2-t2-polar-degrees.json"], theorem.script["text"]
    return {
        "digest": replace(
            theorem, reported=theorem.reported | {"seconds": theorem.reported["seconds"] + 1}
        ),
        "script.digest": replace(theorem, script=theorem.script | {"text": f"{text}\n"}).sealed(),
        "script.text": (
            replace(theorem, script={"text": f"{text}\n", "digest": digest(f"{text}\n")}).sealed()
        ),
        "libraries": replace(theorem, libraries={"wire": theorem.libraries["wire"]}).sealed(),
        "libraries.fibres": (
            replace(theorem, libraries=theorem.libraries | {"fibres": "0" * 64}).sealed()
        ),
        "file name": theorem,
        "field": replace(theorem, field="GF(7)").sealed(),
        "name": replace(theorem, name="d3-dout2-a2-t3").sealed(),
        "trusted": replace(theorem, trusted=theorem.trusted[1:]).sealed(),
        "trusted[0]": (
            replace(theorem, trusted=[f"{words}docs/pwn.md)", *theorem.trusted[1:]]).sealed()
        ),
        "number of orbits": evidence(theorem, orbits=theorem.evidence["orbits"][1:]),
        "evidence.orbits": evidence(theorem, orbits=[]),
        "evidence.orbits[0]": evidence(theorem, orbits=[0] * len(theorem.evidence["orbits"])),
        "evidence.orbits[1].fibre_length": orbit(1, fibre_length=2),
        "evidence.orbits[1].orbit[2]": orbit(1, orbit=[1, 1, 0]),
        "evidence.orbits[2].tangent_lower_bound": orbit(2, tangent_lower_bound=13),
        "evidence.learning_degree": counted_modulo_unlucky_primes(
            made["d2-dout1-a2-t2-learning-degree.json"]
        ),
        "evidence.types[3].form_rank": evidence(types, types=changed_rank(types.evidence["types"])),
        "answer.verdicts[0].observed.exposed[0][2]": answer(types, verdicts=[other_types(stated)]),
        "evidence.base_locus_empty": evidence(theorem, base_locus_empty=False),
        "evidence.degree": evidence(counted, degree=1638),
        "answer.verdicts[2].verdict": answer(
            theorem, verdicts=[*verdicts[:2], verdicts[2] | {"verdict": "CONFIRMED"}]
        ),
        "answer.verdicts[0].text": answer(
            theorem, verdicts=[verdicts[0] | {"text": "It is open."}, *verdicts[1:]]
        ),
        "generator on the parametrization": evidence(
            closure, generators=["c_1_1_1_1**2", *generators[1:]]
        ),
        "form of the closure": evidence(closure, generators=[*generators[1:], "__import__('os')"]),
        "generators": evidence(closure, generators=generators[1:]),
        "evidence.generators": (
            replace(
                closure,
                case={"d": 12, "d_out": 1, "a": 5, "t": 2},
                name="d12-dout1-a5-t2",
                evidence=closure.evidence | {"coordinates": names, "generators": []},
            ).sealed()
        ),
        "evidence.coordinates": evidence(closure, coordinates=closure.evidence["coordinates"][1:]),
        "answer.dimension": answer(closure, dimension=7),
        "answer.degree": answer(closure, degree=10),
        "answer.hilbert_series.numerator[1]": answer(
            closure, hilbert_series=series | {"numerator": [1, 5, *series["numerator"][2:]]}
        ),
        "answer.hilbert_function[4]": answer(known, hilbert_function=[1, 12, 63, 224, 624, 1476]),
        "answer.generators_up_to_degree.2": answer(
            known, generators_up_to_degree={"2": 14, "4": 5}
        ),
        "answer.generators_up_to_degree": answer(known, generators_up_to_degree={"2": 15}),
        "answer.hilbert_coefficients[1]": answer(
            known, hilbert_coefficients=[20, 41, 30, 10, 1, 0]
        ),
        "answer.max_degree": answer(known, max_degree=0),
        "answer.all_generators": answer(unknown, all_generators=True),
        "answer.hilbert_series": answer(unknown, hilbert_series=1),
        "answer.polar_degrees[2]": answer(polar, polar_degrees=[4, 6, 5, 0, 0]),
        "answer.dual_degree": answer(polar, dual_degree=6),
        "answer.verdicts[0].observed.slices[2]": answer(
            slices, verdicts=[numbers | {"observed": seen | {"slices": [4, 6, 5, 0, 0]}}]
        ),
        "answer.verdicts[0].predicted[2]": answer(
            slices, verdicts=[numbers | {"predicted": [4, 6, 5, 0, 0]}]
        ),
        "evidence.generic_fibre_points": evidence(polar, generic_fibre_points=2),
        "evidence.loci": evidence(polar, loci=[]),
        "homogeneous generators": evidence(
            closure, generators=[*generators[:-1], f"{generators[-1]} + {generators[0]}"]
        ),
    }


def too_expensive(made: dict[str, Certificate]) -> dict[str, Certificate]:
    """Certificates whose size says that checking them would take too much."""
    line, theorem = made["d1-dout2-a1-t2-closure.json"], made["d3-dout2-a2-t2-3.4.json"]
    unknown = made["d4-dout2-a2-t2-equations.json"]

    def generators(certificate: Certificate, *more: str) -> Certificate:
        return replace(
            certificate, evidence=certificate.evidence | {"generators": list(more)}
        ).sealed()

    return {
        "degree": replace(unknown, answer=unknown.answer | {"hilbert_series": {}}).sealed(),
        "number of coordinates": (
            replace(
                unknown, case=unknown.case | {"d": 10**8}, name="d100000000-dout2-a2-t2"
            ).sealed()
        ),
        "degree of a generator": generators(line, "c_1_1_1_1**9999"),
        "case": (
            replace(
                theorem,
                case={"d": 10**9 - 1, "d_out": 1, "a": 1, "t": 2},
                name="d999999999-dout1-a1-t2",
            ).sealed()
        ),
    }


def malformed(text: str) -> dict[str, str]:
    """Files that are not certificates."""
    data = json.loads(text)
    versions = data["reported"]["versions"]

    def changed(**changes: Any) -> str:
        return json.dumps(data | changes, sort_keys=True, indent=1, ensure_ascii=False) + "\n"

    def reports(**changes: Any) -> str:
        return changed(reported=data["reported"] | changes)

    return {
        "empty": "",
        "half-a-file": text[: len(text) // 2],
        "not-an-object": "[]\n",
        "other-schema": changed(schema=0, reported={}),
        "unknown-question": changed(question="9.9"),
        "no-such-size": changed(case=data["case"] | {"d": 10**2500}),
        "no-such-case": changed(case={"d": 0, "d_out": 1, "a": 1, "t": 2}),
        "case-with-another-number": changed(case=data["case"] | {"l": 2}),
        "unknown-field": changed(remark=""),
        "true-for-a-number": reports(seconds=True),
        "negative-time": reports(seconds=-100000),
        "longer-than-the-world": reports(seconds=10**400),
        "negative-memory": reports(peak_memory=-1),
        "unknown-report": reports(remark=""),
        "no-release": reports(
            versions={name: v for name, v in versions.items() if name != "m2bridge"}
        ),
        "release-with-a-space": reports(versions=versions | {"m2bridge": "0.1.0 "}),
        "version-that-is-a-formula": reports(versions=versions | {"sympy": "=cmd|calc"}),
        "unknown-program": reports(versions=versions | {"=cmd|calc": "1"}),
        "not-a-number": text.replace(f'"seconds": {data["reported"]["seconds"]}', '"seconds": NaN'),
        "nested-deeply": '{"a": ' * 20_000,
        "another-layout": json.dumps(data, sort_keys=True),
        "field-twice": text.replace('{\n "answer"', '{\n "answer": {},\n "answer"', 1),
    }


if __name__ == "__main__":
    if sys.argv[1:2] == ["keep"]:
        keep(sys.argv[2])
    else:
        main()
