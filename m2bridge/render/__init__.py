"""Templates and cases to Macaulay2 scripts: the only door to Jinja."""

from m2bridge.render.script import Script, render

__all__ = ["Script", "render"]
