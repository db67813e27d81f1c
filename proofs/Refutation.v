(* Part (iii) of Theorem 3.4 of "Geometry of Lightning Self-Attention" (arXiv 2408.17221) is false.

   A layer with weights K, Q (a x d) and V (d' x d) is the function X |-> V X X^T K^T Q X of a d x t
   matrix X (t tokens).  Let X_a be the set of these functions, and A = K^T Q.  Part (iii) says that
   X_a is smooth at the functions with rk A * rk V >= 2.

     part_iii_is_false   if 2 <= a < d, d' >= 1, t >= 2 and (a, d') <> (2, 1), over any field with
                         2 <> 0, there is a function f in X_a with rk A < a and rk A * rk V >= 2
                         such that
       - at least d^2 + d'd - 1 linearly independent functions w are directions of lines f + F w
         inside X_a;
       - nowhere has the differential of (K, Q, V) |-> function a rank larger than
         2ad - a^2 + d'd - 1, which is less than d^2 + d'd - 1.

     singular_functions  it is so at every f with rk A < a and rk A * rk V >= 2.

     rank_attained       the number 2ad - a^2 + d'd - 1 is the rank of the differential at every
                         (K, Q, V) with K, Q of rank a and rk A * rk V >= 2; so it is the largest
                         one (Corollary 3.3, as a rank), and there are no more tangent vectors of
                         the parametrization than this where part (iii) holds.

   Left to paper: over R or C, lines inside X_a bound the dimension of the tangent space at f from
   below, the largest rank of the differential is the dimension of X_a, and a point whose tangent
   space is larger than that is singular.
   In words: docs/mathematics.md, "The singular locus".                                            *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Forms Tensors Differential Lines.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

(* ---- For tensors ------------------------------------------------------------------------------ *)
Section ForTensors.
Variables (F : fieldType) (d d' a : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types (A : 'M[F]_d) (V : 'M[F]_(d', d)).

(* Two ways to write the dimension of the matrices of rank at most a. *)
Lemma determinantal_dimension : (a <= d)%N ->
  (d * d + d' * d - (d - a) * (d - a) = 2 * a * d - a * a + d' * d)%N.
Proof.
move=> ad; rewrite -addnBAC; last by rewrite leq_mul // leq_subr.
rewrite !mulnn subn_sqr subKn // addnBA // mulnBr addnn.
by rewrite -mul2n mulnn mulnCA mulnA.
Qed.

Definition refuted_at A V :=
  [/\ (* many independent directions of lines through phi A V inside X_a *)
      exists S : seq (tensor F d d'), [/\ free S, (d * d + d' * d - 1 <= size S)%N
                                        & {in S, forall w, line_direction a (phi A V) w}],
      (* nowhere so many independent velocities *)
      forall (K Q : 'M[F]_(a, d)) V' (S : seq (tensor F d d')), free S ->
        {in S, forall w, is_velocity K Q V' w} ->
        (size S <= 2 * a * d - a * a + d' * d - 1)%N
    & (2 * a * d - a * a + d' * d - 1 < d * d + d' * d - 1)%N].

Theorem singular_points A V : (a < d)%N ->
  (\rank A < a)%N -> (2 <= \rank A * \rank V)%N -> refuted_at A V.
Proof.
move=> ad rA rk; have E := determinantal_dimension (ltnW ad).
split=> [|K Q V' S|]; first exact: many_lines; rewrite -E; first exact: few_velocities.
have X2 : (2 <= d * d + d' * d)%N.
  apply: leq_trans rk (leq_trans _ (leq_addr _ _)).
  by apply: leq_mul; apply: rank_leq_col.
by rewrite ltn_sub2r // ltn_subrL muln_gt0 andbb subn_gt0 ad ltnW.
Qed.

(* There are such points. *)
Lemma witnesses : (2 <= a < d)%N -> (1 <= d')%N -> (a, d') != (2, 1)%N ->
  exists A V, (\rank A < a)%N /\ (2 <= \rank A * \rank V)%N.
Proof.
move=> /andP [a2 ad] d'1 ne; have d2 : (2 <= d)%N by rewrite (leq_trans a2) // ltnW.
have [d'2|d'2] := leqP 2 d'.
  by exists (pid_mx 1), (pid_mx 2); rewrite !rank_pid_mx // ltnW.
exists (pid_mx 2), (pid_mx 1); rewrite !rank_pid_mx ?(ltnW d2) //; split=> //.
rewrite ltn_neqAle a2 andbT; apply: contra ne => /eqP <-.
by rewrite xpair_eqE eqxx eqn_leq d'1 andbT -ltnS.
Qed.
End ForTensors.

(* ---- For functions ---------------------------------------------------------------------------- *)
Section ForFunctions.
Variables (F : fieldType) (d d' t a : nat).
Hypothesis two : (2%:R : F) != 0.
Hypothesis t2 : (2 <= t)%N.
Implicit Types (A : 'M[F]_d) (V W : 'M[F]_(d', d)) (K Q : 'M[F]_(a, d)).

Notation fn := ('M[F]_(d, t) -> 'M[F]_(d', t)).

Definition independent n (w : 'I_n -> fn) := forall c : 'I_n -> F,
  (forall X, \sum_i c i *: w i X = 0) -> forall i, c i = 0.

(* f + s w is for every s the function of a layer. *)
Definition line_of_layers (f w : fn) :=
  forall s, exists K Q V, forall X, f X + s *: w X = attention K Q V X.

(* w is in the image of the differential of (K, Q, V) |-> attention K Q V. *)
Definition derivative K Q V (w : fn) := exists K' Q' W, forall X,
  w X = attention K' Q V X + attention K Q' V X + attention K Q W X.

Lemma attentionE K Q V (X : 'M[F]_(d, t)) :
  attention K Q V X = 2%:R^-1 *: eval (phi (K^T *m Q) V) X.
Proof. by rewrite attention_layer layerE. Qed.

(* Independent symmetric tensors are independent functions. *)
Lemma independent_eval (S : seq (tensor F d d')) :
  free S -> (forall x, x \in S -> symmetric x) ->
  independent (fun (i : 'I_(size S)) (X : 'M[F]_(d, t)) => 2%:R^-1 *: eval S`_i X).
Proof.
move=> frS symS c Hc; apply: (elimT (@freeP _ _ _ (in_tuple S)) frS c).
apply: (eval_injective two t2) => [ki|X].
  rewrite sum_ffunE linear_sum; apply: eq_bigr => i _; rewrite ffunE linearZ /=.
  by rewrite symS ?mem_nth // ltn_ord.
by apply: (scalerI (invr_neq0 two)); rewrite scaler0 -eval_sum.
Qed.

(* Independent derivatives are images of independent velocities. *)
Lemma derivatives_velocities K Q V n (w : 'I_n -> fn) : independent w ->
  (forall i, derivative K Q V (w i)) ->
  exists S : seq (tensor F d d'), [/\ free S, size S = n & {in S, forall x, is_velocity K Q V x}].
Proof.
move=> ind /fin_all_exists [K' /fin_all_exists [Q' /fin_all_exists [W Hw]]].
pose S := [tuple velocity K Q V (K' i) (Q' i) (W i) | i < n].
exists S; split; last by move=> _ /mapP [i _ ->]; exists (K' i), (Q' i), (W i).
  apply/freeP=> c Hc; apply: ind => X.
  have := eval_sum c (fun i => S`_i) X; rewrite Hc eval0 scaler0; apply: etrans.
  apply: eq_bigr => i _.
  by rewrite Hw !attentionE -!scalerDr -!evalD nth_mktuple /velocity.
by rewrite size_tuple.
Qed.

(* The rank of the differential, everywhere ... *)
Theorem rank_bound K Q V n (w : 'I_n -> fn) : (a <= d)%N ->
  independent w -> (forall i, derivative K Q V (w i)) ->
  (n <= 2 * a * d - a * a + d' * d - 1)%N.
Proof.
move=> ad ind /(derivatives_velocities ind) [S [frS <- HS]].
by rewrite -(determinantal_dimension d' ad); apply: few_velocities HS.
Qed.

(* ... is attained where K and Q have rank a. *)
Theorem rank_attained K Q V : row_free K -> row_free Q ->
  (2 <= \rank (K^T *m Q) * \rank V)%N ->
  exists w : 'I_(2 * a * d - a * a + d' * d - 1) -> fn,
    independent w /\ forall i, derivative K Q V (w i).
Proof.
move=> fK fQ rk; have ad : (a <= d)%N by rewrite -(eqP fK) rank_leq_col.
rewrite -(determinantal_dimension d' ad).
have [S [frS <- HS]] := all_velocities two fK fQ rk.
exists (fun i X => 2%:R^-1 *: eval S`_i X); split=> [|i].
  apply: independent_eval => // x /HS [K' [Q' [W ->]]].
  by do 2?[apply: symmetricD]; apply: phi_symmetric.
have [K' [Q' [W E]]] := HS _ (mem_nth 0 (ltn_ord i)); exists K', Q', W => X.
by rewrite !attentionE -!scalerDr -!evalD E.
Qed.

Definition refuted_at_function K Q V :=
  [/\ (* many independent directions of lines *)
      exists N (w : 'I_N -> fn), [/\ (d * d + d' * d - 1 <= N)%N, independent w
                                   & forall i, line_of_layers (attention K Q V) (w i)],
      (* the rank of the differential, everywhere *)
      forall K Q V n (w : 'I_n -> fn), independent w -> (forall i, derivative K Q V (w i)) ->
        (n <= 2 * a * d - a * a + d' * d - 1)%N
    & (2 * a * d - a * a + d' * d - 1 < d * d + d' * d - 1)%N].

Theorem singular_functions K Q V : (a < d)%N ->
  (\rank (K^T *m Q) < a)%N -> (2 <= \rank (K^T *m Q) * \rank V)%N -> refuted_at_function K Q V.
Proof.
move=> ad rA rk; have [[S [frS szS lineS]] _ lt] := singular_points two ad rA rk.
split=> // [|K1 Q1 V1 n w]; last exact/rank_bound/ltnW.
exists (size S), (fun i X => 2%:R^-1 *: eval S`_i X); split=> // [|i s].
  apply: independent_eval => // x /lineS /(_ 1) [K1 [Q1 [V1]]].
  rewrite scale1r addrC => /eqP; rewrite eq_sym -subr_eq => /eqP <-.
  by rewrite addrC -scaleN1r; apply: symmetric_linear; apply: phi_symmetric.
have [K1 [Q1 [V1 E]]] := lineS _ (mem_nth 0 (ltn_ord i)) s; exists K1, Q1, V1 => X.
rewrite !attentionE -E [phi _ V + _]addrC eval_linear scalerDr addrC; congr (_ + _).
by rewrite !scalerA mulrC.
Qed.

Theorem part_iii_is_false : (2 <= a < d)%N -> (1 <= d')%N -> (a, d') != (2, 1)%N ->
  exists K Q V, [/\ (\rank (K^T *m Q) < a)%N, (2 <= \rank (K^T *m Q) * \rank V)%N
                  & refuted_at_function K Q V].
Proof.
move=> ad d'1 ne; have [A [V [rA rk]]] := witnesses F ad d'1 ne.
have [K [Q AE]] := factor (ltnW rA); have /andP [_ a_d] := ad.
by exists K, Q, V; split; [| | apply: singular_functions]; rewrite -?AE.
Qed.
End ForFunctions.
