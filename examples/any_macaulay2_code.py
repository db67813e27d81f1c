"""A package of Macaulay2 on objects of Python, in a workspace that keeps its symbols."""

from m2bridge import Macaulay2, ideal

with Macaulay2() as m2:
    work = m2.workspace(packages=["Elimination"])
    work["I"] = ideal("x - t^2", "y - t^3")
    work.run("R = ring I")
    print(work.value("eliminate(t, I)"))
    print(work.value("dim I"), work.value("2^100"))

# It prints:
#   ideal(x**3 - y**2) of QQ[t, x, y]
#   1 1267650600228229401496703205376
