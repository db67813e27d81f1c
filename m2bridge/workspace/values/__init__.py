"""Values of Macaulay2 that have no class of their own in Python, SymPy or the room ``algebra``; all frozen."""

from m2bridge.algebra.modules import (
    BettiTable,
    Complex,
    ComplexMap,
    GeneralIdeal,
    GroebnerBasis,
    HilbertPolynomial,
    Matrix,
    Module,
    MonomialIdeal,
    MutableMatrix,
    RingMap,
    Vector,
)
from m2bridge.workspace.values.collections import (Array, HashTable, MutableHashTable, MutableList, Net, Option, Partition, Reference, Set, Symbol, Tally, VirtualTally)
from m2bridge.workspace.values.expressions import (Expression, Factorization)
from m2bridge.workspace.values.inexact import ComplexNumber, Real, RealInterval
from m2bridge.workspace.values.rings import (Algebra, ComplexField, FractionField, GaloisField, IntegerRing, QuotientRing, RealField)
from m2bridge.workspace.values.elements import (RingElement, RingFraction)

__all__ = [
    "Algebra",
    "Array",
    "BettiTable",
    "Complex",
    "ComplexField",
    "ComplexMap",
    "ComplexNumber",
    "Expression",
    "Factorization",
    "FractionField",
    "GaloisField",
    "GeneralIdeal",
    "GroebnerBasis",
    "HashTable",
    "HilbertPolynomial",
    "IntegerRing",
    "Matrix",
    "Module",
    "MonomialIdeal",
    "MutableHashTable",
    "MutableList",
    "MutableMatrix",
    "Net",
    "Option",
    "Partition",
    "QuotientRing",
    "Real",
    "RealField",
    "RealInterval",
    "Reference",
    "RingElement",
    "RingFraction",
    "RingMap",
    "Set",
    "Symbol",
    "Tally",
    "Vector",
    "VirtualTally",
]
