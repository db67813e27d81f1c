"""Cut the font of the site's formulas out of Latin Modern Math, with its table ``MATH``.

``python docs/_ext/mathematical_font.py latinmodern-math.otf`` writes the font and the style sheet
that names it to ``docs/_static``; it needs ``fonttools[woff]``. The original is in Debian's package
``fonts-lmodern`` and at CTAN. It has the GUST Font License, whose text is beside the font in
``docs/_static/mathematics-LICENSE.txt`` and which asks that a changed font has another name.
"""

import sys
from copy import deepcopy
from pathlib import Path

from fontTools.subset import Options, Subsetter
from fontTools.ttLib import TTFont

NAME = "m2bridge Math"
STATIC = Path(__file__).parents[1] / "_static"
RANGES = (
    (0x20, 0x7E),  # letters and figures of LaTeX
    (0x3B1, 0x3F5),  # Greek
    (0x1D434, 0x1D467),  # italic letters, which browsers take for a variable
    (0x1D6E2, 0x1D71B),  # Greek in italics
    (0x1D538, 0x1D551),  # blackboard capitals
    (0x1D504, 0x1D51C),  # Fraktur capitals
    (0x1D49C, 0x1D4B5),  # script capitals
)
SIGNS = (
    "\xa0¬°±´·×÷ˆ˙˜¯ΓΔΘΛΞΠΣΥΦΨΩ\u0302\u0303\u0304\u0307\u2009‖†•…′″‴ℂℓℕℙℚℝℤℎℬℰℱℐℋℒℳℛℭℌℑℜℨ←→↔↦↪↠⇒⇔∀∂∃∅∇"
    "∈∉∋∏∐∑−∕∗∘√∞∣∥∧∨∩∪∫∮∼≃≅≈≠≡≤≥≪≫⊂⊃⊆⊇⊊⊕⊗⊠⊤⊥⋀⋁⋂⋃⋅⋆⋮⋯⋱⌈⌉⌊⌋⟨⟩⟶⟼⨁⨂𝔪𝔭"
)
"""What formulas of the site are made of; a test says when a page has a sign beside it."""
SCRIPT = ":is(msub, msup, msubsup, munderover) > :not(:first-child)"
FAMILY, FULL_NAME, POSTSCRIPT_NAME, UNIQUE_NAME = 1, 4, 6, 3


def cut(original: Path) -> TTFont:
    """Return the part of a font that the site needs, by a name of its own."""
    font = TTFont(original)
    options = Options()
    options.layout_features = ["*"]  # ``ssty``: the forms of signs in scripts
    options.drop_tables += ["FFTM"]
    options.desubroutinize = True
    options.hinting = False
    subsetter = Subsetter(options)
    for first, last in RANGES:
        subsetter.populate(unicodes=range(first, last + 1))
    subsetter.populate(text=SIGNS)
    subsetter.subset(font)
    scripts = font["GSUB"].table.ScriptList.ScriptRecord
    for_all = deepcopy(scripts[0])
    for_all.ScriptTag = "DFLT"  # for browsers a prime is a sign of any script, not of ``math``
    scripts.insert(0, for_all)
    for number in (FAMILY, UNIQUE_NAME, FULL_NAME):
        font["name"].setName(NAME, number, 3, 1, 0x409)
    font["name"].setName(NAME.replace(" ", ""), POSTSCRIPT_NAME, 3, 1, 0x409)
    return font


def style(font: TTFont) -> str:
    """Return the style sheet: what the font is called, and the signs that it has."""
    runs: list[list[int]] = []
    for code in sorted(font.getBestCmap()):
        if runs and code == runs[-1][1] + 1:
            runs[-1][1] = code
        else:
            runs.append([code, code])
    signs = ", ".join(
        f"U+{first:X}" if first == last else f"U+{first:X}-{last:X}" for first, last in runs
    )
    return f"""/* Written by docs/_ext/mathematical_font.py. The font is a part
   of Latin Modern Math, under the GUST Font License: mathematics-LICENSE.txt. */
@font-face {{
  font-family: "{NAME}";
  src: url("mathematics.woff2") format("woff2");
  font-display: block;
  unicode-range: {signs};
}}
math {{ font-family: "{NAME}", math; font-size: 1.12em; }}
/* In scripts signs have forms of their own: so the prime of d′ has the size of a prime. */
math {SCRIPT} {{ font-feature-settings: "ssty" 1; }}
math {SCRIPT} {SCRIPT} {{ font-feature-settings: "ssty" 2; }}
"""


def main() -> None:
    """Write the font and its style sheet."""
    font = cut(Path(sys.argv[1]))
    font.flavor = "woff2"
    font.save(STATIC / "mathematics.woff2")
    (STATIC / "mathematics.css").write_text(style(font), encoding="utf-8")


if __name__ == "__main__":
    main()
