"""The faults, properties and policies there are: the shipped ones, and those that a user keeps in files of their own."""

from __future__ import annotations

import importlib.util
import sys
import traceback
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from checker.verdict import Unusable
from model.language.errors import LanguageError
from model.language.model import Model, nearest
from model.language.properties import Property, Shape
from specs.faults import FAULTS
from specs.faults.fault import Fault
from specs.policies import POLICIES, PROMISED
from specs.policies.policy import Policy
from specs.properties import LIVENESS, PROPERTIES

AS_MODULE = "schedproof_with"  # a user's file is loaded as a module below this name, and shadows nothing


@dataclass(frozen=True)
class Catalogue:
    """Faults, properties and policies by name. `files` are those that a user added.

    The properties of liveness are apart: only a search of its own can judge them, and only where it is asked for.
    """

    faults: tuple[Fault, ...] = FAULTS
    properties: tuple[Property, ...] = PROPERTIES
    files: tuple[Path, ...] = ()
    liveness: tuple[Property, ...] = LIVENESS
    policies: tuple[Policy, ...] = POLICIES

    def fault(self, name: str) -> Fault:
        """The fault of this name. Unusable, with the nearest name, if there is none."""
        for fault in self.faults:
            if fault.name == name:
                return fault
        raise Unusable(f"there is no fault {name}; {nearest(name, [f.name for f in self.faults])}.")

    def policy(self, name: str) -> Policy:
        """The policy of this name. Unusable, with the nearest name, if there is none."""
        for policy in self.policies:
            if policy.name == name:
                return policy
        raise Unusable(f"there is no policy {name}; {nearest(name, [p.name for p in self.policies])}.")

    @property
    def everything(self) -> tuple[Property, ...]:
        """All properties, those of liveness last."""
        return (*self.properties, *self.liveness)

    def promises(self, policy: Policy | None) -> tuple[Property, ...]:
        """The properties of liveness that are asked of the rules alone, or of a policy."""
        return tuple(p for p in self.liveness if policy is not None or p.name not in PROMISED)

    @property
    def options(self) -> list[str]:
        """The command-line options that make it."""
        return [word for file in self.files for word in ("--with", str(file))]


SHIPPED = Catalogue()


def catalogue(model: Model, files: Sequence[Path]) -> Catalogue:
    """The shipped faults, properties and policies, and every one that the files define at their top level.

    The files are Python and are run. Unusable if one cannot be, defines neither, defines a name that is there
    already, or speaks of another model.
    """
    faults, properties, policies = list(FAULTS), [*PROPERTIES, *LIVENESS], list(POLICIES)
    for number, file in enumerate(files):
        module = _load(file, number)
        found = _declared(module)
        if not found:
            raise Unusable(
                f"--with {file}: it defines no fault, property or policy; see `Faults and properties of your own` in the README."
            )
        for one in found:
            _add(model, file, one, faults, properties, policies)
    lively = [p.shape is Shape.LEADS for p in properties]
    safety, liveness = (
        tuple(p for p, so in zip(properties, lively, strict=True) if so is is_) for is_ in (False, True)
    )
    names = [*(p.name for p in safety), *(f"bounds.{f.name}" for f in model.state.fields())]
    for fault in faults:
        if fault.caught_by not in names:
            raise Unusable(
                f"--with: the fault {fault.name} is to be caught by {fault.caught_by}, which is no property; "
                f"{nearest(fault.caught_by, names)}."
            )
    return Catalogue(tuple(faults), safety, tuple(files), liveness, tuple(policies))


def _declared(module: ModuleType) -> list[Fault | Property | Policy]:
    """Those at the top level, by themselves or in a list or tuple; each once, however many names it has."""
    found: list[Fault | Property | Policy] = []
    for value in vars(module).values():
        for one in value if isinstance(value, tuple | list) else (value,):
            if isinstance(one, Fault | Property | Policy) and not any(one is f for f in found):
                found.append(one)
    return found


def _load(file: Path, number: int) -> ModuleType:
    if not file.is_file():
        raise Unusable(f"--with {file}: there is no such file; give the path of a Python file.")
    name = f"{AS_MODULE}.{number}.{file.stem}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise Unusable(f"--with {file}: this is no Python file; give one whose name ends in .py.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module  # annotations of the file's functions are looked up here
    try:
        spec.loader.exec_module(module)
    except LanguageError as error:
        raise Unusable(f"--with {file}: {error}") from None
    except Exception as error:
        lines = [f.lineno for f in traceback.extract_tb(error.__traceback__) if f.filename == str(file)]
        line = getattr(error, "lineno", None) or (lines[-1] if lines else None)
        where = f"{file}, line {line}" if line else str(file)
        raise Unusable(f"--with {where}: {type(error).__name__}: {error}; mend the file there.") from None
    return module


def _add(
    model: Model,
    file: Path,
    one: Fault | Property | Policy,
    faults: list[Fault],
    properties: list[Property],
    policies: list[Policy],
) -> None:
    shipped: list[Fault] | list[Property] | list[Policy] = (
        faults if isinstance(one, Fault) else policies if isinstance(one, Policy) else properties
    )
    if any(one is there for there in shipped):
        return  # imported from the package, to build on
    what = type(one).__name__.lower()
    if any(one.name == there.name for there in shipped):
        raise Unusable(f"--with {file}: there is a {what} {one.name} already; give yours another name.")
    if isinstance(one, Fault):
        faults.append(one)
        return
    if isinstance(one, Policy):
        policies.append(one)
        return
    if one.state is not model.state:
        raise Unusable(
            f"--with {file}: the property {one.name} is about {one.state.__name__}; write {model.state.__name__} there."
        )
    properties.append(one)
