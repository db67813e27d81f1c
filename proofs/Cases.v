(* Small cases of the refutation, with their numbers.

   A line of [cases] is (d, d', a, r, l): the largest rank r of the differential, and the number l of
   independent lines through a function with rk A < a and rk A * rk V >= 2.  The tests of m2bridge read
   this list too, and compare r with the dimension and l with the tangent dimension that are
   computed for the case.                                                                          *)

From mathcomp Require Import all_ssreflect all_algebra.
From Attention Require Import Tensors Differential Lines Refutation.
Set Implicit Arguments. Unset Strict Implicit. Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Definition case := (nat * nat * nat * nat * nat)%type.

Definition cases : seq case :=
  [:: (3, 2, 2, 13, 14)
    ; (3, 3, 2, 16, 17)
    ; (4, 1, 3, 18, 19)
    ; (4, 2, 2, 19, 23)
    ; (4, 2, 3, 22, 23)
    ; (5, 1, 3, 25, 29)
    ; (5, 2, 4, 33, 34) ]%N.

(* The hypotheses of part_iii_is_false, and its numbers. *)
Definition holds (c : case) := let: (d, d', a, r, l) := c in
  [&& (2 <= a < d), (1 <= d'), (a, d') != (2, 1),
      r == 2 * a * d - a * a + d' * d - 1 & l == d * d + d' * d - 1]%N.

Lemma cases_hold : all holds cases.
Proof. by []. Qed.

(* So part (iii) is false in each of these cases, over every field in which 2 <> 0. *)
Theorem cases_are_refuted (F : fieldType) t : (2%:R : F) != 0 -> (2 <= t)%N ->
  {in cases, forall c, let: (d, d', a, r, l) := c in
    exists (K Q : 'M[F]_(a, d)) (V : 'M[F]_(d', d)), refuted_at_function t K Q V}.
Proof.
move=> two t2 [[[[d d'] a] r] l] /(allP cases_hold) /and5P [ad d'1 ne _ _].
by have [K [Q [V [_ _ refuted]]]] := part_iii_is_false two t2 ad d'1 ne; exists K, Q, V.
Qed.

(* The hypothesis (a, d') <> (2, 1) is needed: there rk A < a gives rk A * rk V <= 1. *)
Lemma no_witness (F : fieldType) d (A : 'M[F]_d) (V : 'M[F]_(1, d)) :
  (\rank A < 2)%N -> (\rank A * \rank V <= 1)%N.
Proof. by rewrite ltnS => rA; apply: (leq_mul rA (rank_leq_row V)). Qed.
