(* Products of two linear forms.

   A linear form on F^d is a row a : 'rV[F]_d, and the product of a and v is the symmetric matrix
   a^T v + v^T a, whose quadratic form is 2 a(x) v(x).  Over a field in which 2 <> 0:

     product_unique   a v = b w <> 0 only if (b, w) = (c a, v / c) or (b, w) = (c v, a / c);
     relation         b v + a w = 0 and v no multiple of a: then b is a multiple of a;
     rows_relation    the same for two families of forms, the rows of two matrices: the relations
                      b_i v_k + a_i w_k = 0 for all i, k have the solutions (b, w) = c (a, -v) alone,
                      unless all a_i and all v_k are multiples of one form.

   Everything else in this folder is a consequence of these.  The paper uses that polynomials
   factor uniquely; here it is linear algebra.  In words: docs/mathematics.md, "Fibres".         *)

From mathcomp Require Import all_ssreflect all_algebra.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Forms.
Variables (F : fieldType) (d : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types a b v w : 'rV[F]_d.

(* The product of the linear forms a and v. *)
Definition product a v : 'M[F]_d := a^T *m v + v^T *m a.

Lemma productC a v : product a v = product v a.
Proof. exact: addrC. Qed.

Lemma productDr a v w : product a (v + w) = product a v + product a w.
Proof. by rewrite /product mulmxDr linearD mulmxDl addrACA. Qed.

Lemma productZr c a v : product a (c *: v) = c *: product a v.
Proof. by rewrite /product -scalemxAr linearZ -scalemxAl scalerDr. Qed.

Lemma productZl c a v : product (c *: a) v = c *: product a v.
Proof. by rewrite productC productZr productC. Qed.

Lemma product0r a : product a 0 = 0.
Proof. by rewrite -[0 in LHS](scale0r a) productZr scale0r. Qed.

Lemma productNr a v : product a (- v) = - product a v.
Proof. by rewrite -scaleN1r productZr scaleN1r. Qed.

(* If b v + a w = 0 and v is no multiple of a, then b is a multiple of a.
   Apply the matrices to a vector x with v(x) = 1 and a(x) = 0: b + b(x) v + w(x) a = 0; once more,
   2 b(x) = 0, so that b = - w(x) a. *)
Lemma relation a b v w : ~~ (v <= a)%MS -> product b v + product a w = 0 -> exists c, b = c *: a.
Proof.
rewrite submxE => /rV0Pn [j nz] E.
have [x [vx ax]] : exists x : 'cV_d, v *m x = 1%:M /\ a *m x = 0.
  exists (((v *m cokermx a) 0 j)^-1 *: (cokermx a *m delta_mx j 0)).
  rewrite -!scalemxAr !(mulmxA _ (cokermx a)) mulmx_coker mul0mx scaler0 -colE; split=> //.
  by apply/matrixP=> i k; rewrite !ord1 [LHS]mxE [X in _ * X]mxE mulVf // mxE eqxx.
have [y wx] : exists y, w *m x = y%:M by exists ((w *m x) 0 0); apply: mx11_scalar.
have [z bx] : exists z, b *m x = z%:M by exists ((b *m x) 0 0); apply: mx11_scalar.
have once : b^T + z *: v^T + y *: a^T = 0.
  have := congr1 (mulmx^~ x) E; rewrite /product mul0mx !mulmxDl -!mulmxA.
  by rewrite vx ax wx bx mulmx1 mulmx0 addr0 !mul_mx_scalar.
have z0 : z = 0.
  have := congr1 (mulmx x^T) once; rewrite mulmx0 !mulmxDr -!scalemxAr -!trmx_mul.
  rewrite vx ax bx tr_scalar_mx trmx1 trmx0 scaler0 addr0 scalemx1 => /matrixP/(_ 0 0)/eqP.
  by rewrite !mxE eqxx -mulr2n -mulr_natr mulf_eq0 (negbTE two) orbF => /eqP.
exists (- y); apply: trmx_inj; move/eqP: once.
by rewrite z0 scale0r addr0 addr_eq0 => /eqP ->; rewrite -scaleNr [RHS]linearZ.
Qed.

(* There are no divisors of zero. *)
Lemma product_eq0 b v : v != 0 -> product b v = 0 -> b = 0.
Proof.
move=> nz E; have [||c ->] := @relation 0 b v 0; last exact: scaler0.
  by apply: contra nz => /submx0null->.
by rewrite E product0r addr0.
Qed.

Lemma product_cancel a v w : a != 0 -> product a v = product a w -> v = w.
Proof.
move=> nz /eqP; rewrite -subr_eq0 -productNr -productDr productC => /eqP/(product_eq0 nz)/eqP.
by rewrite subr_eq0 => /eqP.
Qed.

(* A product of two forms is factored in one way: either w is a multiple of a, and cancels, or b is
   by the relation b w - a v = 0. *)
Lemma product_unique a b v w : a != 0 -> v != 0 -> product b w = product a v ->
  exists c, c != 0 /\ (b = c *: a /\ w = c^-1 *: v \/ b = c *: v /\ w = c^-1 *: a).
Proof.
move=> a0 v0 E; have [/sub_rVP [c wa]|wa] := boolP (w <= a)%MS.
  have cbv : c *: b = v.
    by apply: (product_cancel a0); rewrite -E wa !productZr productC.
  have c0 : c != 0 by apply: contraNneq v0 => c0; rewrite -cbv c0 scale0r.
  exists c^-1; split; first by rewrite invr_eq0.
  by right; rewrite -cbv scalerA mulVf // scale1r invrK wa.
have [|c bc] := @relation a b w (- v) wa; first by rewrite productNr E subrr.
have wv : c *: w = v by apply: (product_cancel a0); rewrite productZr -productZl -bc.
have c0 : c != 0 by apply: contraNneq v0 => c0; rewrite -wv c0 scale0r.
by exists c; split=> //; left; rewrite bc -wv scalerA mulVf // scale1r.
Qed.

Lemma row_neq0 m (A : 'M[F]_(m, d)) : A != 0 -> exists i, row i A != 0.
Proof.
case/matrix0Pn=> i [j hij]; exists i; apply: contraNneq hij => /rowP/(_ j).
by rewrite !mxE => ->.
Qed.

(* The rows of a matrix of rank one are multiples of one form. *)
Lemma row_rank_one m (q : 'cV[F]_m) v i : row i (q *m v) = q i 0 *: v.
Proof. by apply/rowP=> s; rewrite !mxE big_ord1. Qed.

Section Families.
Variables m n : nat.
Implicit Types (A B : 'M[F]_(m, d)) (V W : 'M[F]_(n, d)).

(* Some row of A is not zero, and some row of V no multiple of it. *)
Definition independent_rows A V := exists i k, row i A != 0 /\ ~~ (row k V <= row i A)%MS.

(* All rows of A and of V are multiples of one form v: A_i = q_i v and V_k = h_k v. *)
Definition one_form A V := exists (v : 'rV_d) (q : 'cV_m) (h : 'cV_n), A = q *m v /\ V = h *m v.

Lemma one_form_or_independent A V : A != 0 -> V != 0 -> one_form A V \/ independent_rows A V.
Proof.
move=> A0 V0; have [i Ai] := row_neq0 A0; have [k Vk] := row_neq0 V0.
have [|/forallPn [i']] := boolP [forall i', (row i' A != 0) ==> (V <= row i' A)%MS]; last first.
  by rewrite negb_imply => /andP [nz /row_subPn [k' hk']]; right; exists i', k'.
move=> /forallP H; have sub i' : row i' A != 0 -> (V <= row i' A)%MS by apply/implyP.
have VA i' : (row i' A <= row k V)%MS.
  have [->|nz] := eqVneq (row i' A) 0; first exact: sub0mx.
  have /sub_rVP [c Vc] := submx_trans (row_sub k V) (sub _ nz).
  have c0 : c != 0 by apply: contraNneq Vk => c0; rewrite Vc c0 scale0r.
  by apply/sub_rVP; exists c^-1; rewrite Vc scalerA mulVf // scale1r.
left; exists (row k V).
have /submxP [q Aq] : (A <= row k V)%MS by apply/row_subP.
have /submxP [h Vh] : (V <= row k V)%MS by apply: submx_trans (sub i Ai) (VA i).
by exists q, h.
Qed.

(* Forms b_i, w_k with b_i v_k + a_i w_k = 0 for all i and k.  The form b_i is a multiple c a_i for
   the i of independent rows; then a_i (w_l + c v_l) = 0 gives w_l for every l, and
   (b_l - c a_l) v_k = 0 gives b_l. *)
Lemma rows_relation A B V W : independent_rows A V ->
  (forall i k, product (row i B) (row k V) + product (row i A) (row k W) = 0) ->
  exists c, B = c *: A /\ W = - c *: V.
Proof.
move=> [i [k [Ai Vk]]] H; have [c Bi] := relation Vk (H i k).
have WV : W = - c *: V.
  apply/row_matrixP=> l; rewrite linearZ /=; apply: (product_cancel Ai).
  by rewrite productZr scaleNr; apply/eqP; rewrite -addr_eq0 addrC -productZl -Bi H.
exists c; split=> //; apply/row_matrixP=> l; rewrite linearZ /=.
have V0 : row k V != 0 by apply: contraNneq Vk => ->; apply: sub0mx.
apply: (product_cancel V0); rewrite productC [RHS]productC productZl; apply/eqP.
by rewrite -subr_eq0 -scaleNr -productZr -[_ *: row k V]linearZ /= -WV H.
Qed.

(* Two families with rk A * rk V >= 2 are not multiples of one form. *)
Lemma rank_independent A V : (2 <= \rank A * \rank V)%N -> independent_rows A V.
Proof.
move=> rk; have A0 : A != 0 by apply: contraTneq rk => ->; rewrite mxrank0.
have V0 : V != 0 by apply: contraTneq rk => ->; rewrite mxrank0 muln0.
have [[v [q [h [Aq Vh]]]]|//] := one_form_or_independent A0 V0.
move: rk; rewrite leqNgt Aq Vh => /negP[]; apply: (@leq_ltn_trans (1 * 1)) => //.
by apply: leq_mul; rewrite (leq_trans (mxrankM_maxr _ _)) ?rank_leq_row.
Qed.
End Families.
End Forms.
