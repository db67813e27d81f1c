"""The page of a report, driven in a real browser."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from m2bridge import reports as report
from m2bridge.batch.store import Store, Unanswered
from m2bridge.certificates.form import read
from m2bridge.reports import Report, VerdictRow
from m2bridge.reports.content import VERDICTS, case_of
from m2bridge.reports.forms import MARKS
from m2bridge.results.sheet import statement_sort_key
from tests.events import PATIENCE

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from selenium.webdriver import Chrome
    from selenium.webdriver.remote.webelement import WebElement

ACCEPTED = Path(__file__).parents[1] / "certificates" / "accepted"
NETWORKS = ACCEPTED.parent / "networks"
NASTY = "</script><script>document.title = 'evil'</script> <b>&amp; 100%"
ENTER, ESCAPE, BACKSPACE, SELECT_ALL = "\ue007", "\ue00c", "\ue003", "\ue009a\ue000"


@dataclass(frozen=True)
class Page:
    """A report in the browser."""

    browser: Chrome
    file: Path
    report: Report

    def open(self, fragment: str = "") -> Page:
        """Load it anew, and wait for its script."""
        self.browser.get("about:blank")
        self.browser.get(self.file.as_uri() + fragment)
        return self.wait(lambda: self.text("#shown"))

    def wait(self, condition: Callable[[], object]) -> Page:
        from selenium.webdriver.support.wait import WebDriverWait

        WebDriverWait(self.browser, PATIENCE, poll_frequency=0.02).until(lambda _: condition())
        return self

    def run(self, script: str, *arguments: object) -> Any:
        return self.browser.execute_script(f"return {script}", *arguments)

    def find(self, selector: str) -> WebElement:
        return self.browser.find_element("css selector", selector)

    def text(self, selector: str) -> str:
        return self.find(selector).text

    def texts(self, selector: str) -> list[str]:
        return self.run(
            "[...document.querySelectorAll(arguments[0])].map(e => e.textContent)", selector
        )

    def column(self, i: int) -> list[str]:
        """The first line of each cell of a column of the table."""
        return self.run(
            f"[...rows.tBodies[0].rows].map(row => row.cells[{i}].firstChild.textContent)"
        )

    def choose(self, name: str, value: str) -> None:
        self.find(f'#{name} option[value="{value}"]').click()

    def write(self, words: str) -> None:
        self.find("#words").send_keys(SELECT_ALL, BACKSPACE, words)

    def grids(self) -> dict[str, dict[tuple[str, str], str]]:
        """For each caption the sign at (d, d')."""
        return {
            grid.find_element("css selector", "caption").text: self._grid(grid)
            for grid in self.browser.find_elements("css selector", "#grids table")
        }

    def _grid(self, grid: WebElement) -> dict[tuple[str, str], str]:
        (_, *columns), *lines = self.run(
            "[...arguments[0].rows].map(r => [...r.cells].map(c => c.textContent))", grid
        )
        return {
            (d, d_out): sign
            for d, *signs in lines
            for d_out, sign in zip(columns, signs, strict=True)
            if sign
        }

    def opened(self) -> bool:
        """Whether a case is shown."""
        return self.find("#case").is_displayed()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates, an outcome with a nasty reason, and a file that cannot be used."""
    found = tmp_path_factory.mktemp("report") / "results"
    shutil.copytree(ACCEPTED, found)
    (found / "half.json").write_text("{", encoding="utf-8")
    case = {"d": 4, "d_out": 13, "a": 3, "t": 2}
    Store(found).put_outcome(
        Unanswered(
            family="attention",
            case=case,
            name="d4-dout13-a3-t2",
            question="3.4",
            kind="timed-out",
            reason=NASTY,
            details="",
            timeout=60.0,
            memory=None,
            versions={},
        )
    )
    return found


@pytest.fixture
def page(browser: Chrome, folder: Path) -> Page:
    """The report of the folder, just opened."""
    return written(browser, report.collect(folder), folder.parent).open()


def written(browser: Chrome, content: Report, folder: Path) -> Page:
    file = folder / "report.html"
    file.write_text(report.FORMATS["html"](content), encoding="utf-8")
    return Page(browser, file, content)


def test_it_asks_for_no_other_file_and_its_console_is_silent(page: Page) -> None:
    for log in ("performance", "browser"):
        page.browser.get_log(log)
    page.open("#d3-dout2-a2-t2").wait(page.opened)
    events = [
        json.loads(entry["message"])["message"] for entry in page.browser.get_log("performance")
    ]
    asked = {
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    }
    assert asked - {"about:blank"} == {page.file.as_uri()}
    assert page.browser.get_log("browser") == []


SORT_KEYS: tuple[Callable[[VerdictRow], Any], ...] = (
    lambda row: row.case.cells[0],
    lambda row: row.case.cells[1],
    lambda row: row.case.cells[2],
    lambda row: row.case.cells[3],
    lambda row: statement_sort_key(row.statement),
    lambda row: VERDICTS.index(row.verdict),
    lambda row: row.reason,
    lambda row: -1 if row.seconds is None else row.seconds,
)


@pytest.mark.parametrize("i", range(len(SORT_KEYS)))
def test_each_column_sorts_up_and_down(i: int, page: Page) -> None:
    def shown(row: VerdictRow) -> str:
        case, said = row.case, f"{MARKS[row.verdict]} {row.verdict.replace('_', ' ').lower()}"
        seconds = "–" if row.seconds is None else f"{row.seconds:.3f}"
        numbers = map(str, case.cells)
        return (*numbers, row.statement, said, row.reason, seconds)[i]

    upwards = [shown(row) for row in sorted(page.report.lines, key=SORT_KEYS[i])]
    head = page.find(f"#rows th:nth-child({i + 1})")
    for order, expected in (("ascending", upwards), ("descending", upwards[::-1])):
        head.find_element("css selector", "button").send_keys(ENTER)
        assert page.column(i) == expected
        assert head.get_attribute("aria-sort") == order
    assert len(page.browser.find_elements("css selector", "th[aria-sort]")) == 1


def test_the_refuted_statement_comes_first_with_its_witness(page: Page) -> None:
    assert page.texts("#rows tbody tr:first-child .mark") == ["✗ refuted"]
    assert page.text("#rows tbody tr:first-child .small").startswith(
        "at orbit (1, 2, 0): singular, though the statement says smooth"
    )


@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        ("d=1", lambda row: row.case.cells[0] == 1),  # neither 13 nor d'=1
        ("d'=13 a=3", lambda row: row.case.cells[1:3] == (13, 3)),
        ("GENERATORS degree", lambda row: row.question in {"closure", "equations"}),
        ("no answer", lambda row: row.verdict == "NO_ANSWER"),
        ("orbit (1, 2, 0)", lambda row: "orbit (1, 2, 0)" in row.reason),
        ("nowhere", lambda row: False),
    ],
)
def test_words_choose_rows(words: str, wanted: Callable[[VerdictRow], bool], page: Page) -> None:
    page.write(words)
    expected = [row.statement for row in page.report.lines if wanted(row)]
    assert page.column(4) == expected
    assert page.text("#shown") == f"{len(expected)} of {len(page.report.lines)} rows"
    page.write("")
    assert len(page.column(4)) == len(page.report.lines)


def test_verdict_and_statement_choose_rows_together(page: Page) -> None:
    page.choose("verdict", "CONFIRMED")
    confirmed = [row.statement for row in page.report.lines if row.verdict == "CONFIRMED"]
    assert page.column(4) == confirmed
    page.choose("statement", "3.4 (i)")
    assert page.column(4) == [name for name in confirmed if name == "3.4 (i)"] != []
    page.choose("verdict", "")
    assert page.column(4) == [
        row.statement for row in page.report.rows if row.statement == "3.4 (i)"
    ]


@pytest.mark.parametrize("statement", ["3.4 (iii)", "A.4"])
def test_a_line_of_two_statements_is_chosen_by_each(statement: str, page: Page) -> None:
    page.choose("verdict", "REFUTED")
    page.choose("statement", statement)
    assert page.column(4) == ["3.4 (iii), A.4"]


@pytest.mark.parametrize("statement", ["", "3.4 (iii)", "closure"])
def test_the_grids_show_the_first_verdict_of_the_chosen_rows(statement: str, page: Page) -> None:
    page.choose("statement", statement)
    expected: dict[str, dict[tuple[str, str], str]] = {}
    for row in page.report.rows:  # refuted first
        if statement in ("", row.statement):
            d, d_out, a, t = row.case.cells
            grid = expected.setdefault(f"a = {a}, t = {t}", {})
            grid.setdefault((str(d), str(d_out)), MARKS[row.verdict])
    assert page.grids() == expected


def test_all_grids_are_on_the_whole_page_and_on_paper(page: Page) -> None:
    """None waits until it is scrolled into sight; where cells are very many, none does on paper."""
    shown = """[...document.querySelectorAll('#grids > div')].filter(e =>
        getComputedStyle(e).contentVisibility == 'visible').length"""
    all_grids = page.run("grids.children.length")
    assert page.run(shown) == all_grids > 1
    assert page.run("grids.scrollHeight <= grids.clientHeight + 1")
    page.run("grids.classList.add('many')")
    assert page.run(shown) == 0
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    try:
        assert page.run(shown) == all_grids
    finally:
        page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_a_cell_of_a_grid_opens_its_case_and_escape_closes_it(page: Page) -> None:
    link = page.find('#grids a[href="#d3-dout2-a2-t2"]')
    assert (
        link.get_attribute("aria-label")
        == "neuromanifold of lightning self-attention, (d, d', a) = (3, 2, 2), t = 2: refuted"
    )
    link.send_keys(ENTER)
    page.wait(page.opened)
    assert (
        page.text("#title")
        == "neuromanifold of lightning self-attention, (d, d', a) = (3, 2, 2), t = 2"
    )
    page.find("#case").send_keys(ESCAPE)
    page.wait(lambda: not page.opened())
    # the browser goes back in its history some time after the dialog has closed
    page.wait(lambda: "#" not in page.browser.current_url)
    page.wait(lambda: page.browser.switch_to.active_element == link)
    link.click()
    page.wait(page.opened)


def test_a_case_shows_verdicts_orbits_and_script(page: Page) -> None:
    page.find('#rows a[href="#d3-dout2-a2-t2"]').click()
    page.wait(page.opened)
    whole = read(ACCEPTED / "d3-dout2-a2-t2-3.4.json")
    assert {"✗ refuted", "✓ confirmed"} <= set(page.texts("#sheet .mark"))
    orbits = [
        tuple(json.loads(f"[{text[1:-1]}]")) for text in page.texts("#sheet .scroll td:first-child")
    ]
    assert orbits == [tuple(orbit["orbit"]) for orbit in whole.evidence["orbits"]]
    script = page.find("#sheet pre")
    assert not script.is_displayed()
    page.find("#sheet summary").click()
    assert script.is_displayed()
    assert page.texts("#sheet pre") == [whole.script["text"]]
    page.find("#case form button").click()
    page.wait(lambda: not page.opened())


def test_an_address_leads_to_each_case(page: Page) -> None:
    for case in {row.case for row in page.report.rows}:
        page.open(f"#{case.name}").wait(page.opened)
        assert page.text("#title") == case.title
    page.open("#nowhere")
    assert not page.opened()


def test_text_of_a_file_stays_text(page: Page) -> None:
    page.open("#d4-dout13-a3-t2").wait(page.opened)
    assert f"timed-out (limit 1 min 0 s): {NASTY}" in page.column(6)
    assert page.texts("#sheet tbody tr:first-child .reason")[0].startswith(
        f"timed-out (limit 1 min 0 s): {NASTY}"
    )
    assert page.browser.title == "m2bridge report"
    assert page.texts("#problems td")[0] == "half.json"


def test_many_cases_are_shown_a_few_at_a_time(
    browser: Chrome, folder: Path, tmp_path: Path
) -> None:
    row = report.collect(folder).rows[0]
    rows = tuple(
        replace(row, case=case_of("attention", {"d": n, "d_out": 2, "a": 2, "t": 2}))
        for n in range(1, 1203)
    )
    page = written(browser, Report(rows, (), ()), tmp_path).open()
    assert page.text("#shown") == "1202 of 1202 rows; the first 500 are in the table"
    for count in (500, 1000, 1202):
        assert page.column(0) == [str(n + 1) for n in range(count)]
        if count < 1202:
            page.find("#more").click()
    assert not page.find("#more").is_displayed()
    page.open("#d1150-dout2-a2-t2").wait(page.opened)
    assert page.text("#title").endswith("(d, d', a) = (1150, 2, 2), t = 2")


def test_networks_have_grids_of_widths_and_degrees(browser: Chrome, tmp_path: Path) -> None:
    page = written(browser, report.collect(NETWORKS), tmp_path).open()
    assert page.grids() == {
        "": {("2,2,1", "2"): "✓", ("2,2,2", "2"): "✓", ("3,2,1", "2"): "✗", ("3,4,6,6,1", "2"): "✗"}
    }
    page.write("widths=3,2,1")
    assert page.column(0) == ["3,2,1", "3,2,1"]
    page.open("#polynomial-network-3-2-1-r2").wait(page.opened)
    assert (
        page.text("#title")
        == "polynomial neural network of widths (3, 2, 1) and activation degree 2"
    )


def test_a_narrow_window_needs_no_sideways_scrolling(page: Page) -> None:
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    page.browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        page.open()
        assert page.run("document.documentElement.scrollWidth") == 390
    finally:
        page.browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(scheme: str, page: Page) -> None:
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    page.browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    names = ("paper", "band", "ink", "soft", "bad", "good", "open", "fact", "none")
    said = page.run(
        "arguments[0].map(n => getComputedStyle(document.body).getPropertyValue('--' + n))", names
    )
    paper, band, *inks = map(luminance, said)
    assert (paper > 0.5) is (scheme == "light")
    for ground in (paper, band):
        for ink in inks:
            assert (max(ink, ground) + 0.05) / (min(ink, ground) + 0.05) >= 4.5  # WCAG 2, level AA


def luminance(colour: str) -> float:
    """Relative luminance of ``#rrggbb`` or ``#rgb``."""
    digits = colour.strip().removeprefix("#")
    pairs = (
        [digits[i : i + 2] for i in (0, 2, 4)]
        if len(digits) == 6
        else [2 * digit for digit in digits]
    )
    shares = [int(pair, 16) / 255 for pair in pairs]
    linear = [s / 12.92 if s <= 0.03928 else ((s + 0.055) / 1.055) ** 2.4 for s in shares]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
