"""m2bridge: Macaulay2 from Python for the algebraic geometry of lightning self-attention.

The public names are those of this module; everything else may change between releases.
"""

__version__ = "0.1.0"
