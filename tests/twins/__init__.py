"""Naive twins of the policies and the theory: slow, obvious, and recomputed from the full history.

A policy's twin returns the set of arms its rule allows at round t = len(history) + 1; fast code is
right when the arm it plays is always in that set. Arms are 0-based, pulls and rounds 1-based. N_i
is the pulls of arm i so far, mean_i(h) the mean of its last h rewards, ln the natural logarithm,
and a model is mu(n, theta), n >= 1. The draws of a randomised rule are arguments: the numbers of
this round. "The paper" is Levine, Crammer and Mannor, "Rotting Bandits" (2017).

A twin of the theory sums and searches by brute force, sigma > 0. Every search stops at a limit, and
None means that the answer is not there. Its sums are correctly rounded, so that two models have the
same statistic only if they coincide.

Twins import nothing from `rotting`: what they share is in `common`.
"""
