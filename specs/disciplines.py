"""Which disciplines are declared safe, and for which of them `prove` shows it at every size."""

from __future__ import annotations

from model.language.terms import Term
from model.lifecycle.dials import (
    Device,
    Publish,
    Release,
    device,
    memory_matters,
    preemption,
    publish,
    release,
)

# Freeing blocks at once, and publishing what is only planned, rely on steps that run in the order of their launch.
SAFE: Term = (device == Device.IN_ORDER) | ((release == Release.FENCED) & (publish == Publish.COMPUTED))

# Where running requests may be preempted, there is no dead end; where not, there are.
LIVELY: Term = preemption

# Where the content of memory does not matter: one worker, one stream, blocks fenced, prefixes published when computed.
PLAIN: Term = ~memory_matters

# What is proved at every size. Of memory, that is where prefixes are published when computed; what is published before
# rests on the explored worlds.
COVERED: Term = PLAIN | (publish == Publish.COMPUTED)
