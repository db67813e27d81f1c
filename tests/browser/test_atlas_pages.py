"""An atlas in a real browser: a folder without a server, whose links work."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from m2bridge.certificates.form import read
from m2bridge.reports.atlas import atlas, write_atlas
from tests.events import PATIENCE

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

PAPER = "https://arxiv.org/abs/2408.17221"
ACCEPTED = Path(__file__).parents[1] / "certificates" / "accepted"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The overview of an atlas of the samples, in a folder whose name has to be quoted."""
    folder = tmp_path_factory.mktemp("atlas") / "an atlas, 100 % #1"
    shutil.copytree(ACCEPTED, folder / "certificates")
    return write_atlas(atlas(folder / "certificates"), folder)


def texts(browser: Chrome, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.innerText)", selector
    )


def links(browser: Chrome, selector: str) -> list[str]:
    return browser.execute_script(
        "return [...document.querySelectorAll(arguments[0])].map(e => e.href)", selector
    )


def follow(browser: Chrome, selector: str, title: str) -> None:
    """Click a link, and wait for the page with this title."""
    from selenium.webdriver.support.wait import WebDriverWait

    browser.find_element("css selector", selector).click()
    WebDriverWait(browser, PATIENCE, poll_frequency=0.02).until(lambda _: browser.title == title)


def test_it_asks_for_no_other_file_and_its_console_is_silent(browser: Chrome, index: Path) -> None:
    for page in (index, index.parent / "cases" / "d3-dout2-a2-t2.html"):
        browser.get("about:blank")
        for log in ("performance", "browser"):
            browser.get_log(log)
        browser.get(page.as_uri())
        events = [
            json.loads(entry["message"])["message"] for entry in browser.get_log("performance")
        ]
        asked = {
            e["params"]["request"]["url"]
            for e in events
            if e["method"] == "Network.requestWillBeSent"
        }
        assert asked - {"about:blank"} == {page.as_uri()}
        assert browser.get_log("browser") == []


def test_cells_lead_to_cases_and_cases_to_each_other(browser: Chrome, index: Path) -> None:
    overview = "Atlas of single-layer lightning self-attention"
    refuted = "neuromanifold of lightning self-attention, (d, d', a) = (3, 2, 2), t = 2"
    before = refuted.replace("(3, 2, 2)", "(3, 2, 1)")
    browser.get(index.as_uri())
    assert browser.title == overview
    assert "dim 13\ndeg 2376\n✗ refuted" in texts(browser, ".grids td a")
    follow(browser, '.grids a[href$="d3-dout2-a2-t2.html"]', refuted)
    assert [title.casefold() for title in texts(browser, "h1")] == [refuted.casefold()]
    follow(browser, "nav a[rel=prev]", before)
    follow(browser, "nav a[rel=next]", refuted)
    follow(browser, "nav a:first-child", overview)
    browser.back()


def test_every_link_is_a_file_and_every_certificate_can_be_downloaded(
    browser: Chrome, index: Path
) -> None:
    browser.get(index.as_uri())
    cases = links(browser, ".grids a")
    assert len(cases) == len(set(cases)) == 12
    offered: set[str] = set()
    there = {path.as_uri() for path in index.parent.rglob("*.*")}
    for case in cases:
        browser.get(case)
        assert browser.find_element("css selector", "#verdicts").is_displayed()
        assert set(links(browser, "a")) - {PAPER, f"{PAPER}v2"} <= there
        offered |= set(links(browser, "a[download]"))
    assert offered == {
        (index.parent / "certificates" / path.name).as_uri() for path in ACCEPTED.iterdir()
    }


def test_a_page_shows_the_numbers_of_its_certificate(browser: Chrome, index: Path) -> None:
    browser.get((index.parent / "cases" / "d2-dout1-a2-t2.html").as_uri())
    stored = read(ACCEPTED / "d2-dout1-a2-t2-closure.json")
    assert texts(browser, ".facts td:nth-child(2)")[:2] == [
        str(stored.answer["dimension"]),
        str(stored.answer["degree"]),
    ]
    generators = browser.find_element("css selector", "pre")
    assert not generators.is_displayed()
    browser.find_element("css selector", "summary").click()
    assert generators.text.split() == " ".join(stored.evidence["generators"]).split()


def test_a_narrow_window_needs_no_sideways_scrolling(browser: Chrome, index: Path) -> None:
    metrics = {"width": 390, "height": 800, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    try:
        for page in (
            index,
            index.parent / "cases" / "d3-dout2-a2-t2.html",
            index.parent / "cases" / "d2-dout1-a2-t2.html",
        ):
            browser.get(page.as_uri())
            assert browser.execute_script("return document.documentElement.scrollWidth") == 390, (
                page.name
            )
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
