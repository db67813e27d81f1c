"""The built site in a real browser, from its folder; ``M2BRIDGE_SITE`` says where that is."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Callable, Iterator
from html import unescape
from html.parser import HTMLParser
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import unquote, urldefrag

import pytest

from tests.events import PATIENCE

pytestmark = pytest.mark.slow

if TYPE_CHECKING:
    from selenium.webdriver import Chrome


@pytest.fixture(scope="module")
def site() -> Path:
    folder = os.environ.get("M2BRIDGE_SITE")
    if folder is None:
        reason = "M2BRIDGE_SITE does not say where the site is: sphinx-build -W docs FOLDER"
        (
            pytest.fail(reason)
            if os.environ.get("M2BRIDGE_BROWSER") == "required"
            else pytest.skip(reason)
        )
    return Path(folder).resolve()


def wait(browser: Chrome, condition: Callable[[], object]) -> None:
    from selenium.webdriver.support.wait import WebDriverWait

    WebDriverWait(browser, PATIENCE, poll_frequency=0.02).until(lambda _: condition())


class Page(HTMLParser):
    """What a page refers to, and the places in it."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if "href" in values:
            (self.links if tag == "a" else self.loaded).append(values["href"])
        if "src" in values:
            self.loaded.append(values["src"])


def test_the_sidebar_has_each_page_once(site: Path) -> None:
    page = (site / "index.html").read_text(encoding="utf-8")
    entries = re.findall(
        r'<li class="toctree-l1[^>]*><a class="reference internal" href="([^"#]+)"', page
    )
    assert len(entries) > 40
    assert [entry for entry in entries if entries.count(entry) > 1] == []


def test_every_link_leads_somewhere_and_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    pages = {file: Page(file) for file in site.rglob("*.html")}
    assert len(pages) > 60
    for file, page in pages.items():
        assert not [address for address in page.loaded if re.match(r"https?:|//", address)], file
        for link in page.links:
            address, place = urldefrag(link)
            if re.match(r"\w+:", address):
                continue
            target = (file.parent / unquote(address)).resolve() if address else file
            assert target.is_file(), f"{file.relative_to(site)}: {link}"
            if place and target in pages:
                assert unquote(place) in pages[target].places, f"{file.relative_to(site)}: {link}"


PAGES = (
    "index.html",
    "tutorials/why-singular.html",
    "tutorials/a-theorem-refuted.html",
    "tutorials/your-own-model.html",
    "tutorials/a-table-overnight.html",
    "tutorials/deep-attention.html",
    "gallery.html",
    "reference/api.html",
    "reference/commands.html",
    "small-atlas/index.html",
    "small-atlas/cases/d3-dout2-a2-t2.html",
)


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_no_server_and_its_console_is_silent(
    name: str, browser: Chrome, site: Path
) -> None:
    browser.get("about:blank")
    for log in ("performance", "browser"):
        browser.get_log(log)
    browser.get((site / name).as_uri())
    assert browser.find_element("css selector", "h1").is_displayed()
    events = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    asked = {
        e["params"]["request"]["url"] for e in events if e["method"] == "Network.requestWillBeSent"
    }
    assert not [url for url in asked if not url.startswith((site.as_uri(), "data:", "about:"))]
    assert [entry for entry in browser.get_log("browser") if entry["level"] == "SEVERE"] == []


STYLES_AND_SCRIPTS = re.compile(
    r"<(?:link[^>]*stylesheet|script[^>]* src)[^>]*>|<style.*?</style>", re.DOTALL
)
BODY = re.compile(r"<body[^>]*>(.*)</body>", re.DOTALL)
ARTICLE = re.compile(r"<article.*</article>", re.DOTALL)
SHOW_BODY = "document.body.innerHTML = arguments[0];"


def show_each(browser: Chrome, pages: list[Path]) -> Iterator[Path]:
    """Show one page after the other, each before it is yielded.

    A page is opened where the one before it stands in another folder or loads other styles or
    scripts, and where a script of its own draws something. All others are shown by their bodies in
    the page that is open, which gives the same boxes, for a fifth of the processor time.
    """
    opened = None
    for page in pages:
        text = page.read_text(encoding="utf-8")
        alike = (page.parent, STYLES_AND_SCRIPTS.findall(text))
        body = BODY.search(text)
        assert body is not None, page
        article = ARTICLE.search(text)
        draws = "<script" in (article or body)[0]
        if alike != opened or draws:
            browser.get(page.as_uri())
            opened = None if draws else alike
        else:
            browser.execute_script(SHOW_BODY, body[1])
        yield page


WIDER = """
return [...document.querySelectorAll(arguments[0])].filter(
  e => e.getClientRects().length && e.scrollWidth > e.clientWidth + 2
).map(e => e.textContent.slice(0, 80));
"""
SMALL_OR_CUT_OFF = """
return [...document.querySelectorAll("article pre")].filter(e => e.getClientRects().length).filter(e => {
  const style = getComputedStyle(e);
  return parseFloat(style.fontSize) < 12 || (e.scrollWidth > e.clientWidth + 2 && style.overflowX != "auto");
}).map(e => e.textContent.slice(0, 80));
"""
"""Code with letters below 12 pixels, and code whose lines neither fit nor scroll."""


def test_formulas_fit_a_page_of_1280_pixels_and_code_is_large_enough_to_be_read(
    browser: Chrome, site: Path
) -> None:
    folders = (site, site / "guide", site / "doors", site / "tutorials")
    pages = [page for folder in folders for page in sorted(folder.glob("*.html"))]
    assert len(pages) > 45
    browser.set_window_size(1280, 900)
    found = {}
    for page in show_each(browser, pages):
        wrong = browser.execute_script(WIDER, "article .math")
        if wrong := wrong + browser.execute_script(SMALL_OR_CUT_OFF):
            found[page.name] = wrong
    assert found == {}


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_pictures_follow_the_theme(theme: str, browser: Chrome, site: Path) -> None:
    """The system's and the switch of the page, which goes before it; paper is always white."""
    style = "return getComputedStyle(document.querySelector('article img')).filter"
    features = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": features})
    try:
        browser.get((site / "gallery.html").as_uri())
        browser.execute_script("document.body.dataset.theme = 'auto'")
        assert ("invert" in browser.execute_script(style)) == (theme == "dark")
        other = {"light": "dark", "dark": "light"}[theme]
        browser.execute_script("document.body.dataset.theme = arguments[0]", other)
        assert ("invert" in browser.execute_script(style)) == (other == "dark")
        printed = {"media": "print", "features": features}
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", printed)
        assert browser.execute_script(style) == "none"
    finally:
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "", "features": []})


def test_words_at_a_surface_have_the_colour_of_the_text(browser: Chrome, site: Path) -> None:
    """In dark mode they are light, also after the page's switch was used."""
    light = """const canvas = document.querySelector('canvas'), { width, height } = canvas;
        const drawn = canvas.getContext('2d').getImageData(0, 0, width, height).data;
        let found = 0;
        for (let k = 0; k < drawn.length; k += 4)
            found += Math.min(drawn[k], drawn[k + 1], drawn[k + 2]) > 170 && drawn[k + 3] > 250;
        return found"""
    browser.get((site / "tutorials" / "why-singular.html").as_uri())
    for theme in ("light", "dark", "light"):
        browser.execute_script("document.body.dataset.theme = arguments[0]", theme)
        dark = theme == "dark"
        wait(browser, lambda dark=dark: (browser.execute_script(light) > 50) == dark)


def test_formulas_and_pictures_are_seen(browser: Chrome, site: Path) -> None:
    browser.get((site / "tutorials" / "why-singular.html").as_uri())
    assert (
        browser.execute_script(
            "return document.querySelector('math').getBoundingClientRect().height"
        )
        > 5
    )
    colours = """const canvas = document.querySelector('canvas'), drawn = canvas.getContext('2d');
        return new Set(new Uint32Array(drawn.getImageData(0, 0, canvas.width, canvas.height).data.buffer)).size"""
    wait(browser, lambda: browser.execute_script(colours) > 50)
    browser.get((site / "gallery.html").as_uri())
    sizes = browser.execute_script(
        "return [...document.querySelectorAll('article img')].map(i => i.naturalWidth)"
    )
    assert len(sizes) == 5
    assert all(size > 100 for size in sizes)


def test_formulas_have_a_font_that_comes_with_the_site(browser: Chrome, site: Path) -> None:
    style = (site / "_static" / "mathematics.css").read_text(encoding="utf-8")
    ranges = re.findall(r"U\+([0-9A-F]+)(?:-([0-9A-F]+))?", style)
    font = {n for first, last in ranges for n in range(int(first, 16), int(last or first, 16) + 1)}
    used = set()
    for file in site.rglob("*.html"):
        formulas = re.findall(r"<math.*?</math>", file.read_text(encoding="utf-8"), re.DOTALL)
        used |= set(unescape(re.sub(r"<[^>]+>|\s", "", "".join(formulas))))
    assert len(used) > 100
    assert {sign for sign in used if ord(sign) not in font} == set()
    browser.get((site / "polar-degrees.html").as_uri())
    status = "return [...document.fonts].map(font => font.status)"
    wait(browser, lambda: "loading" not in browser.execute_script(status))
    assert browser.execute_script(status) == ["loaded"]
    prime, letter = browser.execute_script(
        """const box = e => e.getBoundingClientRect(), power = [...document.querySelectorAll('p math msup')]
        .find(e => e.textContent == 'd\u2032'); return [box(power.lastChild), box(power.firstChild)]"""
    )
    assert prime["bottom"] > letter["top"]  # the prime stands beside its letter, not above


SIDEWAYS = """
const width = document.documentElement.clientWidth;
const scrolls = element => ["auto", "scroll"].includes(getComputedStyle(element).overflowX);
const cut = element => {
    const box = element.getBoundingClientRect();
    if (box.width == 0 || (box.left > -1 && box.right < width + 1)) return false;
    // what is around the article scrolls, with all of its text
    for (let outer = element; outer != article; outer = outer.parentElement)
        if (scrolls(outer)) return false;
    return true;
};
const article = document.querySelector("article") || document.body;
const content = article.querySelectorAll("*:not(svg *)");
const wide = picture => picture.getBoundingClientRect().width > article.clientWidth + 2;
const pictures = [...document.querySelectorAll("article img, article svg")];
return [document.documentElement.scrollWidth - width, [...content].filter(cut).length, pictures.filter(wide).length];
"""
"""By how much a page is wider than the window, the number of its parts that are outside of the
window and cannot be scrolled into it by themselves, and that of pictures wider than their article.
"""


def test_no_page_scrolls_sideways_on_a_telephone_and_pictures_fit(
    browser: Chrome, site: Path
) -> None:
    pages = sorted(site.rglob("*.html"))
    assert len(pages) > 60
    device = {"width": 400, "height": 900, "deviceScaleFactor": 1, "mobile": True}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    wide = {}
    try:
        for page in show_each(browser, pages):
            found = browser.execute_script(SIDEWAYS)
            if found != [0, 0, 0]:
                wide[str(page.relative_to(site))] = found
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide == {}


def test_pages_are_named_by_their_titles(site: Path) -> None:
    statements = (site / "statements.html").read_text(encoding="utf-8")
    assert re.search(r'as in <a [^>]*href="deep-attention.html"><[^>]*>Deep attention<', statements)
    for file in site.glob("**/*.html"):
        if "small-atlas" not in file.parts:
            assert not [part for part in TextWithoutLinks(file).text if "docs/" in part], file


def test_signatures_are_read_at_one_glance(site: Path) -> None:
    for file in site.glob("reference/generated/*.html"):
        page = file.read_text(encoding="utf-8")
        for signature in re.findall(r'<dt class="sig.*?</dt>', page, re.DOTALL):
            assert len(re.sub(r"<[^>]+>", "", signature)) < 960, file


def test_outputs_of_commands_keep_their_lines(site: Path) -> None:
    gallery = (site / "gallery.html").read_text(encoding="utf-8")
    assert "\n  singular locus   curve c = v = 0\n" in gallery


def test_commands_have_a_prompt_and_long_sentences_go_on_below(site: Path) -> None:
    pages = [file.read_text(encoding="utf-8") for file in site.rglob("*.html")]
    assert not [page for page in pages if "%%bash" in page]
    refuted = (site / "tutorials" / "a-theorem-refuted.html").read_text(encoding="utf-8")
    assert re.search(r"^ +→ does not apply for .{40,70}\n {20,}\S", refuted, re.MULTILINE)


def test_the_search_finds_a_page(browser: Chrome, site: Path) -> None:
    browser.get(f"{(site / 'search.html').as_uri()}?q=umbrella")
    wait(browser, lambda: browser.find_elements("css selector", "#search-results ul.search li a"))
    found = [
        link.text
        for link in browser.find_elements("css selector", "#search-results ul.search li a")
    ]
    assert "Why is this point singular?" in found


class RunningText(HTMLParser):
    """The text of a page's article, without code and formulas; and what is emphasized in it."""

    OUTSIDE = frozenset({"math", "code", "pre", "script", "style", "dt"})  # dt: a signature

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text: list[str] = []
        self.emphasis: list[str] = []
        article = re.search(r"<article.*</article>", file.read_text(encoding="utf-8"), re.DOTALL)
        self.feed(article.group() if article else "")

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in {*self.OUTSIDE, "em"}:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if self.open and self.open[-1] == tag:
            self.open.pop()

    def handle_data(self, data: str) -> None:
        if not self.OUTSIDE & set(self.open):
            (self.emphasis if "em" in self.open else self.text).append(data)


class TextWithoutLinks(RunningText):
    """Running text without the texts of links."""

    OUTSIDE = RunningText.OUTSIDE | {"a"}


SIGNS = re.compile(
    r"[ᵀ²³¹⁰-⁹₀-₉∩∈⊂⊗⊕∘≤≥≠Σ∥α-ω]|(?<!weights )↦|\((?:\w['’]?, )+[\w…]['’]?\)|\{(?!\")|(?<!\")\}"
)
"""Signs of mathematics, pairs and sets; ``weights ↦ function`` is text."""


def test_mathematics_is_typeset_and_not_typed(site: Path) -> None:
    pages = [
        *site.glob("*.html"),
        *site.glob("guide/*.html"),
        *site.glob("doors/*.html"),
        *site.glob("tutorials/*.html"),
        *site.glob("reference/generated/*.html"),
    ]
    assert len(pages) > 60
    # NOT_APPLICABLE, cross_check
    words = re.compile(r"\b[A-Z]+(?:_[A-Z]+)+\b|\b\w{2,}(?:_\w+)+|genindex")
    for file in pages:
        if file.name in {"genindex.html", "search.html", "prf-prf.html"}:
            continue
        page = RunningText(file)
        typed = [
            piece
            for piece in page.text + page.emphasis
            if re.search(r"[_^$]|\\[a-z]+", words.sub("", piece))
        ]
        assert typed == [], file
        assert [piece for piece in page.text + page.emphasis if SIGNS.search(piece)] == [], file
        assert [
            piece for piece in page.emphasis if re.search(r"[=∈⊂≤]|\b[A-Z]\w*\(", piece)
        ] == [], file


CHILDREN = {"msub": 2, "msup": 2, "munder": 2, "mover": 2, "mfrac": 2, "msubsup": 3}
"""A formula with another number of children is no formula for a browser."""


def test_formulas_have_the_form_of_mathml(browser: Chrome, site: Path) -> None:
    for name in ("mathematics", "deep-attention", "completeness", "weights", "statements"):
        browser.get((site / f"{name}.html").as_uri())
        wrong = browser.execute_script(
            """return Object.entries(arguments[0]).flatMap(([tag, size]) =>
            [...document.querySelectorAll("math " + tag)].filter(e => e.children.length != size)
            .map(e => e.outerHTML))""",
            CHILDREN,
        )
        assert wrong == [], name


def test_punctuation_stands_beside_its_formula_once(site: Path) -> None:
    page = (site / "statements.html").read_text(encoding="utf-8")
    assert (
        len(
            re.findall(
                r"<span"
                r' class="unbroken"><math[^>]*>(?:(?!</math>).)*</math>[.,;:]</span>(?![.,;:])',
                page,
            )
        )
        > 100
    )
    assert not re.search(r"</math>[.,;:]+</span>[.,;:]|<mo>[A-Za-z]{2,}</mo>", page)
