"""A slice of the chart c_{1,1,1,1} ≠ 0 that meets every orbit of a unipotent group in one point.

The group consists of l_i ↦ l_i + a_i l_1, v_k ↦ v_k + b_k v_1 (i, k > 1) and y_1 ↦ y_1 + Σ t_q y_q. It moves every
function with c_{1,1,1,1} ≠ 0, uniquely, to one whose coordinates c_{1,i,1,1}, c_{k,1,1,1}, c_{1,1,1,q} (i, k, q > 1)
are zero. This is not in the paper; it is proved in the documentation of m2bridge.
"""

from __future__ import annotations

from sympy.polys.rings import PolyElement

from m2bridge.algebra.polynomial_map import PolynomialMap
from m2bridge.families.attention.model import SingleLayerAttention
from m2bridge.families.attention.parametrization import images
from m2bridge.maps.chart import ChartSlice


def chart_slice(model: SingleLayerAttention) -> ChartSlice:
    """The slice for a model with t ≥ 2 and d ≥ 2.

    On it, up to rescaling, A = (1, 0; −v, A'') and V = (1, vᵀ; 0, V''), where rk A'' ≤ α − 1. So the weights of the
    model (d − 1, d', a − 1) parametrize it, V'' and v being rows of its V; for α = 1 its A is not used.
    """
    smaller = SingleLayerAttention(model.d - 1, model.d_out, max(model.a - 1, 1)).parametrization()
    ring = smaller.source.sympy_ring
    weights = dict(zip(smaller.source.variables, ring.gens, strict=True))
    places = range(1, model.d)

    def inner(p: int, i: int) -> PolyElement:
        return weights[f"A_{p}_{i}"] if model.alpha > 1 else ring.zero

    V = [[ring(int(k == 1)), *(weights[f"V_{k}_{q}"] for q in places)] for k in range(1, model.d_out + 1)]
    A = [[ring.one, *(ring.zero for _ in places)]]
    A += [[-weights[f"V_1_{p}"], *(inner(p, i) for i in places)] for p in places]
    fixed = {"c_1_1_1_1": 1}
    for j in range(2, model.d + 1):
        fixed |= {f"c_1_{j}_1_1": 0, f"c_1_1_1_{j}": 0}
    fixed |= {f"c_{k}_1_1_1": 0 for k in range(2, model.d_out + 1)}
    free = {name: image for name, image in images(model, A, V, "reduced").items() if name not in fixed}
    relations = smaller.relations if model.alpha > 1 else ()
    return ChartSlice(
        "c_1_1_1_1", fixed, PolynomialMap(smaller.source, tuple(free), tuple(free.values()), relations, smaller.prime)
    )
