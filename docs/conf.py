"""How the site is built: ``sphinx-build -W docs OUT``.

All that it needs is in it: no font, script or picture comes from elsewhere, and formulas are
MathML, which browsers show by themselves in the font that comes with the site. Tutorials are
executed at each build, by the Macaulay2 that m2bridge finds.
"""

import os
import sys
from functools import partial
from pathlib import Path

from jupyter_cache.executors import utils

from m2bridge import __version__

sys.path.insert(0, str(Path(__file__).parent / "_ext"))
# the m2bridge of this Python
os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
os.environ["BASH_ENV"] = str(Path(__file__).parent / "_ext" / "strict.sh")

project = "m2bridge"
version = release = __version__
copyright = "the authors of m2bridge"
extensions = [
    "myst_nb",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.napoleon",
    "sphinx_click",
    "sphinx_proof",
    "sphinxcontrib.programoutput",
    "cited_pages",
    "console",
    "first_use",
    "mathml",
    "named_theorems",
    "numbers_said",
    "plain_help",
    "reference_pages",
    "signatures",
    "small_atlas",
    "whole_files",
]
exclude_patterns = ["_build"]
templates_path = ["_templates"]
highlight_language = "none"
smartquotes = False  # --family is no dash

html_theme = "furo"
html_title = f"m2bridge {version}"
html_static_path = ["_static"]
html_css_files = ["mathematics.css", "site.css"]
html_extra_path = ["../m2bridge/certificates/certificate.schema.json"]
html_copy_source = False
html_domain_indices = False  # the menu and the search lead to all of them
html_math_renderer = "mathml"
pages_without_terms = ("changelog", "benchmarks", "contributing", "architecture", "testing")

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 3

nb_execution_mode = "force"  # nothing is kept from an earlier build
nb_execution_raise_on_error = True
nb_execution_timeout = 900
nb_execution_in_temp = True
nb_merge_streams = True
utils.executenb = partial(utils.executenb, coalesce_streams=True)  # parts of a line stay on it

autodoc_member_order = "bysource"
autodoc_preserve_defaults = False
autosummary_generate_overwrite = True
napoleon_google_docstring = False
napoleon_use_rtype = False
programoutput_prompt_template = "$ {command}\n{output}"
