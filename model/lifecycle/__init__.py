"""The request lifecycle of an LLM serving engine: its state, its dials and its rules, one file per actor."""

from __future__ import annotations

from model.language.model import model
from model.lifecycle.client import cancel, deliver, submit
from model.lifecycle.dials import DIALS
from model.lifecycle.engine import (
    notify,
    recycle,
    retire_chunk,
    retire_length,
    retire_stale,
    retire_stop,
    retire_token,
)
from model.lifecycle.memory import release
from model.lifecycle.scheduler import abort, acquire, admit, launch, preempt, reject, select
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
        recycle,
        notify,
        release,
    ),
)
