"""The tests of the engine need torch. Without it they are left out, and test_installed.py says so."""

from __future__ import annotations

from checker.replay.reference import available

collect_ignore_glob = [] if available() else ["test_[!i]*.py"]
