"""The name in release 1.0 of ``certificates.form``, by which packages may import it."""

from m2bridge.certificates.form import *  # noqa: F403
