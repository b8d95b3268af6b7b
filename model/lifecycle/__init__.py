"""The request lifecycle of an LLM serving engine: its state, its dials and its rules, one file per actor."""

from __future__ import annotations

from model.language.model import forget, model
from model.lifecycle.client import cancel, deliver, submit
from model.lifecycle.content import remembered
from model.lifecycle.dials import DIALS, REQUIREMENTS
from model.lifecycle.engine import (
    notify,
    publish,
    recycle,
    retire_chunk,
    retire_late_length,
    retire_late_stop,
    retire_late_token,
    retire_length,
    retire_stale,
    retire_stop,
    retire_token,
)
from model.lifecycle.memory import release
from model.lifecycle.scheduler import abort, acquire, admit, hit, launch, preempt, reject, select
from model.lifecycle.state import Lifecycle
from model.lifecycle.worker import execute

LIFECYCLE = model(
    "lifecycle",
    Lifecycle,
    DIALS,
    (
        submit,
        cancel,
        deliver,
        reject,
        admit,
        hit,
        acquire,
        select,
        preempt,
        abort,
        launch,
        execute,
        retire_chunk,
        retire_token,
        retire_stop,
        retire_length,
        retire_stale,
        retire_late_token,
        retire_late_stop,
        retire_late_length,
        recycle,
        publish,
        notify,
        release,
    ),
    REQUIREMENTS,
    (
        forget(
            (Lifecycle.text_prefix, Lifecycle.text_family, Lifecycle.text_own, Lifecycle.valid),
            remembered,
            "what a block holds matters only while somebody may read it; whoever takes it next writes it from the start",
        ),
    ),
)
