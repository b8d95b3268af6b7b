"""A small state with a field of every sort, over an index without an order, one with, and none. It means nothing."""

from __future__ import annotations

import enum

from model.language import Index, Range, State, choice, field, flag, number, number_per, scalar, switch, upto


class Who(enum.Enum):
    WORKER = "who does it"


class Colour(enum.Enum):
    RED = 1
    GREEN = 2
    BLUE = 3


class Shape(enum.Enum):
    ROUND = 1
    SQUARE = 2


jobs = number("jobs", "how many jobs there are", low=1)
places = number("places", "how many places there are", low=1, default=2)
top = number("top", "the most a count can be", low=1, default=3)
debt = number("debt", "how far below zero the balance may go", default=0)
strict = switch("strict", "jobs are strict", default=False)
shade = choice("shade", "the shade of everything", default=Colour.RED)


class Job(Index, size=jobs):
    """Jobs are alike."""


class Place(Index, size=places, ordered=True):
    """Places come one after the other."""


class Amount(Range, low=0, high=top):
    """How much of something."""


weight = number_per("weight", Job, "the weight of the job", default=1)
height = number_per("height", Place, "the height of the place", default=1)

DIALS = (jobs, places, top, debt, strict, shade, weight, height)


class Small(State):
    colour = field(Colour, Job, doc="the job's colour")
    busy = field(flag, Job, doc="the job is busy")
    level = field(upto(top), Job, doc="the job's level")

    lit = field(flag, Place, initial=True, doc="the place is lit")
    paint = field(Colour, Place, initial=Colour.GREEN, doc="the place's colour")
    load = field(upto(lambda p, j: top + height[p]), Place, Job, initial=1, doc="what the job has at the place")

    turn = scalar(Colour, initial=Colour.BLUE, doc="whose turn it is")
    open = scalar(flag, doc="the whole is open")
    balance = scalar(upto(top, low=0 - debt), doc="what is left")

    extra = field(upto(top), Job, initial=1, doc="kept for strict jobs only", needs=strict)
