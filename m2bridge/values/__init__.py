"""Values of Macaulay2 that have no class of their own in Python, SymPy or the room ``algebra``; all frozen."""

from m2bridge.values.collections import HashTable, MutableHashTable, Set, Tally, VirtualTally
from m2bridge.values.complexes import Complex, ComplexMap
from m2bridge.values.inexact import ComplexNumber, Real, RealInterval
from m2bridge.values.invariants import BettiTable, HilbertPolynomial
from m2bridge.values.modules import (
    GeneralIdeal,
    GroebnerBasis,
    Matrix,
    Module,
    MonomialIdeal,
    MutableMatrix,
    RingMap,
    Vector,
)
from m2bridge.values.rings import (
    Algebra,
    ComplexField,
    FractionField,
    GaloisField,
    IntegerRing,
    QuotientRing,
    RealField,
    RingElement,
    RingFraction,
)
from m2bridge.values.sequences import (
    Array,
    Expression,
    Factorization,
    MutableList,
    Net,
    Option,
    Partition,
    Reference,
    Symbol,
)

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
