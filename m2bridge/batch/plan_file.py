"""The plan of a batch as a file in its folder: which questions about which cases were asked.

A certificate that somebody deletes leaves no trace in the folder. So a batch writes its plan before
it begins, to a file of its own, and ``verify``, ``report`` and ``atlas`` say what is in the plans
and not in the folder. The plans of several batches in one folder count together: a question is
*asked* if one of them has it, and *missing* if the folder has neither its certificate nor its
outcome.

The name of the file has the digest of its content, so that the same batch, when it is resumed,
writes the same file, and other batches write others. Its ending is not ``.json``, as release 1.0
takes each such file for a certificate.

A plan comes from strangers, as a certificate does: its size is limited, its names have the form of
names in certificates, and it can only add questions. It is not signed: whoever deletes a
certificate can also rewrite the plan, against which a copy of the plan from elsewhere helps.
"""

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from m2bridge.batch.store import Store, Task
from m2bridge.certificates.form import digest, file_name, names_a_question, text_of_file
from m2bridge.convert.bounded_io import read_json
from m2bridge.errors import CertificateError, ConversionError
from m2bridge.reading import unquoted
from m2bridge.results.sheet import line, plural
from m2bridge.system import write_aside

PLAN_SUFFIX = ".plan"

MAX_PLAN_BYTES = 64 * 2**20
"""The size of the largest plan that is read: each of 100 000 cases has 670 bytes."""

FORM = 1
"""The version of the form of plans."""

NOT_READABLE = (CertificateError, ConversionError, OSError, ValueError, RecursionError)
"""Errors of reading a plan."""

MAX_NAMES_IN_WORDS = 5


class AskedCase(NamedTuple):
    """A case of a plan, as in certificates, with the keys of the questions that were asked."""

    family: str
    case: dict[str, Any]
    name: str
    questions: tuple[str, ...]

    @property
    def files(self) -> tuple[str, ...]:
        """The names of the files of the certificates."""
        return tuple(file_name(self.name, question) for question in self.questions)


def write_plan(tasks: Iterable[Task], store: Store) -> Path:
    """Write the plan of a batch to its folder, unless it is there; return its path."""
    text = plan_text(tasks)
    path = store.folder / plan_name(text)
    if not path.exists():
        with store.writing():
            write_aside(text, path)
    return path


def plan_text(tasks: Iterable[Task]) -> str:
    """Return the content of the file for the plan: JSON with a line for each case."""
    lines = []
    for task in tasks:
        entry = {
            "family": task.case.family,
            "case": task.case.to_json(),
            "name": task.name,
            "questions": list(task.questions),
        }
        lines.append(json.dumps(entry, sort_keys=True, ensure_ascii=False, separators=(",", ":")))
    # Cases in another order are the same plan.
    cases = ",\n".join(sorted(lines))
    return f'{{"plan": {FORM}, "cases": [\n{cases}\n]}}\n'


def plan_name(text: str) -> str:
    """Return the name of the file with this content, such as ``batch-1b2c3d4e5f607182.plan``."""
    return f"batch-{digest(text)[:16]}{PLAN_SUFFIX}"


def read_plan(path: Path) -> tuple[AskedCase, ...]:
    """Read the plan at a path; one of the errors ``NOT_READABLE`` says why it cannot be used."""
    with unquoted():
        text = text_of_file(path, MAX_PLAN_BYTES)
        data = read_json(text)
        if not isinstance(data, dict) or data.keys() != {"plan", "cases"} or data["plan"] != FORM:
            raise CertificateError("not the plan of a batch that this release reads")
        if not isinstance(data["cases"], list):
            raise CertificateError("not the plan of a batch: its cases are not a list")
        cases = tuple(map(_asked_case, data["cases"]))
        if path.name != plan_name(text):
            raise CertificateError(f"the content belongs to {plan_name(text)}: it was changed")
    return cases


def _asked_case(entry: Any) -> AskedCase:
    """Return the case of an entry of a plan; CertificateError if it has another form."""
    if not isinstance(entry, dict) or entry.keys() != set(AskedCase._fields):
        raise CertificateError("not the plan of a batch: a case has missing or unknown fields")
    questions = entry["questions"]
    if not isinstance(questions, list):
        raise CertificateError("not the plan of a batch: the questions of a case are not a list")
    case = AskedCase(entry["family"], entry["case"], entry["name"], tuple(questions))
    if not all(names_a_question(*case[:3], question) for question in case.questions):
        raise CertificateError("not the plan of a batch: a case or a question has no valid name")
    return case


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanComparison:
    """The questions in the plans of a folder, and what of them the folder has not."""

    plans: int = 0  # the number of plans that were read
    asked: int = 0  # the number of different questions in them
    missing: tuple[str, ...] = ()  # the names of certificates
    unplanned: int = 0  # the number of certificates that no plan asks for
    unusable: Mapping[str, str] = field(default_factory=dict)  # reasons by names of plans

    @property
    def complete(self) -> bool:
        """Whether nothing is known to be missing: nothing is, and each plan could be read."""
        return not self.missing and not self.unusable

    @property
    def sentences(self) -> list[str]:
        """The comparison in words, without full stops."""
        unread = [
            f"The plan '{line(name)}' cannot be used: {line(reason)}"
            for name, reason in self.unusable.items()
        ]
        if not self.plans:
            return unread or ["There is no plan of a batch: what was asked is not known"]
        extent = f"{plural(self.asked, 'question')} in {plural(self.plans, 'plan')}"
        sentences = [f"Nothing is missing of {extent}"]
        if self.missing:
            names = ", ".join(self.missing[:MAX_NAMES_IN_WORDS])
            more = len(self.missing) - MAX_NAMES_IN_WORDS
            if more > 0:
                names += f" and {plural(more, 'other')}"
            sentences = [
                f"Missing (no usable certificate, no outcome): {len(self.missing)} of {extent}:"
                f" {names}"
            ]
        if self.unplanned:
            sentences.append(f"In no plan: {plural(self.unplanned, 'certificate')}")
        return sentences + unread

    def to_json(self) -> dict[str, Any]:
        """Return a dictionary for ``json.dumps``."""
        return {
            "plans": self.plans,
            "questions": self.asked,
            "missing": list(self.missing),
            "not_in_a_plan": self.unplanned,
            "unusable": dict(self.unusable),
        }


def compare_with_plans(
    paths: Iterable[Path], certificates: Collection[str], outcomes: Collection[str]
) -> PlanComparison:
    """Compare plans with the names of certificates that are there, or have an outcome instead."""
    planned_files = set[str]()
    plans = 0
    unusable = {}
    for path in paths:
        try:
            cases = read_plan(path)
        except NOT_READABLE as reason:
            unusable[path.name] = str(reason)
            continue
        plans += 1
        for case in cases:
            planned_files.update(case.files)
    return PlanComparison(
        plans=plans,
        asked=len(planned_files),
        missing=tuple(sorted(planned_files.difference(certificates, outcomes))),
        unplanned=len(set(certificates) - planned_files),
        unusable=unusable,
    )
