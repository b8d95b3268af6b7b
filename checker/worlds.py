"""Worlds as TOML files: the shipped ones by name, a user's own by path."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from checker.verdict import Unusable
from model.language.model import Model, nearest
from model.readings.world import World, WorldError, world
from specs.properties import PROPERTIES
from specs.worlds import world_files

KEYS = ("about", "normal_forms", "expect", "dials")


@dataclass(frozen=True)
class WorldFile:
    """A world with what its file says about it.

    `normal_forms` is the number of states up to renaming if the file gives it (the tests hold it against two
    searches); `expect` names the properties that the world is there to see violated.
    """

    world: World
    about: str
    normal_forms: int | None
    expect: tuple[str, ...]
    place: str

    @property
    def name(self) -> str:
        return self.world.name


def shipped(model: Model) -> list[WorldFile]:
    """The shipped worlds, the smallest first."""
    found = [_read(model, n, f"specs/worlds/{n}.toml", f.read_bytes()) for n, f in world_files().items()]
    return sorted(found, key=lambda w: w.normal_forms or 0)


def find(model: Model, name: str) -> WorldFile:
    """A shipped world by name, or a TOML file by path (anything with a / or ending in .toml)."""
    files = world_files()
    if name in files:
        return _read(model, name, f"specs/worlds/{name}.toml", files[name].read_bytes())
    if "/" not in name and not name.endswith(".toml"):
        raise Unusable(f"there is no world {name}; {nearest(name, list(files))}, or give the path of a .toml file.")
    path = Path(name)
    try:
        return _read(model, path.stem, name, path.read_bytes())
    except OSError as error:
        raise Unusable(f"{name} cannot be read ({error.strerror}); give the path of a world's .toml file.") from None


def with_dials(model: Model, file: WorldFile, settings: Mapping[str, Any]) -> WorldFile:
    """The world with some dials set otherwise; what its file says of its size and outcome no longer counts."""
    if not settings:
        return file
    for name in settings:
        if name not in file.world.values:
            raise Unusable(f"--set: there is no dial {name}; {nearest(name, [d.name for d in model.dials])}.")
    given = {**_compact(model, file.world), **settings}
    try:
        made = world(model, file.name, given)
    except WorldError as error:
        raise Unusable(f"--set {error.key} in the world {file.name}: {error}") from None
    return replace(file, world=made, normal_forms=None, expect=())


def _compact(model: Model, made: World) -> dict[str, Any]:
    """The world's values with equal lists as one number, so that another number of requests can be set."""
    values = dict(made.values)
    for dial in model.dials:
        if dial.index is not None and len(set(values[dial.name])) == 1:
            values[dial.name] = values[dial.name][0]
    return values


def _read(model: Model, name: str, place: str, content: bytes) -> WorldFile:
    try:
        data = tomllib.loads(content.decode())
    except UnicodeDecodeError:
        raise Unusable(f"{place} is no text; a world is a TOML file in UTF-8.") from None
    except tomllib.TOMLDecodeError as error:
        raise Unusable(f"{place} is no TOML: {error}; mend the file there.") from None
    for key in data:
        if key not in KEYS:
            raise Unusable(f"{place}: the key {key} is unknown; {nearest(key, list(KEYS))}.")
    dials = data.get("dials")
    if not isinstance(dials, dict):
        raise Unusable(f"{place}: the table [dials] is missing; it sets the world's sizes, such as requests = 2.")
    try:
        made = world(model, name, dials)
    except WorldError as error:
        raise Unusable(f"{place}: dials.{error.key}: {error}") from None
    return WorldFile(made, *_remarks(model, place, data), place)


def _remarks(model: Model, place: str, data: Mapping[str, Any]) -> tuple[str, int | None, tuple[str, ...]]:
    about, normal_forms, expect = data.get("about", ""), data.get("normal_forms"), data.get("expect", [])
    if not isinstance(about, str):
        raise Unusable(f"{place}: about is {about!r}; write a sentence in quotes.")
    if normal_forms is not None and (not isinstance(normal_forms, int) or normal_forms < 1):
        raise Unusable(f"{place}: normal_forms is {normal_forms!r}; write the number of states, or leave it out.")
    if not isinstance(expect, list) or not all(isinstance(e, str) for e in expect):
        raise Unusable(f'{place}: expect is {expect!r}; write a list of property names, such as ["rest.no-dead-end"].')
    known = [p.name for p in PROPERTIES]
    for name in expect:
        if name not in known and name not in [f"bounds.{f.name}" for f in model.state.fields()]:
            raise Unusable(f"{place}: expect names {name}, which is no property; {nearest(name, known)}.")
    return about, normal_forms, tuple(expect)
