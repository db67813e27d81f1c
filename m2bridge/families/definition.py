"""The name in release 1.0 of ``families.base``, by which packages may import it."""

from m2bridge.families.base import *  # noqa: F403
