"""How a state of the engine is kept: as one pickle, without what no state changes.

Nobody can change what is kept, and equal pickles are equal states. What nothing changes (configurations, the hash
function) stays outside and is shared. This takes a third of the time of copy.deepcopy.
"""

from __future__ import annotations

import copyreg
import io
import pickle
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driven import Driven

_shared: list[Any] = []
_places: dict[int, int] = {}
_reducers = copyreg.dispatch_table.copy()


def shared(place: int) -> Any:
    """The shared object in this place; a pickle holds only the number."""
    return _shared[place]


def _reduce_shared(each: Any) -> tuple[Any, ...]:
    return shared, (_places[id(each)],)


def share(*objects: Any) -> None:
    """Leave these out of pickles. It goes by class: every object of such a class must be shared, or pickling fails."""
    for each in objects:
        _places[id(each)] = len(_shared)
        _shared.append(each)
        _reducers[type(each)] = _reduce_shared


def freeze(driven: Driven) -> bytes:
    """The whole state, to go on from any number of times."""
    buffer = io.BytesIO()
    pickler = pickle.Pickler(buffer, pickle.HIGHEST_PROTOCOL)
    pickler.dispatch_table = _reducers
    pickler.dump(driven)
    return buffer.getvalue()


def thaw(frozen: bytes) -> Driven:
    return pickle.loads(frozen)  # noqa: S301 - our own bytes, which never leave this process
