"""A family of somebody else: a package with entry points of its own, installed for the time of a
test.
"""

from __future__ import annotations

import shutil
from pathlib import Path

HERE = Path(__file__).parent
METADATA = "Metadata-Version: 2.1\nName: rational-normal-curves\nVersion: 1.0\n"
ENTRY_POINTS = """\
[m2bridge.families]
rational-normal-curve = rational_normal_curves:FAMILY

[m2bridge.checkers]
rational-normal-curve = rational_normal_curves_checker:CHECKER
"""


def install(site: Path, sources: Path = HERE) -> None:
    """The modules and the metadata, as pip leaves them in ``site-packages``."""
    for module in sources.glob("rational_normal_curves*.py"):
        shutil.copy(module, site)
    metadata = site / "rational_normal_curves-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text(METADATA, encoding="utf-8")
    (metadata / "entry_points.txt").write_text(ENTRY_POINTS, encoding="utf-8")
