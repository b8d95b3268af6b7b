"""How an engine is set up, and what a client submits to it."""

from __future__ import annotations

from dataclasses import dataclass

VOCABULARY = 96
LONGEST = 4096  # positions there are
PADDING = 0  # what stands where no token is known; no prompt holds it, and none is sampled

# The disciplines in which engines differ, each with the values it may have. The first is the cautious one.
CHOICES = {
    "release": ("fenced", "ordered"),  # blocks return after the steps that use them, or at once
    "device": ("in_order", "unordered"),  # steps run as launched, or only each request's own in order
    "publish": ("computed", "ordered"),  # a block is visible when its tokens are settled, or when they are planned
    "late_result": ("drop", "commit"),  # of a token whose request was preempted meanwhile
    "cache": ("prefix", "all"),  # blocks of the shared prefix are cached, or every full block
}


@dataclass(frozen=True)
class Config:
    """Sizes and disciplines. ValueError if a size is below 1, or a discipline unknown.

    `blocks` of `block_size` tokens are the pool; a step has at most `budget` tokens, `seats` requests run at once, and
    `depth` steps are in flight. `prefix` is how many tokens at the beginning of a prompt belong to its family.
    """

    blocks: int
    block_size: int
    budget: int
    seats: int
    depth: int = 1
    workers: int = 1
    mixed: bool = True
    overrun: bool = False
    sharing: bool = False
    prefix: int = 0
    release: str = "fenced"
    device: str = "in_order"
    publish: str = "computed"
    late_result: str = "drop"
    cache: str = "prefix"

    def __post_init__(self) -> None:
        for name in ("blocks", "block_size", "budget", "seats", "depth", "workers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} is {getattr(self, name)}, but must be at least 1")
        for name, values in CHOICES.items():
            if getattr(self, name) not in values:
                raise ValueError(f"{name} is {getattr(self, name)!r}, but must be one of {', '.join(values)}")


@dataclass(frozen=True)
class Submission:
    """A request as its client submits it.

    The text ends with a token of `stop` or after `limit` tokens. Sampling is greedy if `temperature` is 0; else it is seeded
    by `seed` and the position, so that a position sampled again gives the same token. `family` is whose prefix it begins with.
    """

    prompt: tuple[int, ...]
    limit: int
    stop: frozenset[int] = frozenset()
    temperature: float = 0.0
    seed: int = 0
    family: int = 0

    def __post_init__(self) -> None:
        if not self.prompt:
            raise ValueError("the prompt is empty; give at least one token")
        if any(not 0 < token < VOCABULARY for token in self.prompt):
            raise ValueError(f"the prompt has a token that is not from 1 to {VOCABULARY - 1}")
        if len(self.prompt) + self.limit > LONGEST:
            raise ValueError(
                f"prompt and limit are {len(self.prompt) + self.limit} tokens together; at most {LONGEST} fit"
            )
        if self.limit < 1:
            raise ValueError(f"limit is {self.limit}, but must be at least 1")

    @property
    def life(self) -> int:
        """Tokens whose KV can ever be needed: the last output token is never fed back."""
        return len(self.prompt) + self.limit - 1
