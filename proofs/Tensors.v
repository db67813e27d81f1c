(* The function of a layer, and its tensor (Lemma A.5).

   A layer with weights K, Q (a x d) and V (d' x d) is the function X |-> V X X^T K^T Q X of d x t
   matrices X: t tokens, the columns.  It depends on A = K^T Q and V alone.  Its tensor phi A V has,
   for an output k and an input i, the product of the linear forms column i of A and row k of V:

     layer_eval       twice the function is a linear image, eval, of phi A V;
     layer_eq_phi     for t >= 2 two layers are the same function exactly if their tensors are equal.

   So everything about functions of two or more tokens can be said about tensors.
   In words: docs/mathematics.md, "The model" (Lemma A.5 of the paper).                            *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Forms.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Tensors.
Variables (F : fieldType) (d d' : nat).
Implicit Types (A B : 'M[F]_d) (V W : 'M[F]_(d', d)).

(* A symmetric matrix for each output k and input i. *)
Definition tensor := {ffun 'I_d' * 'I_d -> 'M[F]_d}.

Definition phi A V : tensor :=
  [ffun ki => \matrix_(p, q) (A p ki.2 * V ki.1 q + A q ki.2 * V ki.1 p)].

(* Column i of A times row k of V. *)
Lemma phiE A V k i : phi A V (k, i) = product (row i A^T) (row k V).
Proof. by apply/matrixP=> p q; rewrite ffunE !mxE !big_ord1 !mxE [A q i * _]mulrC. Qed.

Definition symmetric (x : tensor) := forall ki, (x ki)^T = x ki.

Lemma phi_symmetric A V : symmetric (phi A V).
Proof. by case=> k i; rewrite phiE /product linearD /= !trmx_mul !trmxK addrC. Qed.

Lemma symmetric_linear c x y : symmetric x -> symmetric y -> symmetric (c *: x + y).
Proof. by move=> sx sy ki; rewrite !ffunE linearD linearZ /= sx sy. Qed.

Lemma symmetricD x y : symmetric x -> symmetric y -> symmetric (x + y).
Proof. by move=> sx sy; rewrite -[x]scale1r; apply: symmetric_linear. Qed.

(* phi is linear in A and in V. *)
Lemma phi_linear_A c A B V : phi (c *: A + B) V = c *: phi A V + phi B V.
Proof.
apply/ffunP=> ki; rewrite !ffunE; apply/matrixP=> p q; rewrite !mxE.
by rewrite !mulrDl -!mulrA mulrDr addrACA.
Qed.

Lemma phi_linear_V c A V W : phi A (c *: V + W) = c *: phi A V + phi A W.
Proof.
apply/ffunP=> ki; rewrite !ffunE; apply/matrixP=> p q; rewrite !mxE.
by rewrite !mulrDr !(mulrCA _ c) addrACA -mulrDr.
Qed.

Lemma phi_0V V : phi 0 V = 0.
Proof. by rewrite -[0 in LHS](addNr 0) -scaleN1r phi_linear_A scaleN1r addNr. Qed.

Lemma phi_A0 A : phi A 0 = 0.
Proof. by rewrite -[0 in LHS](addNr 0) -scaleN1r phi_linear_V scaleN1r addNr. Qed.

Lemma phi_ZA c A V : phi (c *: A) V = c *: phi A V.
Proof. by rewrite -[c *: A]addr0 phi_linear_A phi_0V addr0. Qed.

Lemma phi_ZV c A V : phi A (c *: V) = c *: phi A V.
Proof. by rewrite -[c *: V]addr0 phi_linear_V phi_A0 addr0. Qed.

(* The scaling (c A, V / c) does not change the tensor. *)
Lemma phi_scaling c A V : c != 0 -> phi (c *: A) (c^-1 *: V) = phi A V.
Proof. by move=> c0; rewrite phi_ZA phi_ZV scalerA mulfV // scale1r. Qed.
End Tensors.

Section Functions.
Variables (F : fieldType) (d d' t : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types (A B : 'M[F]_d) (V W : 'M[F]_(d', d)).

(* The function of A and V, and that of weights K, Q, V. *)
Definition layer A V (X : 'M[F]_(d, t)) : 'M[F]_(d', t) := V *m X *m X^T *m A *m X.

Definition attention a (K Q : 'M[F]_(a, d)) V (X : 'M[F]_(d, t)) : 'M[F]_(d', t) :=
  V *m X *m X^T *m K^T *m Q *m X.

Lemma attention_layer a (K Q : 'M[F]_(a, d)) V X : attention K Q V X = layer (K^T *m Q) V X.
Proof. by rewrite /attention /layer !mulmxA. Qed.

(* The linear map from tensors to functions: entry (k, s) is the sum over i of the quadratic form
   (k, i), summed over the tokens, times entry i of token s. *)
Definition eval (x : tensor F d d') (X : 'M[F]_(d, t)) : 'M[F]_(d', t) :=
  \matrix_(k, s) \sum_i \tr (x (k, i) *m (X *m X^T)) * X i s.

Lemma eval_linear c x y X : eval (c *: x + y) X = c *: eval x X + eval y X.
Proof.
apply/matrixP=> k s; rewrite !mxE mulr_sumr -big_split; apply: eq_bigr => i _ /=.
by rewrite !ffunE mulmxDl mxtraceD -scalemxAl mxtraceZ mulrDl mulrA.
Qed.

Lemma evalD x y X : eval (x + y) X = eval x X + eval y X.
Proof. by rewrite -[x in LHS]scale1r eval_linear scale1r. Qed.

Lemma eval0 X : eval 0 X = 0.
Proof. by rewrite -[0 in LHS](addNr 0) -scaleN1r eval_linear scaleN1r addNr. Qed.

Lemma eval_sum n (c : 'I_n -> F) (x : 'I_n -> tensor F d d') X :
  \sum_i c i *: (2%:R^-1 *: eval (x i) X) = 2%:R^-1 *: eval (\sum_i c i *: x i) X.
Proof.
elim/big_rec2: _ => [|i y1 y2 _ ->]; first by rewrite eval0 scaler0.
by rewrite eval_linear scalerDr !scalerA mulrC.
Qed.

(* The trace of a product of forms with a symmetric matrix is twice a bilinear form. *)
Lemma trace_product (G : 'M[F]_d) a v : G^T = G ->
  \tr (product a v *m G) = 2%:R * (v *m G *m a^T) 0 0.
Proof.
move=> GT; have tr1 (M : 'M[F]_1) : \tr M = M 0 0 by rewrite /mxtrace big_ord1.
rewrite /product mulmxDl [LHS]linearD /= -!mulmxA !(mxtrace_mulC _^T) -[X in _ + X]mxtrace_tr.
by rewrite !trmx_mul trmxK GT mulmxA tr1 -mulr2n mulr_natl.
Qed.

Lemma layer_eval A V X : 2%:R *: layer A V X = eval (phi A V) X.
Proof.
apply/matrixP=> k s; rewrite /layer mxE [in RHS]mxE [X in _ * X]mxE mulr_sumr.
apply: eq_bigr => i _; rewrite mulrA phiE trace_product; last by rewrite trmx_mul trmxK.
by congr (_ * _ * _); rewrite -tr_col trmxK colE mulmxA -!row_mul -colE !mxE mulmxA.
Qed.

Lemma layerE A V X : layer A V X = 2%:R^-1 *: eval (phi A V) X.
Proof. by rewrite -layer_eval scalerA mulVf // scale1r. Qed.

(* A quadratic form that is zero at all vectors is zero: polarization, with 2 <> 0. *)
Lemma quadratic_form_eq0 (M : 'M[F]_d) :
  M^T = M -> (forall u : 'cV_d, \tr (M *m (u *m u^T)) = 0) -> M = 0.
Proof.
move=> MT H; apply/matrixP=> p q; pose Q (u w : 'cV[F]_d) := \tr (M *m (u *m w^T)).
have QC u w : Q u w = Q w u by rewrite /Q -mxtrace_tr !trmx_mul trmxK MT mxtrace_mulC.
have : Q (delta_mx p 0) (delta_mx q 0) = 0.
  have := H (delta_mx p 0 + delta_mx q 0).
  rewrite [(_ + _)^T]linearD /= mulmxDl !mulmxDr !mxtraceD !H add0r addr0.
  rewrite -!/(Q _ _) [X in _ + X]QC -mulr2n -mulr_natr => /eqP.
  by rewrite mulf_eq0 (negbTE two) orbF => /eqP.
rewrite /Q mxtrace_mulC -mulmxA mxtrace_mulC /mxtrace big_ord1.
by rewrite trmx_delta -rowE -colE !mxE => h; rewrite -MT mxE h.
Qed.

(* For t >= 2 the map eval is injective.  Two tokens are enough: the i-th unit vector and u. *)
Lemma eval_injective (x : tensor F d d') : (2 <= t)%N -> symmetric x ->
  (forall X, eval x X = 0) -> x = 0.
Proof.
move=> t2 xT H; apply/ffunP=> -[k i]; rewrite ffunE; apply: quadratic_form_eq0 => //.
pose s0 : 'I_t := Ordinal (ltnW t2); pose s1 : 'I_t := Ordinal t2.
have E (u : 'cV_d) : \tr (x (k, i) *m (delta_mx i i + u *m u^T)) = 0.
  pose X := delta_mx i s0 + u *m delta_mx 0 s1.
  have := congr1 (fun M : 'M_(d', t) => M k s0) (H X); rewrite [in LHS]mxE [RHS]mxE.
  have -> : X *m X^T = delta_mx i i + u *m u^T.
    rewrite linearD /= trmx_mul !trmx_delta mulmxDl !mulmxDr !mulmxA mul_delta_mx.
    rewrite mul_delta_mx_0 // mul0mx addr0 -!mulmxA mul_delta_mx_0 // mulmx0 add0r.
    rewrite (mulmxA (delta_mx 0 s1)) mul_delta_mx (_ : delta_mx 0 0 = 1%:M) ?mul1mx //.
    by apply/matrixP=> p q; rewrite !mxE !ord1.
  rewrite (bigD1 i) //= big1 ?addr0 => [|j /negbTE hj].
    by rewrite !mxE !eqxx big_ord1 !mxE mulr0 addr0 mulr1.
  by rewrite !mxE hj big_ord1 !mxE mulr0 addr0 mulr0.
by move=> u; move: (E u); have := E 0; rewrite mul0mx addr0 mulmxDr mxtraceD => ->; rewrite add0r.
Qed.

(* Lemma A.5: functions and tensors determine each other. *)
Theorem layer_eq_phi A B V W : (2 <= t)%N ->
  (forall X, layer A V X = layer B W X) <-> phi A V = phi B W.
Proof.
move=> t2; split=> [E|E X]; last by rewrite !layerE E.
apply/eqP; rewrite -subr_eq0 addrC -scaleN1r; apply/eqP/eval_injective => // [|X].
  by apply: symmetric_linear; apply: phi_symmetric.
by rewrite eval_linear -!layer_eval E scaleN1r addNr.
Qed.
End Functions.
