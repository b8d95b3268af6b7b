"""What each plain operator means, as Python. Other readings overlay only what differs for them."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from model.language.terms import Op

MEANING: dict[Op, Callable[..., Any]] = {
    Op.NOT: operator.not_,
    Op.AND: lambda a, b: a and b,
    Op.OR: lambda a, b: a or b,
    Op.IMPLIES: lambda a, b: not a or b,
    Op.ITE: lambda c, a, b: a if c else b,
    Op.EQ: operator.eq,
    Op.NE: operator.ne,
    Op.LT: operator.lt,
    Op.LE: operator.le,
    Op.GT: operator.gt,
    Op.GE: operator.ge,
    Op.ADD: operator.add,
    Op.SUB: operator.sub,
    Op.MUL: operator.mul,
    Op.NEXT: lambda i: i + 1,
}
