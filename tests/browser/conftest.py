"""A real browser for the page of a report, and for notebooks.

Without Selenium, Chromium and its driver these tests are skipped; with
``M2BRIDGE_BROWSER=required`` they fail instead, so that no run leaves them out silently.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

import pytest

if TYPE_CHECKING:
    from selenium.webdriver import Chrome

OPTIONS = (
    "--headless",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1280,900",
)


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chrome]:
    """Chromium without a window, with a profile of its own; it logs its console and its
    requests.
    """
    if find_spec("selenium") is None:
        absent("Selenium is not installed: pip install '.[browser]'")
    chromium = (
        shutil.which("chromium")
        or shutil.which("chromium-browser")
        or shutil.which("google-chrome")
    )
    driver = shutil.which("chromedriver")
    if chromium is None or driver is None:
        absent(
            "Chromium and chromedriver are not on PATH: apt-get install chromium chromium-driver"
        )
    from selenium.webdriver import Chrome, ChromeOptions
    from selenium.webdriver.chrome.service import Service

    options = ChromeOptions()
    options.binary_location = chromium
    sandbox = ("--no-sandbox",) if os.geteuid() == 0 else ()  # Chromium has no sandbox for root
    for option in (*OPTIONS, *sandbox, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(option)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    chrome = Chrome(options, Service(driver))
    yield chrome
    chrome.quit()


def absent(reason: str) -> NoReturn:
    """Skip, or fail where browsers are required."""
    if os.environ.get("M2BRIDGE_BROWSER") == "required":
        pytest.fail(f"M2BRIDGE_BROWSER=required, but: {reason}")
    pytest.skip(reason)
