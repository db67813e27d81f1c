(* Where training stops: weights K and Q whose ranks are those of A = K^T Q.
   On paper: docs/training.md (lemma-tangents, theorem-saddles). *)

From mathcomp Require Import all_ssreflect all_algebra.

Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Open Scope ring_scope.
Import GRing.Theory.

Section Balanced.

Variables (F : fieldType) (a d : nat) (K Q : 'M[F]_(a, d)).
Let A := K^T *m Q.
Hypotheses (rank_K : \rank K = \rank A) (rank_Q : \rank Q = \rank A).

Lemma Q_from_A : exists Z, Q = Z *m A.
Proof.
apply/submxP; have le : (A <= Q)%MS by apply: submxMl.
by rewrite -(geq_leqif (mxrank_leqif_sup le)) rank_Q.
Qed.

Lemma K_from_A : exists Z, K^T = A *m Z.
Proof.
have le : (A^T <= K)%MS by rewrite trmx_mul trmxK submxMl.
have : (K <= A^T)%MS by rewrite -(geq_leqif (mxrank_leqif_sup le)) mxrank_tr rank_K.
by case/submxP=> Z eqK; exists Z^T; rewrite eqK trmx_mul trmxK.
Qed.

(* Moves of K and Q move A exactly in the tangent space of the matrices of its rank. *)
Theorem balanced_tangents (B : 'M_d) :
  (exists dK, exists dQ, B = dK^T *m Q + K^T *m dQ)
  <-> (exists X, exists Y, B = X *m A + A *m Y).
Proof.
split=> [[dK [dQ ->]] | [X [Y ->]]].
  have [Z eqQ] := Q_from_A; have [W eqK] := K_from_A.
  by exists (dK^T *m Z), (W *m dQ); rewrite -mulmxA -eqQ mulmxA -eqK.
by exists (K *m X^T), (Q *m Y); rewrite trmx_mul trmxK -!mulmxA.
Qed.

Lemma kernel_of_A (z : 'rV_d) : z *m A = 0 -> z *m K^T = 0.
Proof. by have [Z eqK] := K_from_A; rewrite eqK mulmxA => ->; rewrite mul0mx. Qed.

(* What is orthogonal to all that K kills is in the column space of K. *)
Lemma orthogonal_to_kernel (e : 'rV_a) :
  e *m (kermx K)^T = 0 -> exists z : 'rV_d, e = z *m K^T.
Proof.
move=> zero; apply/submxP.
have le : (K^T <= kermx (kermx K)^T)%MS.
  by apply/sub_kermxP; rewrite -trmx_mul mulmx_ker trmx0.
have /eqmxP eq : (K^T == kermx (kermx K)^T)%MS.
  by rewrite -(mxrank_leqif_eq le) mxrank_ker !mxrank_tr mxrank_ker subKn ?rank_leq_row.
by rewrite eq; apply/sub_kermxP.
Qed.

(* Below full rank there are e and e' with e Q = 0, e' K = 0 and e . e' <> 0. *)
Theorem paired_kernels : (\rank A < a)%N ->
  exists e : 'rV_a, exists e' : 'rV_a,
    [/\ e *m Q = 0, e' *m K = 0 & (e *m e'^T) 0 0 != 0].
Proof.
move=> small; set P := kermx Q *m (kermx K)^T.
have nonzero : P != 0.
  apply/eqP => zero; move: small; rewrite -rank_Q ltnNge => /negP; apply.
  have : kermx Q == 0.
    apply/eqP/row_matrixP => i; rewrite row0.
    have orth : row i (kermx Q) *m (kermx K)^T = 0 by rewrite -row_mul -/P zero row0.
    have [z eq] := orthogonal_to_kernel orth.
    have killed : z *m A = 0 by rewrite mulmxA -eq -row_mul mulmx_ker row0.
    by rewrite eq kernel_of_A.
  by rewrite -mxrank_eq0 mxrank_ker subn_eq0.
have /matrix0Pn [i [j ne]] := nonzero.
exists (row i (kermx Q)), (row j (kermx K)); split.
- by rewrite -row_mul mulmx_ker row0.
- by rewrite -row_mul mulmx_ker row0.
- by move: ne; rewrite /P !mxE; congr (_ != _); apply: eq_bigr => k _; rewrite !mxE.
Qed.

(* Moved along them, A changes by a multiple of x^T y of second order, and K and Q by c. *)
Theorem second_order (e e' : 'rV_a) (x y : 'rV_d) (c : F) :
  e *m Q = 0 -> e' *m K = 0 ->
  (K + c *: (e^T *m x))^T *m (Q + c *: (e'^T *m y))
  = A + (c ^+ 2 * (e *m e'^T) 0 0) *: (x^T *m y).
Proof.
move=> eQ eK; have Ke : K^T *m e'^T = 0 by rewrite -trmx_mul eK trmx0.
have -> : (K + c *: (e^T *m x))^T = K^T + c *: (x^T *m e).
  by rewrite linearD linearZ /= trmx_mul trmxK.
rewrite mulmxDl !mulmxDr -/A.
rewrite -!scalemxAr -!scalemxAl mulmxA Ke mul0mx scaler0 addr0.
rewrite -[x^T *m e *m Q]mulmxA eQ mulmx0 scaler0 add0r scalerA; congr (_ + _).
have -> : x^T *m e *m (e'^T *m y) = x^T *m (e *m e'^T) *m y by rewrite !mulmxA.
by rewrite {1}[e *m e'^T]mx11_scalar mul_mx_scalar -scalemxAl scalerA expr2.
Qed.

End Balanced.
