(* Lines inside the image, and tangent vectors.

   X_a is the set of the tensors phi (K^T Q) V of weights K, Q (a x d) and V (d' x d).  At a matrix A
   of rank below a, A may move along every matrix B of rank one and stay of rank at most a, and V may
   move along every W.  So the lines of directions phi B V and phi A W lie in X_a, and since matrices
   of rank one span all matrices, they span the image of the differential on all pairs (B, W):

     many_lines       at (A, V) with rk A < a and rk A * rk V >= 2 at least d^2 + d'd - 1 linearly
                      independent directions are those of lines inside X_a.

   In words: docs/mathematics.md, "The singular locus".                                            *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Forms Tensors Differential.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section Lines.
Variables (F : fieldType) (d d' a : nat).
Hypothesis two : (2%:R : F) != 0.
Implicit Types (A B : 'M[F]_d) (V W : 'M[F]_(d', d)) (K Q : 'M[F]_(a, d)).

Definition in_Xa (x : tensor F d d') := exists K Q V, x = phi (K^T *m Q) V.
Definition line_direction (x w : tensor F d d') := forall s : F, in_Xa (x + s *: w).

(* A matrix of rank at most a is a product K^T Q. *)
Lemma factor A : (\rank A <= a)%N -> exists K Q, A = K^T *m Q.
Proof.
move=> rA; exists ((col_base A *m pid_mx (\rank A))^T), (pid_mx (\rank A) *m row_base A).
by rewrite trmxK -mulmxA (mulmxA (pid_mx _)) pid_mx_id // pid_mx_1 mul1mx mulmx_base.
Qed.

(* The rank of A + s B is at most rk A + rk B. *)
Lemma line_A A B V : (\rank A < a)%N -> (\rank B <= 1)%N -> line_direction (phi A V) (phi B V).
Proof.
move=> rA rB s; rewrite addrC -phi_linear_A.
have [|K [Q ->]] := @factor (s *: B + A); last by exists K, Q, V.
rewrite (leq_trans (mxrank_add _ _)) // (leq_trans _ rA) // -add1n leq_add2r.
by rewrite (leq_trans (mxrank_scale _ _)).
Qed.

Lemma line_V A V W : (\rank A <= a)%N -> line_direction (phi A V) (phi A W).
Proof.
move=> rA s; rewrite addrC -phi_linear_V; have [K [Q ->]] := factor rA.
by exists K, Q, (s *: W + V).
Qed.

(* A linear statement about all matrices has to be checked for the matrix units. *)
Lemma matrix_units m n (P : 'M[F]_(m, n) -> Prop) :
  P 0 -> (forall c X Y, P X -> P Y -> P (c *: X + Y)) ->
  (forall i j, P (delta_mx i j)) -> forall X, P X.
Proof.
move=> P0 PD Pd X; rewrite [X]matrix_sum_delta pair_big /=.
by elim/big_rec: _ => // ij Y _ PY; apply: PD.
Qed.

(* A list of vectors contains a basis of its span. *)
Lemma basis_inside (vT : vectType F) (S : seq vT) :
  exists T, [/\ {subset T <= S}, free T & <<T>>%VS = <<S>>%VS].
Proof.
elim: S => [|v S [T [sub fr sp]]]; first by exists [::]; split=> //; apply: nil_free.
have sub' w : w \in T -> w \in v :: S by move/sub; rewrite inE => ->; rewrite orbT.
have [hv|hv] := boolP (v \in <<S>>%VS).
  by exists T; split=> //; rewrite span_cons sp; apply/esym/addv_idPr; rewrite -memvE.
exists (v :: T); split; rewrite ?free_cons ?span_cons ?sp ?hv // => w.
by rewrite inE => /predU1P [->|/sub' //]; apply: mem_head.
Qed.

Lemma many_lines A V : (\rank A < a)%N -> (2 <= \rank A * \rank V)%N ->
  exists S : seq (tensor F d d'), [/\ free S, (d * d + d' * d - 1 <= size S)%N
                                    & {in S, forall w, line_direction (phi A V) w}].
Proof.
move=> rA rk.
pose SA := [seq phi (delta_mx ij.1 ij.2) V | ij <- enum {: 'I_d * 'I_d}].
pose SV := [seq phi A (delta_mx ij.1 ij.2) | ij <- enum {: 'I_d' * 'I_d}].
have [S [sub fr sp]] := basis_inside (SA ++ SV); exists S; split=> // [|w /sub]; last first.
  rewrite mem_cat => /orP [] /mapP [ij _ ->]; first by apply: line_A; rewrite ?mxrank_delta.
  exact/line_V/ltnW.
rewrite -(eqP fr) sp -(rank_dphi two rk); apply/dimvS/subvP=> _ /memv_imgP [[B W] _ ->].
rewrite lfunE /= /dphi /= memvD //.
  move: B; apply: matrix_units => [|c X Y hX hY|i j]; first by rewrite phi_0V mem0v.
    by rewrite phi_linear_A memvD // memvZ.
  apply/memv_span; rewrite mem_cat; apply/orP/or_introl/mapP.
  by exists (i, j); rewrite ?mem_enum.
move: W; apply: matrix_units => [|c X Y hX hY|i j]; first by rewrite phi_A0 mem0v.
  by rewrite phi_linear_V memvD // memvZ.
apply/memv_span; rewrite mem_cat; apply/orP/or_intror/mapP.
by exists (i, j); rewrite ?mem_enum.
Qed.
End Lines.
