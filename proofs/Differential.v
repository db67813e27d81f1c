(* The differential of the parametrization (Lemma A.3, Corollary 3.3).

   The differential of phi at (A, V) sends (B, W) to phi B V + phi A W.  It sends (A, -V) to zero,
   since (c A, V / c) has the same tensor as (A, V).

     kernel           this is all of the kernel, unless A = v q and V = h v for one form v;
     critical         Lemma A.3: on the tangent space of the matrices of rank at most a, the
                      kernel is larger exactly if A = v q and V = h v (for d >= 2, A <> 0, V <> 0);
     few_velocities   the differential of (K, Q, V) |-> phi (K^T Q) V has at most the rank
                      d^2 + d'd - (d - a)^2 - 1, everywhere;
     all_velocities   and it has this rank where K and Q have rank a and rk A * rk V >= 2.

   d^2 - (d - a)^2 = a (2d - a) is the dimension of the matrices of rank at most a.  That the largest
   rank of the differential is the dimension of the image stays on paper (Corollary 3.3).
   In words: docs/mathematics.md, "Dimension".                                                     *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Forms Tensors.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Differential.
Variables (F : fieldType) (d d' : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types (A B : 'M[F]_d) (V W : 'M[F]_(d', d)).

(* The differential of phi at (A, V). *)
Definition pair := ('M[F]_d * 'M[F]_(d', d))%type.
Definition dphi A V (x : pair) : tensor F d d' := phi x.1 V + phi A x.2.

Lemma dphi_linear A V : linear (dphi A V).
Proof.
move=> c [B W] [B' W']; rewrite /dphi /= phi_linear_A phi_linear_V.
by rewrite scalerDr addrACA.
Qed.
Canonical dphi_lin A V := Linear (dphi_linear A V).
Definition Dphi A V : 'Hom(_, _) := linfun (dphi A V).

Lemma Dphi_scaling A V : Dphi A V (A, - V) = 0.
Proof. by rewrite lfunE /= /dphi /= -scaleN1r phi_ZV scaleN1r subrr. Qed.

Lemma kernel A V : independent_rows A^T V -> lker (Dphi A V) = <[(A, - V) : pair]>%VS.
Proof.
move=> ind; apply/vspaceP=> -[B W]; rewrite memv_ker; apply/eqP/vlineP; last first.
  by case=> c ->; rewrite linearZ /= Dphi_scaling scaler0.
rewrite lfunE /= => /ffunP E; have [|c [BA WV]] := @rows_relation _ _ two _ _ A^T B^T V W ind.
  by move=> i k; rewrite -!phiE; move: (E (k, i)); rewrite !ffunE.
by exists c; congr (_, _); rewrite ?WV ?scalerN ?scaleNr //; apply: trmx_inj; rewrite BA linearZ.
Qed.

Lemma rank_independent_columns A V : (2 <= \rank A * \rank V)%N -> independent_rows A^T V.
Proof. by move=> rk; apply: rank_independent; rewrite mxrank_tr. Qed.

(* ---- Lemma A.3 -------------------------------------------------------------------------------- *)

(* B is in the Zariski tangent space at A of the matrices of rank at most a: all matrices at rank
   below a; at rank a those that send the kernel of A into its image. *)
Definition tangent a A B := (\rank A < a)%N \/
  forall (x : 'rV_d) (y : 'cV_d), x *m A = 0 -> A *m y = 0 -> x *m B *m y = 0.

Theorem critical a A V : (2 <= d)%N -> A != 0 -> V != 0 ->
  (exists B W, [/\ tangent a A B, dphi A V (B, W) = 0 & (B, W) \notin <[(A, - V) : pair]>%VS])
  <-> exists (v q : 'rV_d) (h : 'cV_d'), A = v^T *m q /\ V = h *m v.
Proof.
move=> d2 A0 V0; split=> [[B [W [_ zero other]]]|[v [q [h [Aq Vh]]]]].
  have AT0 : A^T != 0 by rewrite -trmx0 (inj_eq trmx_inj).
  have [[v [q [h [Aq Vh]]]]|ind] := one_form_or_independent AT0 V0.
    by exists v, q^T, h; split=> //; apply: trmx_inj; rewrite Aq trmx_mul !trmxK.
  by case/negP: other; rewrite -(kernel ind) memv_ker lfunE /= zero.
have v0 : v != 0 by apply: contraNneq V0 => v0; rewrite Vh v0 mulmx0.
have [b bv] : exists b : 'rV[F]_d, ~~ (b <= v)%MS.
  have : ~~ ((1%:M : 'M[F]_d) <= v)%MS.
    apply: contraL d2 => /mxrankS; rewrite mxrank1 -ltnNge ltnS => /leq_trans; apply.
    exact: rank_leq_row.
  by case/row_subPn=> i hi; exists (row i 1%:M).
have q0 : q != 0 by apply: contraNneq A0 => q0; rewrite Aq q0 mulmx0.
exists (b^T *m q), (- (h *m b)); split.
- right=> x y _; rewrite Aq -mulmxA [q *m y]mx11_scalar mul_mx_scalar => /eqP.
  rewrite scaler_eq0 -[v^T == 0](inj_eq trmx_inj) trmxK trmx0 (negPf v0) orbF => /eqP qy.
  by rewrite -!mulmxA [q *m y]mx11_scalar qy mul_mx_scalar scale0r mulmx0.
- apply/ffunP=> -[k i]; rewrite /dphi /= -scaleN1r phi_ZV scaleN1r Aq Vh.
  rewrite ffunE [(- phi _ _) _]ffunE [RHS]ffunE !phiE !trmx_mul !trmxK !row_rank_one.
  by rewrite !productZl !productZr productC subrr.
apply/negP=> /vlineP [c [E _]]; case/negP: bv; apply/sub_rVP; exists c; apply: trmx_inj.
have free_q : row_free q by rewrite /row_free rank_rV q0.
by apply: (row_free_inj free_q); rewrite E Aq linearZ /= scalemxAl.
Qed.

(* ---- Rank of the differential of (K, Q, V) |-> phi (K^T Q) V ---------------------------------- *)

Lemma dim_pair : \dim (fullv : {vspace pair}) = (d * d + d' * d)%N.
Proof. by rewrite dimvf. Qed.

Lemma pair_neq0 A V : (2 <= \rank A * \rank V)%N -> (A, - V) != 0 :> pair.
Proof. by move=> rk; apply: contraTneq rk => -[-> _]; rewrite mxrank0. Qed.

(* On all matrices A the differential of phi has the rank d^2 + d'd - 1. *)
Lemma rank_dphi A V : (2 <= \rank A * \rank V)%N ->
  \dim (limg (Dphi A V)) = (d * d + d' * d - 1)%N.
Proof.
move=> rk; have ind := rank_independent_columns rk.
rewrite -dim_pair -(limg_ker_dim (Dphi A V) fullv) capfv kernel // dim_vline.
by rewrite pair_neq0 // addKn.
Qed.

Variable a : nat.
Implicit Types (K Q : 'M[F]_(a, d)).

(* phi (K^T Q) V is linear in each of K, Q, V: its differential is given by the product rule. *)
Definition velocity K Q V K' Q' W :=
  phi (K'^T *m Q) V + phi (K^T *m Q') V + phi (K^T *m Q) W.

Definition is_velocity K Q V w := exists K' Q' W, w = velocity K Q V K' Q' W.

Lemma velocityE K Q V K' Q' W :
  velocity K Q V K' Q' W = dphi (K^T *m Q) V (K'^T *m Q + K^T *m Q', W).
Proof. by rewrite /dphi /= -[K'^T *m Q]scale1r phi_linear_A !scale1r. Qed.

(* Forms that are zero on the columns of M, d - a of them independent. *)
Lemma annihilator (M : 'M[F]_(d, a)) : exists N : 'M_(d - a, d), row_free N /\ N *m M = 0.
Proof.
have NM : row_base (kermx M) *m M = 0 by apply/sub_kermxP; rewrite eq_row_base.
exists (pid_mx (d - a) *m row_base (kermx M)); rewrite -mulmxA NM mulmx0; split=> //.
rewrite /row_free mxrankMfree ?row_base_free // rank_pid_mx //.
by rewrite mxrank_ker leq_sub2l // rank_leq_col.
Qed.

(* The condition N B N'^T = 0 on (B, W). *)
Definition cond (N N' : 'M[F]_(d - a, d)) (x : pair) := N *m x.1 *m N'^T.
Lemma cond_linear N N' : linear (cond N N').
Proof. by move=> c x y; rewrite /cond /= mulmxDr mulmxDl -scalemxAr -scalemxAl. Qed.
Canonical cond_lin N N' := Linear (cond_linear N N').
Definition Cond N N' : 'Hom(_, _) := linfun (cond N N').

(* These are (d - a)^2 independent conditions. *)
Lemma dim_cond N N' : row_free N -> row_free N' ->
  \dim (lker (Cond N N')) = (d * d + d' * d - (d - a) * (d - a))%N.
Proof.
move=> /row_freeP [P NP] /row_freeP [P' NP'].
have onto : limg (Cond N N') = fullv.
  apply/vspaceP=> Y; rewrite memvf; apply/memv_imgP.
  exists ((P *m Y *m P'^T, 0) : pair); rewrite ?memvf // lfunE /= /cond /=.
  by rewrite !mulmxA NP mul1mx -mulmxA -trmx_mul NP' trmx1 mulmx1.
have := limg_ker_dim (Cond N N') fullv; rewrite capfv onto dim_pair => <-.
by rewrite dimvf /Vector.dim /= addnK.
Qed.

(* Let N, N' have d - a independent rows each, with N K^T = 0 and N' Q^T = 0.  Every velocity is the
   image of a pair with N B N'^T = 0. *)
Lemma velocities_in_image K Q V (N N' : 'M[F]_(d - a, d)) w : N *m K^T = 0 -> N' *m Q^T = 0 ->
  is_velocity K Q V w -> w \in (Dphi (K^T *m Q) V @: lker (Cond N N'))%VS.
Proof.
move=> NK NQ [K' [Q' [W ->]]]; rewrite velocityE.
have QN : Q *m N'^T = 0 by rewrite -[Q]trmxK -trmx_mul NQ trmx0.
apply/memv_imgP; exists ((K'^T *m Q + K^T *m Q', W) : pair); last by rewrite lfunE.
by rewrite memv_ker lfunE /= /cond /= mulmxDr (mulmxA N K^T) NK mul0mx addr0 -!mulmxA QN !mulmx0.
Qed.

(* The space of these pairs contains (A, -V), which goes to zero: one dimension is lost. *)
Lemma few_velocities K Q V (S : seq (tensor F d d')) : free S -> {in S, forall w, is_velocity K Q V w} ->
  (size S <= d * d + d' * d - (d - a) * (d - a) - 1)%N.
Proof.
move=> /eqP <- HS.
have [N [fN NK]] := annihilator K^T; have [N' [fN' NQ]] := annihilator Q^T.
pose A := K^T *m Q; rewrite -(dim_cond fN fN').
have sub : (<<S>> <= Dphi A V @: lker (Cond N N'))%VS.
  by apply/span_subvP=> w /HS; apply: velocities_in_image.
apply: leq_trans (dimvS sub) _; have [z|nz] := eqVneq ((A, - V) : pair) 0.
  have [A0 V0] : A = 0 /\ V = 0 by case: z => -> /eqP; rewrite oppr_eq0 => /eqP.
  rewrite (_ : (_ @: _)%VS = 0%VS) ?dimv0 //; apply/eqP; rewrite -subv0.
  apply/subvP=> _ /memv_imgP [x _ ->].
  by rewrite lfunE /= /dphi A0 V0 phi_0V phi_A0 addr0 mem0v.
rewrite -(limg_ker_dim (Dphi A V) (lker _)) -addnBAC ?leq_addl // lt0n dimv_eq0.
apply: contraNneq nz => cap0; rewrite -memv0 -cap0 memv_cap !memv_ker Dphi_scaling eqxx andbT.
by rewrite lfunE /= /cond /= mulmxA NK !mul0mx.
Qed.

(* If K and Q have rank a, then N B N'^T = 0 only for B = K'^T Q + K^T Q': the columns of B N'^T are
   combinations of those of K^T, say K^T Z; with N' P' = 1, the rows of B - K^T Z P'^T are zero on
   N'^T, so that they are combinations of those of Q. *)
Lemma pairs_are_velocities K Q (N N' : 'M[F]_(d - a, d)) (B : 'M[F]_d) : row_free K -> row_free Q ->
  row_free N -> row_free N' -> N *m K^T = 0 -> N' *m Q^T = 0 -> N *m B *m N'^T = 0 ->
  exists K' Q', B = K'^T *m Q + K^T *m Q'.
Proof.
move=> fK fQ fN fN' NK NQ NBN.
have inside (M M' : 'M[F]_(d - a, d)) (R : 'M[F]_(a, d)) n (X : 'M[F]_(n, d)) :
    row_free R -> row_free M -> M *m R^T = 0 -> X *m M^T = 0 -> exists Y, X = Y *m R.
  move=> fR fM MR XM; apply/submxP; apply: submx_trans (_ : (kermx M^T <= R)%MS).
    exact/sub_kermxP.
  have sub : (R <= kermx M^T)%MS.
    by apply/sub_kermxP; rewrite -[R]trmxK -trmx_mul MR trmx0.
  by rewrite -(mxrank_leqif_sup sub) mxrank_ker mxrank_tr (eqP fM) (eqP fR) subKn // -(eqP fR) rank_leq_col.
have [Z BZ] : exists Z, (B *m N'^T)^T = Z *m K.
  by apply: (inside N N) => //; rewrite -trmx_mul mulmxA NBN trmx0.
have /row_freeP [P' NP'] := fN'.
have [Y BY] : exists Y, B - K^T *m (Z^T *m P'^T) = Y *m Q.
  apply: (inside N' N') => //; rewrite mulmxBl -!mulmxA -trmx_mul NP' trmx1 mulmx1.
  by rewrite -trmx_mul -BZ trmxK subrr.
by exists Y^T, (Z^T *m P'^T); rewrite trmxK -BY subrK.
Qed.

(* So the bound is attained (for rk A * rk V >= 2 only the line of (A, -V) goes to zero). *)
Lemma all_velocities K Q V : row_free K -> row_free Q -> (2 <= \rank (K^T *m Q) * \rank V)%N ->
  exists S : seq (tensor F d d'), [/\ free S, size S = (d * d + d' * d - (d - a) * (d - a) - 1)%N
                                    & {in S, forall w, is_velocity K Q V w}].
Proof.
move=> fK fQ rk; pose A := K^T *m Q.
have [N [fN NK]] := annihilator K^T; have [N' [fN' NQ]] := annihilator Q^T.
pose image := (Dphi A V @: lker (Cond N N'))%VS.
have dim_image : \dim image = (d * d + d' * d - (d - a) * (d - a) - 1)%N.
  rewrite -(dim_cond fN fN') -(limg_ker_dim (Dphi A V) (lker (Cond N N'))).
  rewrite (kernel (rank_independent_columns rk)).
  have -> : (lker (Cond N N') :&: <[(A, - V) : pair]>)%VS = <[(A, - V) : pair]>%VS.
    apply/capv_idPr; rewrite -memvE memv_ker lfunE /= /cond /=.
    by rewrite mulmxA NK !mul0mx.
  by rewrite dim_vline pair_neq0 // addKn.
exists (vbasis image); split=> [||w /vbasis_mem]; first exact: basis_free (vbasisP image).
  by rewrite size_tuple.
case/memv_imgP=> -[B W] Bcond ->; move: Bcond; rewrite memv_ker lfunE /= /cond /= => /eqP NBN.
have [K' [Q' BE]] := pairs_are_velocities fK fQ fN fN' NK NQ NBN.
by exists K', Q', W; rewrite velocityE lfunE BE.
Qed.
End Differential.
