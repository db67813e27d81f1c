"""The values of Macaulay2 that have no class of their own in Python, SymPy or ``m2bridge.algebra``;
all frozen.
"""

from m2bridge.algebra.modules import (
    BettiTable as BettiTable,
    Complex as Complex,
    ComplexMap as ComplexMap,
    GeneralIdeal as GeneralIdeal,
    GroebnerBasis as GroebnerBasis,
    HilbertPolynomial as HilbertPolynomial,
    Matrix as Matrix,
    Module as Module,
    MonomialIdeal as MonomialIdeal,
    MutableMatrix as MutableMatrix,
    RingMap as RingMap,
    Vector as Vector,
)
from m2bridge.convert.values.collections import (
    Array as Array,
    Expression as Expression,
    Factorization as Factorization,
    HashTable as HashTable,
    MutableHashTable as MutableHashTable,
    MutableList as MutableList,
    Net as Net,
    Option as Option,
    Partition as Partition,
    Reference as Reference,
    Set as Set,
    Symbol as Symbol,
    Tally as Tally,
    VirtualTally as VirtualTally,
)
from m2bridge.convert.values.elements import (
    RingElement as RingElement,
    RingFraction as RingFraction,
)
from m2bridge.convert.values.inexact import (
    ComplexNumber as ComplexNumber,
    Real as Real,
    RealInterval as RealInterval,
)
from m2bridge.convert.values.rings import (
    Algebra as Algebra,
    ComplexField as ComplexField,
    FractionField as FractionField,
    GaloisField as GaloisField,
    IntegerRing as IntegerRing,
    QuotientRing as QuotientRing,
    RealField as RealField,
)

__all__ = [name for name, value in globals().items() if isinstance(value, type)]
