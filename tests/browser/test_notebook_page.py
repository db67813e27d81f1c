"""A notebook, executed by Jupyter and looked at in a browser: results and errors as people see
them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from tests.browser.conftest import absent
from tests.events import PATIENCE

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

pytestmark = [pytest.mark.engine, pytest.mark.slow]

CELLS = (
    """\
from sympy import symbols
from m2bridge import *
u, v = symbols("u v")
umbrella = PolynomialMap.from_expressions([u, v], {"x": u * v, "y": u, "z": v**2})
case = SingleLayerAttention(d=2, d_out=1)""",
    "closure(SingleLayerAttention(d=2, d_out=2), max_degree=4)",
    "cross_check(case)",
    'membership(case, {"c_1_1_1_1": 1, "c_1_1_2_2": 1})',
    "singular_locus(umbrella, ideals=True)",
    'image(umbrella, title="<b>$x$ & 50%</b> _y^z")',
    "slice_surface(umbrella, fineness=6)",
    "%load_ext m2bridge",
    "%%m2 -o n\nn = 6 * 7",
    "%%m2\n1 + 1\n2 + noSuchFunction(3)",
    "n",
)


@pytest.fixture(scope="module")
def page(
    browser: Chrome, tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Chrome:
    """The executed notebook as HTML, with a MathJax of this machine."""
    if pytestconfig.getoption("--no-engine"):
        pytest.skip("--no-engine was given")
    if missing := [
        name
        for name in ("nbclient", "nbconvert", "ipykernel", "jupyter_server_mathjax")
        if not find_spec(name)
    ]:
        absent(f"{', '.join(missing)} not installed: pip install '.[browser]'")
    import jupyter_server_mathjax
    from nbconvert import HTMLExporter
    from selenium.webdriver.support.wait import WebDriverWait

    exporter = HTMLExporter()
    script = Path(jupyter_server_mathjax.__file__).parent / "static" / "MathJax.js"
    exporter.mathjax_url = f"{script.as_uri()}?config=TeX-AMS-MML_HTMLorMML-full"
    exporter.require_js_url = ""
    file = tmp_path_factory.mktemp("notebook") / "notebook.html"
    file.write_text(exporter.from_notebook_node(executed())[0], encoding="utf-8")
    browser.get(file.as_uri())
    typeset = (
        "return window.MathJax?.isReady && !MathJax.Hub.queue.running && !MathJax.Hub.queue.pending"
    )
    WebDriverWait(browser, PATIENCE).until(lambda chrome: chrome.execute_script(typeset))
    return browser


def executed() -> Any:
    """The notebook with its outputs; a cell may fail."""
    from nbclient import NotebookClient
    from nbformat.v4 import new_code_cell, new_notebook

    notebook = new_notebook(cells=[new_code_cell(cell) for cell in CELLS])
    return NotebookClient(
        notebook, timeout=PATIENCE, kernel_name="python3", allow_errors=True
    ).execute()


def outputs(page: Chrome) -> list[str]:
    """What is seen below each cell that shows something."""
    return [cell.text for cell in page.find_elements("css selector", ".jp-OutputArea-output")]


def test_results_are_seen_with_model_table_and_place(page: Chrome) -> None:
    shown = outputs(page)
    assert "(d, d', a) = (2, 2, 2)" in shown[0]
    assert "5 quadrics, 10 quartics" in shown[0]
    assert "3 more" in shown[0]
    assert "critical for the projective parametrization" in shown[1]
    assert shown[1].count("confirmed") == 17
    assert "only in the Zariski closure" in shown[2]
    assert "irreducible component of dimension 1" in shown[3]
    assert shown[4].startswith("<b>$x$ & 50%</b> _y^z\nZariski closure of the polynomial map")
    assert len(page.find_elements("css selector", ".m2bridge table")) >= 9
    assert not page.find_elements(
        "css selector", ".m2bridge .MathJax, .m2bridge mjx-container, .m2bridge b"
    )


def test_folded_generators_open(page: Chrome) -> None:
    summary = page.find_element("css selector", ".m2bridge details > summary")
    hidden = summary.find_elements("xpath", "..//li")
    assert len(hidden) == 3
    assert not any(line.is_displayed() for line in hidden)
    summary.click()
    assert all(line.is_displayed() for line in hidden)


def test_macaulay2_cells(page: Chrome) -> None:
    value, error, python = outputs(page)[-3:]
    assert (value, python) == ("42", "42")
    assert error.startswith("ScriptError: ")
    assert ">    3 | 2 + noSuchFunction(3)" in error


def test_a_surface_is_turned_by_keys_and_by_the_mouse(page: Chrome) -> None:
    """The picture changes with the view, and comes back with it; the caption says what it shows."""
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.wait import WebDriverWait

    canvas = page.find_element("css selector", "canvas")

    def picture() -> str:
        return str(page.execute_script("return arguments[0].toDataURL()", canvas))

    def turned(act: Callable[[], object]) -> str:
        before = canvas.get_attribute("data-view")
        act()
        WebDriverWait(page, PATIENCE).until(lambda _: canvas.get_attribute("data-view") != before)
        return picture()

    page.execute_script("arguments[0].scrollIntoView({block: 'center'})", canvas)
    pictures = [picture()]
    pictures += [
        turned(partial(canvas.send_keys, key)) for key in ("\ue012", "\ue013", "\ue015", "\ue014")
    ]
    start, left, higher, lower, right = pictures
    assert len({start, left, higher}) == 3
    assert (lower, right) == (left, start)
    drag = ActionChains(page).drag_and_drop_by_offset(canvas, 60, 25)
    assert turned(drag.perform) not in pictures
    caption = canvas.find_element("xpath", "ancestor::figure").text
    assert caption.splitlines()[-2:] == ["surface: real points", "singular curve: real points"]


def test_it_fits_its_column(page: Chrome) -> None:
    """Nothing makes the page wider; a table that is wider than its cell scrolls there."""
    assert page.execute_script("return document.documentElement.scrollWidth <= innerWidth")
