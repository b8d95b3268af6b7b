"""Which disciplines are declared safe: for these, `prove` shows that the properties hold at every size."""

from __future__ import annotations

from model.language.terms import Term
from model.lifecycle.dials import Device, Publish, Release, device, publish, release

# Freeing blocks at once, and publishing what is only planned, rely on steps that run in the order of their launch.
SAFE: Term = (device == Device.IN_ORDER) | ((release == Release.FENCED) & (publish == Publish.COMPUTED))
