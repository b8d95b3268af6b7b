"""A declared two-state chain with exact probabilities: an illustration of a transition, and no model of a scheduler."""

from __future__ import annotations

from model.markov.chain import Chain, NotAProbability, probability

__all__ = ["Chain", "NotAProbability", "probability"]
