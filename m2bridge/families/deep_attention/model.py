"""Deep attention networks: lightning or softmax, with or without skip connections, any heads.

Source: Henry, Marchetti, Kohn, *Geometry of Lightning Self-Attention: Identifiability and
Dimension*, ICLR 2025 (arXiv 2408.17221), sections 3.2 to 4. What is proved here is in
``docs/deep-attention.md``.

Notation: d_0, …, d_l are the widths, the number of rows of the tokens before layer 1, …, after
layer l; t tokens are the columns of a matrix, X before layer 1. A head of layer k has the attention
matrix A = KᵀQ and the value matrix V of size d_k × d_{k−1}. The *parameters* are the entries of all
K, Q and V (of A in place of K and Q where a_k ≥ d_{k−1}), listed as in
``DeepAttention.parameter_names``. With one head and no skip connections the function depends only
on the *virtual weights* A'_k = M_kᵀ A_k M_k, where M_k = V_{k−1}⋯V_1, and M = V_l⋯V_1.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from m2bridge.errors import InvalidCaseError, MethodUnavailableError
from m2bridge.families.deep_attention.bounds import lightning_bounds, softmax_bounds
from m2bridge.families.deep_attention.network import (
    NetworkWeights,
    NumberSystem,
    Residues,
    VirtualWeights,
    gradient,
    output,
    virtual_weights_at,
)
from m2bridge.families.deep_attention.shape import NetworkSizes
from m2bridge.families.deep_attention.statements import STATEMENTS, expectations
from m2bridge.families.deep_attention.upper_bounds import upper_bounds
from m2bridge.limits import importing
from m2bridge.maps.model import Expectation, MethodValue, list_of, rational_numbers
from m2bridge.results.known import Bounds
from m2bridge.statements.statement import Statement

if TYPE_CHECKING:
    from m2bridge.algebra.polynomial_map import PolynomialMap
    from m2bridge.families.deep_attention.observation import ObservedNetwork
    from m2bridge.maps.chain import Row


class DeepAttention(NetworkSizes):
    """The model X ↦ φ_l(… φ_1(X)) with layers φ_k(Y) = Σ_h V_h Y σ(Yᵀ K_hᵀ Q_h Y), plus Y with skip
    connections.

    Parameters
    ----------
    widths : iterable of int
        d_0, …, d_l; at least two.
    a : int or iterable of int
        The query/key dimensions a_1, …, a_l, or one for all layers: K_h and Q_h have a_k rows.
    t : int
        The number of tokens, columns of X.
    heads : int
        The number of heads of each layer.
    skip : bool
        Whether each layer adds its input to its output; then all widths are equal.
    normalization : {"none", "softmax"}
        σ: the identity (lightning), or the softmax of each column.

    Raises
    ------
    InvalidCaseError
        If these numbers name no network; ``option`` says which of them.

    Examples
    --------
    >>> network = DeepAttention([3, 3, 3], a=[1, 2], t=2)
    >>> network.key
    '3-3-3-a1-2-t2'
    >>> network.upper_bounds(0)[0].value
    18
    """

    __slots__ = ()

    def parametrization(self) -> PolynomialMap:
        """Return the map from the parameters to coefficients that determine the function.

        The functions are P(XXᵀ)X with a matrix P of polynomials. If the function is known to
        determine P, as for t ≥ d_0 and for one layer of several tokens, they are coefficients
        of the entries of P, ``c_k_i_…``; otherwise of the first token of the output, ``f_k_…``. The
        names end with the exponents of the monomial.

        Raises
        ------
        InvalidCaseError
            If the functions are not polynomial: for softmax.
        TooLargeError
            If the map is too large to be expanded.
        """
        # needs SymPy, which is slow to import
        from m2bridge.families.deep_attention.expansion import expanded

        return expanded(self)

    def upper_bounds(self, characteristic: int) -> tuple[Bounds, ...]:
        """Return upper bounds for the dimension of the set of all functions, the smallest first.

        Each of them has its reason in words. They are proved in docs/deep-attention.md over every
        field, so the ``characteristic`` of the field of the parameters is not used.
        """
        return upper_bounds(self)

    def lower_bounds(self, characteristic: int) -> Iterator[MethodValue]:
        """Return an iterator over lower bounds for the dimension, the quickest first.

        Each is computed when the iterator comes to it: the rank of a differential modulo a prime or
        in balls, or a bound by a theorem. Its title says which. The field of the parameters has
        this ``characteristic``: 0, or a prime.

        Raises
        ------
        InvalidCaseError
            By the iterator, for softmax in positive characteristic.
        TooLargeError
            By the iterator, if a rank is too large to compute and no theorem decides.
        """
        if self.softmax:
            return softmax_bounds(self, characteristic)
        return lightning_bounds(self, characteristic)

    def expectations(self) -> tuple[Expectation, ...]:
        """Return the dimension by each statement that applies to the network; for one head and no
        skip connections also by the paper's formula where it does not apply, with the reason.
        """
        return expectations(self)

    def statements(self) -> tuple[Statement, ...]:
        """Return the statements of the paper, and the statements that m2bridge adds."""
        return STATEMENTS

    def needs_engine(self, observables: Collection[str]) -> bool:
        """Return whether Macaulay2 must run for one of the observables: for fibres or closedness.

        ``observables`` are names, such as ``dimension`` or ``fibre_degree``.
        """
        with importing():
            from m2bridge.families.deep_attention.observation import BY_ENGINE

        return not BY_ENGINE.isdisjoint(observables)

    def observe(
        self, observables: Collection[str], *, certified: bool = False
    ) -> ObservedNetwork | None:
        """Compute the observables with these names, such as ``dimension`` or ``fibre_degree``.

        An observable that cannot be computed for this network has no value, but the reason; when a
        limit is reached, the observables before it are returned. With ``certified`` the values are
        for a certificate: only those observables are computed that its checker recomputes, and the
        result is ``None`` if there are none of these.

        Raises
        ------
        MethodUnavailableError, TooLargeError, TimeLimitError, MemoryLimitError
            Only with ``certified``: if a value cannot be computed, or not within the limits.
        """
        with importing():
            from m2bridge.families.deep_attention.observation import observe_part

        return observe_part(self, observables, certified=certified)

    def pullbacks(
        self, parameters: Row, inputs: Sequence[Row], covectors: Sequence[Row], prime: int
    ) -> list[list[int]]:
        """Return gradients of lightning attention with respect to its parameters, modulo ``prime``.

        ``inputs`` and ``covectors`` have one length. The i-th one is the gradient of ⟨G, output(X)⟩
        at ``parameters``, for the i-th input X and the i-th covector G on the output; ⟨ , ⟩ is the
        sum of the products of entries. X and G are the lists of the entries of matrices with t
        columns, row by row; a gradient has an entry for each parameter, in their order.

        Raises
        ------
        MethodUnavailableError
            For softmax, whose values are not residues.
        """
        if self.softmax:
            raise MethodUnavailableError(
                "softmax attention has no values modulo a prime: 'dimension' has other methods"
            )
        parameters, inputs, covectors, prime = self.checked_pullback(
            parameters, inputs, covectors, prime
        )
        numbers = Residues(prime)
        weights = NetworkWeights.read(self, parameters, numbers)
        network = weights.network()
        rows = []
        for x, g in zip(inputs, covectors, strict=True):
            X = self._tokens(x, numbers)
            G = self._tokens(g, numbers)
            # the gradient with respect to all A and V, which gives that for the parameters
            by_matrices = gradient(network, X, G, numbers=numbers, skip=self.skip)
            by_parameters = weights.flattened(by_matrices)
            # FLINT's residues become integers, since callers do not use FLINT.
            rows.append(list(map(int, by_parameters)))
        return rows

    def evaluate(self, parameters: Row, X: Sequence[Row]) -> list[list[int]]:
        """Return the tokens after the last layer, for integer weights and X of size d_0 × t.

        Both X and the result, of size d_l × t, are lists of rows.

        Raises
        ------
        InvalidCaseError
            For softmax, whose values are not integers; if X, or the number of parameters, has
            another size.
        """
        # Exponentials of integers other than 0 are transcendental.
        if self.softmax:
            raise InvalidCaseError(
                "normalization",
                "the values of softmax attention are in general not rational numbers",
            )
        parameters = rational_numbers("parameters", parameters, self.parameter_count)
        rows_of_X = [list_of("X", row) for row in list_of("X", X)]
        inputs = self.widths[0]
        if len(rows_of_X) != inputs or any(len(row) != self.t for row in rows_of_X):
            raise InvalidCaseError("X", f"must be a matrix of {inputs} rows and {self.t} columns")
        X = [rational_numbers("X", row, self.t) for row in rows_of_X]
        # integers, which are not reduced or normalized
        numbers = NumberSystem()
        network = NetworkWeights.read(self, parameters, numbers).network()
        last_tokens = output(network, numbers.matrix(X), numbers=numbers, skip=self.skip)
        rows: list[list[int]] = last_tokens.rows
        return rows

    def virtual_weights(self, parameters: Row) -> VirtualWeights:
        """Return the pair of the list of virtual weights A'_1, …, A'_l, and M, for integer weights.

        Each of these matrices is a list of rows of integers.

        Raises
        ------
        InvalidCaseError
            With several heads or skip connections, where virtual weights do not exist; if the
            number of parameters is different.
        """
        if not self.is_plain:
            raise InvalidCaseError(
                "heads", "only a network of one head without skip connections has virtual weights"
            )
        parameters = rational_numbers("parameters", parameters, self.parameter_count)
        return virtual_weights_at(self, parameters)

    def _tokens(self, entries: Row, numbers: Residues) -> Any:
        """Return the matrix with t columns, the tokens, whose entries are given row by row."""
        rows = [entries[i : i + self.t] for i in range(0, len(entries), self.t)]
        return numbers.matrix(rows)
