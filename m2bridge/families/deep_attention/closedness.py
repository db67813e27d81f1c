"""Two layers of lightning attention are not closed: a limit of networks that is no network, by a Gröbner basis over QQ.

Ours; the proof is in ``docs/deep-attention.md``, "Not closed".
"""

from __future__ import annotations

from dataclasses import dataclass, fields

from m2bridge.clock import clock
from m2bridge.engine import Engine
from m2bridge.engine.answer import parse
from m2bridge.errors import MethodUnavailableError
from m2bridge.families.deep_attention.model import DeepAttention
from m2bridge.render import Script, render


@dataclass(frozen=True, slots=True)
class LimitOutside:
    """What Macaulay2 finds about the function f(XXᵀ)X, the limit for ε → 0 of networks of three widths 3.

    Parameters
    ----------
    networks_for_all_epsilon : bool
        Whether the networks of the family, with ranks 2 and 2, are ε times a polynomial in ε with value f at 0.
    columns_span : bool
        Whether the columns of f span the space, so that a network with the function f has an invertible matrix M.
    rank_one : bool
        Whether f has rank one and is not zero; then A_1 or A_2 has rank one.
    vanishes_on_one_token : bool
        Whether f vanishes on one token; then A_1 or A_2 is skew-symmetric.
    no_network : bool
        Whether no network with A_1 skew-symmetric has the function f: the equations generate the unit ideal over QQ.
    """

    networks_for_all_epsilon: bool
    columns_span: bool
    rank_one: bool
    vanishes_on_one_token: bool
    no_network: bool

    @property
    def proved(self) -> bool:
        """Whether f is a limit of networks and no network."""
        return all(getattr(self, field.name) for field in fields(self))


def concerns(network: DeepAttention) -> str:
    """Why the example says nothing about a network; empty if it shows that its functions are not closed."""
    if network.softmax or not network.is_plain:
        return "the example is lightning attention with one head and without skip connections"
    if network.widths != (3, 3, 3) or min(network.a) < 2 or network.t < 3:
        return "the example has widths (3, 3, 3), a_1, a_2 ≥ 2 and t ≥ 3"
    return ""


def limit_outside(network: DeepAttention, engine: Engine) -> LimitOutside:
    """Compute the example.

    Raises
    ------
    MethodUnavailableError
        If it says nothing about this network.
    EngineError
        If Macaulay2 did not finish.
    """
    if reason := concerns(network):
        raise MethodUnavailableError(reason)
    answer = parse(engine.run(script(network), clock().remaining).records)
    return LimitOutside(**{field.name: answer.boolean(field.name) for field in fields(LimitOutside)})


def script(network: DeepAttention) -> Script:
    """The program."""
    return render("not_closed", values={"title": network.title})
