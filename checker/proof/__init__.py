"""Proof for every size: induction, counterexamples to it, and bounded symbolic checking."""
