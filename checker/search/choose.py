"""Which search explores a world: the compiled one where it can be, the python one elsewhere. Both come to the same end."""

from __future__ import annotations

from checker.search.explore import Exploration, explore
from checker.search.kernel import search as kernel
from checker.search.limits import Limits, Observe, unobserved
from checker.verdict import Unusable
from model.readings.python import Machine

SEARCHES = ("auto", "kernel", "python")


class Explorer:
    """Explores worlds by one of SEARCHES; `auto` takes python where the kernel cannot be used, and says why.

    If in `parts`, the code that was compiled for a world is used again for its rules with guards or updates taken away.
    `threads`: as many as there are processors if None.
    """

    def __init__(self, search: str = "auto", parts: bool = False, threads: int | None = None) -> None:
        self.search, self.parts, self.threads = search, parts, threads
        self._codes: dict[bool, kernel.Code] = {}

    def explore(
        self, machine: Machine, reduction: bool = True, limits: Limits = Limits(), observe: Observe = unobserved
    ) -> Exploration:
        """As explore.explore. Raises Unusable if the search asked for cannot be used here."""
        if self.search == "python":
            return explore(machine, reduction, limits, observe)
        try:
            code, parts = self._codes.get(reduction), self.parts
            found = kernel.explore(machine, reduction, limits, observe, code, parts=parts, threads=self.threads)
        except kernel.Unavailable as why:
            if self.search == "kernel":
                raise Unusable(f"--search kernel cannot be used for {machine.world.name}: {why}.") from None
            explored = explore(machine, reduction, limits, observe)
            explored.searched = f"by python, since {why}"
            return explored
        self._codes.setdefault(reduction, found.handle.code)
        return found
