(* What the theorems rest on: the build compares what is printed here with "Closed under the global
   context", that is, no axioms and nothing admitted.                                              *)

From Attention Require Import Tensors Fibres Differential Refutation Cases Saddles.

Print Assumptions layer_eq_phi.       (* Lemma A.5 *)
Print Assumptions fibre_zero.         (* Theorem 3.2 *)
Print Assumptions fibre_point.
Print Assumptions fibre_rank_one.
Print Assumptions critical.           (* Lemma A.3 *)
Print Assumptions rank_bound.         (* Corollary 3.3, as a rank *)
Print Assumptions rank_attained.
Print Assumptions singular_functions. (* not Theorem 3.4 (iii) *)
Print Assumptions part_iii_is_false.
Print Assumptions cases_are_refuted.
Print Assumptions balanced_tangents.  (* where training stops *)
Print Assumptions paired_kernels.
Print Assumptions second_order.
