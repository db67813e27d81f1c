"""What a package with a family of its own imports; all else may change between releases.

*A family*: ``Family``, whose options (``integer_option``, ``integers_option``, ``CaseOption``) name
a case, and ``Figure`` for its pictures. *A case*: ``Model``, or ``DifferentiableModel``, which is
differentiated without being expanded; ``Bounds``, ``MethodValue``, ``Expectation`` and
``PolarData`` are what its methods return. *Statements*: ``GlobalStatement`` and ``OrbitStatement``,
which predict; ``Observed``, with which predictions are compared, and ``observe_rank``, the
observation of a dimension, an ``ObservedRank``. *Questions* without a prediction:
``ComputedQuestion``, or ``Question``, with rows of reports (``AnswerRow``). *The checker* of
certificates: ``FamilyChecker``, whose functions read a ``Certificate`` and return a ``Content``, or
the ``Difference`` that refutes it, by ``global_verdict`` or ``verdict`` on ``Words``, which a file
may have (``wording``, ``Wording``); it refuses by ``CertificateError`` or
``TooExpensiveError``. A ``Work`` is what a family cites.

The page *Families of models* says what evidence and hypotheses are, and shows a checker. Names of
``plugins.models`` are imported at their first use: so a checker loads neither models nor SymPy.
"""

from typing import TYPE_CHECKING

from m2bridge.certificates.form import Certificate, Content, Difference
from m2bridge.certificates.wording import Wording, Words, wording
from m2bridge.checker import FamilyChecker, global_verdict, verdict
from m2bridge.citation import Work
from m2bridge.errors import CertificateError, TooExpensiveError

if TYPE_CHECKING:
    from m2bridge.plugins.models import (
        AnswerRow,
        Bounds,
        CaseOption,
        ComputedQuestion,
        DifferentiableModel,
        Expectation,
        Family,
        Figure,
        GlobalStatement,
        MethodValue,
        Model,
        Observed,
        ObservedRank,
        OrbitStatement,
        PolarData,
        Question,
        integer_option,
        integers_option,
        observe_rank,
    )
else:

    def __getattr__(name: str) -> object:
        """Return a name of ``plugins.models``; Python calls this for names that are not here."""
        if name not in __all__:
            raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
        from m2bridge.plugins import models

        return getattr(models, name)


__all__ = [
    "AnswerRow",
    "Bounds",
    "CaseOption",
    "Certificate",
    "CertificateError",
    "ComputedQuestion",
    "Content",
    "Difference",
    "DifferentiableModel",
    "Expectation",
    "Family",
    "FamilyChecker",
    "Figure",
    "GlobalStatement",
    "MethodValue",
    "Model",
    "Observed",
    "ObservedRank",
    "OrbitStatement",
    "PolarData",
    "Question",
    "TooExpensiveError",
    "Wording",
    "Words",
    "Work",
    "global_verdict",
    "integer_option",
    "integers_option",
    "observe_rank",
    "verdict",
    "wording",
]
