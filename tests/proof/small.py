"""What small models of tests are made of: nodes that are alike, and somebody who acts."""

from __future__ import annotations

import enum

from model.language import Index, number


class Who(enum.Enum):
    WORKER = "who does it"


requests = number("requests", "how many nodes there are", low=1)


class Node(Index, size=requests):
    """Nodes are alike."""
