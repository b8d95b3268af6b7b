"""Policies: who is admitted, given memory and tokens, and preempted, where the rules leave it open.

The rules say what no scheduler may do. A policy chooses among what is left: it only adds guards, so every run under it is a
run of the rules, and every property of states and steps that holds without it holds under it.
"""

from __future__ import annotations

from specs.policies.batches import ORCA, STATIC
from specs.policies.orders import ANY, FCFS, OLDEST_VICTIM, VLLM
from specs.policies.policy import Policy
from specs.properties.liveness import submitted_finishes

POLICIES: tuple[Policy, ...] = (ANY, FCFS, VLLM, OLDEST_VICTIM, ORCA, STATIC)

# Where policies are compared: too little memory for two requests at once, and enough; and one request that never fits.
WORLDS = ("scarce", "ample")
MISFIT = "misfit"
FITS = "admit.fits"

# What is asked only where a policy is chosen.
PROMISED = (submitted_finishes.name,)
