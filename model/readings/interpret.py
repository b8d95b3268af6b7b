"""The plain interpreter: walks a term as it was declared. Slow, short, and the oracle for the generated readings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from model.language.state import Field
from model.language.terms import Moment, Op, Term, Var
from model.readings.operators import MEANING

if TYPE_CHECKING:
    from model.readings.world import World

# Reads one cell: (field, moment, indices) -> bool, int or Enum member. Past an index's end: the initial value.
Read = Callable[[Field, Moment, tuple[int, ...]], Any]


def no_state(field: Field, moment: Moment, indices: tuple[int, ...]) -> Any:
    raise LookupError(f"{field.name} was read where only dials are known")


def evaluate(term: Term, world: World, env: Mapping[Var, Any] | None = None, read: Read = no_state) -> Any:
    """The term's value: a bool, an int, an Enum member, or the position of an index member."""
    return Interpreter(world, read).value(term, dict(env or {}))


class Interpreter:
    """Evaluates terms in one world with one way of reading fields."""

    def __init__(self, world: World, read: Read) -> None:
        self.world, self.read = world, read

    def value(self, term: Term, env: dict[Var, Any]) -> Any:
        match term.op:
            case Op.CONST:
                return term.data
            case Op.VAR:
                return env[term.data]
            case Op.DIAL:
                return self.world.of(term.data, *(self.value(a, env) for a in term.args))
            case Op.FIELD:
                field, moment = term.data
                return self.read(field, moment, tuple(self.value(a, env) for a in term.args))
            case Op.AND:
                return self.value(term.args[0], env) and self.value(term.args[1], env)
            case Op.OR:
                return self.value(term.args[0], env) or self.value(term.args[1], env)
            case Op.FORALL:
                return all(self.over(term, env))
            case Op.EXISTS:
                return any(self.over(term, env))
            case Op.COUNT | Op.TOTAL:
                return sum(self.over(term, env))
            case Op.BEFORE:
                stop = self.value(term.args[0], env)
                return sum(value for member, value in enumerate(self.over(term, env)) if member < stop)
        return MEANING[term.op](*(self.value(a, env) for a in term.args))

    def over(self, term: Term, env: dict[Var, Any]) -> Any:
        """The body's value for each member of the bound index, in order."""
        size = self.value(term.data.domain.size, {})
        return (self.value(term.args[-1], {**env, term.data: member}) for member in range(size))
