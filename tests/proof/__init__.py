"""Proof at any size, against the interpreter, the explorer and another solver."""
