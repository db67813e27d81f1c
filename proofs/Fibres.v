(* The fibres of the parametrization (Theorem 3.2).

   For t >= 2, and layers with matrices A, V and B, W:

     fibre_zero       if A = 0 or V = 0, the functions are equal exactly if B = 0 or W = 0;
     fibre_point      if rk A * rk V >= 2, exactly if (B, W) = (c A, V / c) for some c <> 0;
     fibre_rank_one   if A = k q and V = h v have rank one, exactly if
                      (B, W) = (c k q, h v / c) or (B, W) = (c v q, h k / c) for some c <> 0.

   k and v are written as rows here: A = k^T q.  Up to scaling the fibre has one point in the second
   case, and two in the third one, which are equal if v is a multiple of k.
   In words: docs/mathematics.md, "Fibres".                                                        *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Forms Tensors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Rows.
Variables (F : fieldType) (d m n : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types (A B : 'M[F]_(m, d)) (V W : 'M[F]_(n, d)).

(* b_i w_k = a_i v_k for all i and k. *)
Definition same_products A V B W :=
  forall i k, product (row i B) (row k W) = product (row i A) (row k V).

Lemma scaled_products c A V : c != 0 -> same_products A V (c *: A) (c^-1 *: V).
Proof.
move=> c0 i k; rewrite !linearZ /= productZl productZr scalerA mulfV //.
by rewrite scale1r.
Qed.

(* One product a_i v_k that is not zero, with b_i = c a_i, determines all of B and W. *)
Lemma rows_from_one c A V B W i k : c != 0 -> row i A != 0 -> row k V != 0 ->
  row i B = c *: row i A -> same_products A V B W -> B = c *: A /\ W = c^-1 *: V.
Proof.
move=> c0 Ai Vk Bi E.
have WV : W = c^-1 *: V.
  apply/row_matrixP=> l; rewrite linearZ /=; apply: (product_cancel two Ai).
  by rewrite productZr -E Bi productZl scalerA mulVf // scale1r.
split=> //; apply/row_matrixP=> l; rewrite linearZ /=; apply: (product_cancel two Vk).
rewrite productC [RHS]productC productZl -E WV [row k (_ *: V)]linearZ /= productZr.
by rewrite scalerA mulfV // scale1r.
Qed.

(* Where v_k is no multiple of a_i, the factors of a_i v_k = b_i w_k tell b_i = c a_i from b_i = c v_k.
   In the second case all v_l are multiples of v_k, by c v_k w_l = a_i v_l, and all a_j of a_i, by
   b_j a_i = c a_j v_k: both ranks are one. *)
Lemma same_products_point A V B W : (2 <= \rank A * \rank V)%N -> same_products A V B W ->
  exists c, c != 0 /\ B = c *: A /\ W = c^-1 *: V.
Proof.
move=> rk E; have [i [k [Ai Vk]]] := rank_independent rk.
have V0 : row k V != 0 by apply: contraNneq Vk => ->; apply: sub0mx.
have [c [c0 [[Bi Wk]|[Bi Wk]]]] := product_unique two Ai V0 (E i k).
  by exists c; split=> //; apply: (rows_from_one c0 Ai V0 Bi E).
(* Here b_i = c v_k and w_k = a_i / c. *)
have Vl l : exists e, row l V = e *: row k V.
  have [|e We] := @relation _ _ two (row i A) (c *: row l W) (row k V) (- row l V) Vk.
    by rewrite productZl productC -productZl -Bi E productNr subrr.
  exists e; apply: (product_cancel two Ai).
  by rewrite -E Bi productZl -productZr We !productZr productC.
have Aj j : exists e, row j A = e *: row i A.
  apply: (relation two Vk (w := - c^-1 *: row j B)); apply/eqP.
  by rewrite scaleNr productNr subr_eq0 [X in _ == X]productC productZl -productZr -Wk E.
have rank1 p (M : 'M[F]_(p, d)) a : (forall l, exists e, row l M = e *: a) -> (\rank M <= 1)%N.
  move=> Ma; apply: leq_trans (mxrankS _) (rank_leq_row a).
  by apply/row_subP=> l; have [e ->] := Ma l; apply: scalemx_sub.
by move: rk; rewrite leqNgt ltnS; case/negP; apply: leq_mul (rank1 _ _ _ Aj) (rank1 _ _ _ Vl).
Qed.

(* Products q_i h_l k v of two forms k and v.  One of them that is not zero makes b_i a multiple of
   k or of v, and then all of B and W is determined. *)
Lemma same_products_rank_one (q : 'cV[F]_m) (h : 'cV[F]_n) (k v : 'rV[F]_d) B W :
  q != 0 -> h != 0 -> k != 0 -> v != 0 -> same_products (q *m k) (h *m v) B W ->
  exists c, c != 0 /\ (B = c *: (q *m k) /\ W = c^-1 *: (h *m v) \/
                       B = c *: (q *m v) /\ W = c^-1 *: (h *m k)).
Proof.
move=> q0 h0 k0 v0 E.
have nz p (x : 'cV[F]_p) (a : 'rV[F]_d) : x != 0 -> a != 0 -> x *m a != 0.
  move=> x0 a0; rewrite -mxrank_eq0 mxrankMfree ?mxrank_eq0 //.
  by rewrite /row_free rank_rV a0.
have [i Ai] := row_neq0 (nz _ _ _ q0 k0); have [l Vl] := row_neq0 (nz _ _ _ h0 v0).
have swap : same_products (q *m v) (h *m k) B W.
  by move=> i' l'; rewrite E !row_rank_one !productZl !productZr productC.
have [c [c0 [[Bi _]|[Bi _]]]] := product_unique two Ai Vl (E i l).
  by exists c; split=> //; left; apply: (rows_from_one c0 Ai Vl Bi E).
have qi : q i 0 != 0 by apply: contraNneq Ai => qi; rewrite row_rank_one qi scale0r.
have hl : h l 0 != 0 by apply: contraNneq Vl => hl; rewrite row_rank_one hl scale0r.
exists (c * h l 0 / q i 0); split; first by rewrite !mulf_neq0 ?invr_eq0.
right; apply: (@rows_from_one _ _ _ _ _ i l) swap; rewrite ?mulf_neq0 ?invr_eq0 //.
- by rewrite row_rank_one scaler_eq0 negb_or qi.
- by rewrite row_rank_one scaler_eq0 negb_or hl.
by rewrite Bi !row_rank_one !scalerA mulfVK.
Qed.

Lemma same_products_zero A V : same_products 0 0 A V -> A = 0 \/ V = 0.
Proof.
move=> E; have [->|V0] := eqVneq V 0; [by right | left].
have [k Vk] := row_neq0 V0; apply/row_matrixP=> i; rewrite row0.
by apply: (product_eq0 two Vk); rewrite E !row0 product0r.
Qed.
End Rows.

Section Fibres.
Variables (F : fieldType) (d d' t : nat).
Hypothesis two : (2%:R : F) != 0.
Hypothesis t2 : (2 <= t)%N.
Implicit Types (A B : 'M[F]_d) (V W : 'M[F]_(d', d)).

(* (A, V) and (B, W) are the same function of t tokens. *)
Definition same_function A V B W := forall X : 'M[F]_(d, t), layer B W X = layer A V X.

Lemma same_function_products A V B W :
  same_function A V B W <-> same_products A^T V B^T W.
Proof.
rewrite /same_function (layer_eq_phi two) //; split=> [/ffunP E i k|E].
  by rewrite -!phiE E.
by apply/ffunP=> -[k i]; rewrite !phiE E.
Qed.

Theorem fibre_zero A V B W :
  A = 0 \/ V = 0 -> same_function A V B W <-> B = 0 \/ W = 0.
Proof.
move=> AV; have zero A' V' : A' = 0 \/ V' = 0 -> phi A' V' = 0.
  by case=> ->; rewrite ?phi_0V ?phi_A0.
rewrite /same_function (layer_eq_phi two) // (zero A V AV).
split=> [E|/zero //]; have [||->] := @same_products_zero F d d d' two B^T W; last by right.
  by move=> i k; rewrite -phiE E ffunE !row0 product0r.
by move=> B0; left; apply: trmx_inj; rewrite B0 linear0.
Qed.

Theorem fibre_point A V B W : (2 <= \rank A * \rank V)%N ->
  same_function A V B W <-> exists c, c != 0 /\ B = c *: A /\ W = c^-1 *: V.
Proof.
move=> rk; split=> [/same_function_products|[c [c0 [-> ->]]]].
  case/(same_products_point two); first by rewrite mxrank_tr.
  move=> c [c0 [BA WV]]; exists c; split=> //; split=> //.
  by apply: trmx_inj; rewrite BA linearZ.
by rewrite /same_function (layer_eq_phi two) // phi_scaling.
Qed.

Theorem fibre_rank_one (k v q : 'rV[F]_d) (h : 'cV[F]_d') B W :
  k != 0 -> v != 0 -> q != 0 -> h != 0 ->
  same_function (k^T *m q) (h *m v) B W <->
  exists c, c != 0 /\ (B = c *: (k^T *m q) /\ W = c^-1 *: (h *m v) \/
                       B = c *: (v^T *m q) /\ W = c^-1 *: (h *m k)).
Proof.
move=> k0 v0 q0 h0; split=> [/same_function_products|[c [c0 fibre]]].
  rewrite trmx_mul trmxK => E.
  have qT : q^T != 0 by rewrite -trmx0 (inj_eq trmx_inj).
  have [c [c0 fibre]] := same_products_rank_one two qT h0 k0 v0 E.
  exists c; split=> //; case: fibre => -[BT ->]; [left | right]; split=> //.
    by apply: trmx_inj; rewrite BT linearZ /= trmx_mul trmxK.
  by apply: trmx_inj; rewrite BT linearZ /= trmx_mul trmxK.
rewrite /same_function (layer_eq_phi two) //.
case: fibre => -[-> ->]; rewrite phi_scaling //; apply/ffunP=> -[l i].
by rewrite !phiE !trmx_mul !trmxK !row_rank_one !productZl !productZr productC.
Qed.
End Fibres.
