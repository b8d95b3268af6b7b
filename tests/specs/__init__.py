"""Tests of the faults, the properties and the worlds."""
