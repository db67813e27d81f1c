"""m2bridge: Macaulay2 from Python for the algebraic geometry of lightning self-attention.

The public names stand in ``__all__``, in ``m2bridge.workspace.values`` and, for packages with
models, in ``m2bridge.plugins``; docs/stability.md says what of them is stable. Names of ``__all__``
are imported when they are first used, so that the command line can say what an interrupt does
before SymPy is loaded. Each has an example in its docstring, written as after ``from m2bridge
import *``.

Examples
--------
>>> from m2bridge import SingleLayerAttention, singular_locus
>>> locus = singular_locus(SingleLayerAttention(d=2, d_out=1))
>>> locus.variety_dimension, locus.dimension
(5, 4)
"""

from m2bridge._version import __version__ as __version__


def __getattr__(name: str) -> object:
    """Import a public name at its first use, and keep it; Python calls this for unknown names.

    The stub ``__init__.pyi`` says in which module each public name is; AttributeError is raised for
    a name that is not public.
    """
    import lazy_loader  # here, as the command line says what an interrupt does before any import

    from m2bridge.system import check_system

    attribute, _, names = lazy_loader.attach_stub(__name__, __file__)
    if name in names:
        check_system()
    globals()[name] = names if name == "__all__" else attribute(name)
    return globals()[name]


def __dir__() -> list[str]:
    return sorted({*globals(), *__getattr__("__all__")})


def load_ipython_extension(shell: object) -> None:
    """Load the magics of m2bridge, at ``%load_ext m2bridge`` in IPython or a notebook: see
    :mod:`m2bridge.notebook`.
    """
    from m2bridge.notebook import load

    load(shell)


def unload_ipython_extension(shell: object) -> None:
    """Remove the magics of m2bridge, at ``%unload_ext m2bridge``."""
    from m2bridge.notebook import unload

    unload(shell)
