"""What is missing for something new: ``python -m tests.missing``.

ARCHITECTURE.md says how to begin; a new statement, method of ideals, form of reports, layout of
checkpoints, error or variable of the environment, and a new family, also stand in other places.
This finds what is new by comparing the places, and lists each that lacks it, in words; it ends with
1 if anything is missing. The tests demand that nothing is.

``python -m tests.missing m2bridge/maps/locus.py`` lists the tests of a module: the files that
import it, those of its own folder first.
"""

from __future__ import annotations

import ast
import inspect
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import m2bridge
from m2bridge import errors
from m2bridge.certificates.form import read
from m2bridge.certificates.wording import Words
from m2bridge.cli import ideals, show
from m2bridge.families.attention.hypotheses import WORDS as OF_ATTENTION
from m2bridge.families.convolutional_network.statements import WORDS as OF_CONVOLUTIONAL
from m2bridge.families.deep_attention.statements import WORDS as OF_DEEP_ATTENTION
from m2bridge.families.polynomial_network.model import WORDS as OF_POLYNOMIAL
from m2bridge.families.registry import OWN_FAMILIES, checker, family
from m2bridge.ideals import program
from m2bridge.ideals.ideal import Ideal
from m2bridge.reports import forms
from m2bridge.results.sheet import name_with_part
from m2bridge.trained_weights.checkpoints.layouts import LAYOUTS
from tests import new_family, stated
from tests.certificates import VERIFIED
from tests.repository import test_formulas as formulas
from tests.unit.certificates import test_former_words as former
from tests.unit.checker import test_every_field as fields
from tests.unit.crosscheck import test_verdicts as verdicts
from tests.unit.families.attention import test_stated_once as attention
from tests.unit.families.convolutional_network import test_convolutional_network as convolutional
from tests.unit.families.deep_attention import test_deep_stated_once as deep_attention
from tests.unit.families.polynomial_network import test_polynomial_network as polynomial
from tests.unit.reports import test_report as reports
from tests.unit.trained_weights.checkpoints import test_layouts as layouts

ROOT = Path(__file__).parents[1]
SAMPLES = ROOT / "tests" / "certificates"


def text_of(place: str) -> str:
    """The text of a file of the repository."""
    return (ROOT / place).read_text(encoding="utf-8")


# Statements.

STATED_ONCE = {
    "attention": (OF_ATTENTION, attention, {*attention.BY_HAND, *attention.TYPES}),
    "deep-attention": (OF_DEEP_ATTENTION, deep_attention, {*deep_attention.BY_HAND}),
    "polynomial-network": (OF_POLYNOMIAL, polynomial, {*polynomial.BY_HAND}),
    "convolutional-network": (
        OF_CONVOLUTIONAL,
        convolutional,
        {(key, "") for key in convolutional.BY_HAND},
    ),
}
"""For each family with formulas their table, the test that compares it, and what is compared."""


def of_statements() -> Iterator[str]:
    """Statements, their hypotheses, and the questions about them."""
    yield from _of_the_table()
    yield from _of_the_page()
    for formula in sorted(formulas.unread()):
        again = "pytest tests/repository/test_formulas.py --update-golden"
        yield f"tests/repository/formulas.tsv: '{formula}' ({again}; read what it adds)"
    for name, statement in verdicts.STATED:
        if not verdicts.applies(name, statement):
            which = name_with_part(statement.key, statement.part)
            place = "tests/unit/crosscheck/test_verdicts.py"
            yield f"{place}: MORE_MODELS of '{name}' with a case to which '{which}' applies"
    yield from _of_the_questions()
    yield from _of_real_cases()


def _of_the_table() -> Iterator[str]:
    """The words beside what they say, typed a second time."""
    for name, (wording, test, compared) in STATED_ONCE.items():
        place = Path(inspect.getfile(test)).relative_to(ROOT)
        for words in wording.statements:
            which = name_with_part(words.key, words.part)
            if words.value and (words.key, words.part) not in compared:
                yield f"{place}: '{which}' in BY_HAND, and wrong values of it in WRONG"
            yield from _of_its_observable(name, words)
        for hypothesis in sorted(wording.conditions.keys() - test.HYPOTHESES.keys()):
            yield f"{place}: '{hypothesis}' in HYPOTHESES"


def _of_its_observable(name: str, words: Words) -> Iterator[str]:
    """What is computed for a statement without a formula is predicted by functions."""
    if words.value:
        return
    folder = "m2bridge/families/" + name.replace("-", "_")
    names = {words.key, words.observable, words.as_property}
    if not any(f'"{one}"' in text_of(f"{folder}/statements.py") for one in names if one):
        yield f"{folder}/statements.py: '{words.observable}' in PREDICTED"


def _of_the_page() -> Iterator[str]:
    """The page of statements, written again, with a reason for each."""
    text = stated.PAGE.read_text(encoding="utf-8")
    again = stated.page(text)
    if again != text:
        yield "docs/statements.md: what each says and what is computed (python -m tests.stated)"
    for title in stated.SECTIONS:
        for name, reason in stated.reasons(title, again).items():
            if not reason.endswith("."):
                yield f"docs/statements.md: why what is computed decides '{name}' ({title})"


def _of_the_questions() -> Iterator[str]:
    """Certificates: a sample of each question, its fields, and what releases have."""
    sampled = set()
    for kind in VERIFIED:
        for path in (SAMPLES / kind).glob("*.json"):
            certificate = read(path)
            sampled.add((certificate.family, certificate.question))
    kept = former.kinds_of_releases()
    listed = fields.tables()
    for name in OWN_FAMILIES:
        for key in checker(name).questions:
            alike = key in former.ALIKE.get(name, set())
            if (name, key) not in sampled and not alike:
                place = "tests/certificates/__main__.py"
                yield f"{place}: a case with the question '{key}' of '{name}'; run it"
            is_new = (name, key) not in kept and not alike
            if is_new and name in former.OF_1_0 and (name, key) not in former.SINCE_1_0:
                place = "tests/unit/certificates/test_former_words.py"
                yield f"{place}: ('{name}', '{key}') in SINCE_1_0"
            kind = fields.kind_of(name, key)
            if kind not in listed:
                yield f"docs/checkers.md: a list '{kind}' of the fields of its certificates"


def _of_real_cases() -> Iterator[str]:
    """Statements about attention, decided for all small cases by Macaulay2."""
    place = "tests/engine/test_cross_check.py"
    named = text_of(place) + text_of("tests/engine/test_polar_degrees_engine.py")
    for statement in family("attention").statements():
        which = name_with_part(statement.key, statement.part)
        separate = getattr(statement, "separate_computation", False)
        if not separate and f'"{which}"' not in named:
            yield f"{place}: what '{which}' is in all small cases (test_all_small_cases)"


# Methods of ideals.

OF_COMMANDS = {"image", "preimage", "projective", "singular_locus"}
"""The methods of ideals that are not methods of the command ``ideal``."""
OF_FORMS = re.compile(r"to_|write_|of$|without_zeros$")
"""How an ideal is written and made."""


def of_methods_of_ideals() -> Iterator[str]:
    """Methods of the class, and the templates of their programs."""
    of_command = {*ideals.METHODS_OF_IDEALS, *ideals.METHODS_OF_TWO_IDEALS}
    for name, value in vars(Ideal).items():
        is_method = inspect.isfunction(value) and not name.startswith("_")
        if not is_method or name in OF_COMMANDS or OF_FORMS.match(name):
            continue
        if name not in of_command:
            yield f"m2bridge/cli/ideals.py: '{name}' in METHODS_OF_IDEALS, or of two ideals"
        for place in ("docs/ideals.md", "tests/engine/test_ideals.py"):
            if name not in text_of(place):
                yield f"{place}: {name}"
    over_integers = program.QUESTIONS_OVER_INTEGERS
    over_fields = program.WORDS_OF_QUESTIONS_OVER_FIELDS
    for path in sorted((ROOT / "templates").glob("ideal_*.m2.j2")):
        question = path.name.removesuffix(".m2.j2")
        if question not in over_integers and question not in over_fields:
            names = "QUESTIONS_OVER_INTEGERS or WORDS_OF_QUESTIONS_OVER_FIELDS"
            yield f"m2bridge/ideals/program.py: '{question}' in {names}"
        if f'"{question}"' not in text_of("tests/engine/test_every_template.py"):
            yield f"tests/engine/test_every_template.py: '{question}' in CALLS"


# Forms of reports.


def of_forms_of_reports() -> Iterator[str]:
    """Forms of reports: on the command line, in README and in tests."""
    place = "m2bridge/cli/show.py"
    (line,) = re.findall(r"^\$ m2bridge report .*$", text_of("README.md"), re.MULTILINE)
    for form in forms.FORMATS:
        if form not in show.REPORT_FORMATS:
            yield f"{place}: '{form}' in REPORT_FORMATS"
        word, _, variant = form.partition("-")
        if form != "text" and not variant and form not in show.ENDINGS.values():
            yield f"{place}: the ending of files of '{form}' in ENDINGS"
        if word not in line.lower():
            yield f"README.md: {word}, in the line of 'm2bridge report'"
    for ending in show.ENDINGS:
        out = next(one for one in show.report_command.params if one.name == "out")
        if ending not in str(getattr(out, "help", "")) and ending != ".htm":
            yield f"{place}: {ending} in the help of --out"
    for form in forms.LINKED:
        if form not in show.LINKED_FORMATS:
            yield f"{place}: '{form}' in LINKED_FORMATS"
        if form not in reports.LINKS:
            yield f"tests/unit/reports/test_report.py: how '{form}' writes a link, in LINKS"
    for form in sorted({*show.REPORT_FORMATS, *show.LINKED_FORMATS} - forms.FORMATS.keys()):
        yield f"m2bridge/reports/forms.py: '{form}' in FORMATS, or in LINKED"


# Layouts of checkpoints.


def of_layouts() -> Iterator[str]:
    """Layouts: the arrays of a layer whose ranks are known, stored so."""
    planted = {*layouts.LAYOUTS, *layouts.SHARED, *layouts.ASKED}
    place = "tests/unit/trained_weights/checkpoints"
    held_out = "".join(path.read_text("utf-8") for path in (ROOT / place / "held_out").glob("*.py"))
    for layout in LAYOUTS:
        if layout.whose not in planted and not layout.whose.startswith("A and V"):
            how = "LAYOUTS, or in ASKED if its models cut one array differently"
            yield f"{place}/test_layouts.py: planted heads stored as '{layout.whose}', in {how}"
            last = layout.names.get("O", next(iter(layout.names.values()))).removeprefix("*")
            if last.removesuffix(".weight") not in held_out:
                yield f"{place}/held_out: a file as a library writes it, with {last}"


# Errors.


def of_errors() -> Iterator[str]:
    """Errors: their tree, and for public ones where all public names stand."""
    tree = (errors.__doc__ or "").partition("Mathematical outcomes")[0]
    codes = text_of("docs/guide/command-line.md").partition("(exit-codes)=")[2]
    codes = codes or text_of("docs/guide/command-line.md")
    for name, error in vars(errors).items():
        if not inspect.isclass(error) or not issubclass(error, errors.M2BridgeError):
            continue
        if f" {name}" not in tree:
            yield f"m2bridge/errors.py: {name} in the tree"
        if not re.search(rf"^\| `?{error.exit_code}\b", codes, re.MULTILINE):
            yield f"docs/guide/command-line.md: the exit code {error.exit_code} of {name}"
        bases = {base.__name__ for base in error.__mro__[1:]} - {"M2BridgeError"}
        is_public = name in m2bridge.__all__
        if is_public:
            if ">>>" not in (error.__doc__ or ""):
                yield f"m2bridge/errors.py: an example of {name}"
            if f"   {name}\n" not in text_of("docs/reference/api.rst"):
                yield f"docs/reference/api.rst: {name}"
            if not re.search(rf"\b{name}\b", text_of("tests/unit/cli/test_likely_mistakes.py")):
                yield f"tests/unit/cli/test_likely_mistakes.py: {name} in NAMES"
        elif name not in OF_M2BRIDGE_ITSELF and not bases & set(m2bridge.__all__):
            yield f"m2bridge/__init__.pyi: {name}, or in OF_M2BRIDGE_ITSELF of tests/missing.py"


OF_M2BRIDGE_ITSELF = {
    "ResourceError",
    "UnsupportedSystemError",
    "RenderError",
    "ParseError",
    "NotApplicableError",
    "CertificateError",
    "OtherReleaseError",
    "TooExpensiveError",
}
"""Errors that no public function raises, but for its programs and certificates."""


# Variables of the environment.


def of_variables() -> Iterator[str]:
    """Variables that the package reads: where a user reads of them, and tests without them."""
    names = set()
    for path in (ROOT / "m2bridge").rglob("*.py"):
        names |= set(re.findall(r'"(M2BRIDGE_[A-Z0-9_]+)"', path.read_text(encoding="utf-8")))
    for name in sorted(names):
        for place in ("docs/installation.md", "docs/stability.md"):
            if f"`{name}`" not in text_of(place):
                yield f"{place}: {name}"
        for place in ("tests/programs.py", "tests/fuzz/inputs.py"):
            if f'"{name}"' not in text_of(place):
                yield f"{place}: tests that have nothing of the user's remove {name}"


KINDS: dict[str, Callable[[], Iterator[str]]] = {
    "statements": of_statements,
    "methods of ideals": of_methods_of_ideals,
    "forms of reports": of_forms_of_reports,
    "layouts of checkpoints": of_layouts,
    "errors": of_errors,
    "variables of the environment": of_variables,
    "families": lambda: (line for name in OWN_FAMILIES for line in new_family.missing(name)),
}


def tests_of(module: str) -> list[str]:
    """The test files that import a module, given by its path, those of its folder first."""
    name = module.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    parent, _, last = name.rpartition(".")
    importing = []
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom) and node.module is not None:
                named = node.module == parent and last in {alias.name for alias in node.names}
                if node.module == name or named:
                    importing.append(str(path.relative_to(ROOT)))
                    break
    own = "tests/unit/" + "/".join(Path(module).parts[1:-1])
    return sorted(importing, key=lambda path: (not path.startswith(own), path))


def main(arguments: list[str]) -> int:
    """Print what is missing, or the tests of a module."""
    if arguments:
        for module in arguments:
            print(*(tests_of(module) or [f"no test imports {module}"]), sep="\n")
        return 0
    lines = [line for missing in KINDS.values() for line in missing()]
    print(*(lines or ["nothing is missing"]), sep="\n")
    return int(bool(lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
