"""The kinds of fault that serving engines show in public reports, as properties and faults name them."""

from __future__ import annotations

OVER_RELEASE = "over-release: a block is given back twice, or counted below the truth"
LEAK = "leak: an end path gives back nothing, or too little"
EARLY_REUSE = "early reuse: memory is released or reused while a step in flight still uses it"
STALE_RESULT = "stale result: what an earlier residency computed is applied to a later one"
COUNTERS = "counters: settled and optimistic progress come apart"
SPLICED_OUTPUT = "spliced output: preemption or resume loses, repeats or splices tokens"
VISIBILITY = "visibility: a cached prefix is visible before it is computed, or after it is gone"
TERMINAL_MESSAGE = "terminal message: none, two, or tokens after it"
ABORT = "abort: a cancel is ignored, acts twice, or undoes a finish"
STUCK = "stuck: a request waits for what will never come"
SELECTION = "selection: a step contains what it must not"
