"""Objects from the nodes of a state: built without a constructor, from a table of classes alone."""

from __future__ import annotations

import base64
import binascii
import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from costboost.errors import ModelFileError
from costboost.files import arrays, boosters, parts, sklearn_tree
from costboost.files.checks import CHECKS
from costboost.files.registry import LATER, class_of, function_of

__all__ = ["Decoder"]

_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Decoder:
    """Rebuilds a state from nodes and members."""

    def __init__(self, members: Mapping[str, bytes], trusted: frozenset[str]) -> None:
        self._members = members
        self._trusted = trusted
        self._built: list[Any] = []
        self._used: set[str] = set()

    def table(self, nodes: Any) -> list[Any]:
        """The objects of all nodes."""
        if not isinstance(nodes, list):
            raise ModelFileError("state.json must have a list of nodes.")
        for number, node in enumerate(nodes):
            self._built.append(self._object(node, f"Node {number} of state.json"))
        unused = sorted(set(self._members) - self._used - {"state.json"})
        if unused:
            raise ModelFileError(f"Member {unused[0]} belongs to no node of state.json.")
        return self._built

    def _take(self, name: Any, folder: str, where: str) -> bytes:
        if not isinstance(name, str) or not name.startswith(f"{folder}/"):
            raise ModelFileError(f"{where} must name a member in {folder}/; got {name!r:.60}.")
        if name not in self._members or name in self._used:
            raise ModelFileError(f"{where} names {name}, which is missing or used twice.")
        self._used.add(name)
        return self._members[name]

    # -- values ---------------------------------------------------------------------------------

    def value(self, value: Any, where: str) -> Any:
        """A value from its form inside a node."""
        if value is None or type(value) in (bool, str, int, float):
            return value
        if not isinstance(value, dict) or len(value) != 1:
            raise ModelFileError(f"{where} has the value {value!r:.60}, which is not allowed.")
        [(kind, content)] = value.items()
        if kind == "ref":
            if type(content) is not int or not 0 <= content < len(self._built):
                raise ModelFileError(
                    f"{where} refers to node {content!r:.20}; only earlier nodes exist for it."
                )
            return self._built[content]
        if kind == "float" and content in _NON_FINITE:
            return _NON_FINITE[content]
        if kind == "bytes" and isinstance(content, str):
            try:
                return base64.b64decode(content, validate=True)
            except (binascii.Error, ValueError) as error:
                raise ModelFileError(f"{where} has bytes that are not base64.") from error
        if kind == "scalar":
            scalar = arrays.outline(content, where)
            if scalar.ndim == 0:
                return scalar[()]
        if kind == "type" and content in _NUMPY_TYPES:
            return _NUMPY_TYPES[content]
        if kind == "function" and isinstance(content, str) and function_of(content) is not None:
            return function_of(content)
        raise ModelFileError(f"{where} has the value {value!r:.60}, which is not allowed.")

    def _values(self, items: Any, where: str) -> list[Any]:
        if not isinstance(items, list):
            raise ModelFileError(f"{where} must be a list; got {items!r:.60}.")
        return [self.value(item, where) for item in items]

    def _pairs(self, items: Any, where: str) -> dict[Any, Any]:
        if not isinstance(items, list) or not all(
            isinstance(item, list) and len(item) == 2 for item in items
        ):
            raise ModelFileError(f"{where} must be a list of pairs; got {items!r:.60}.")
        try:
            found = {self.value(key, where): self.value(item, where) for key, item in items}
        except TypeError as error:
            raise ModelFileError(f"{where} has a key that cannot be one: {error}") from error
        if len(found) != len(items):
            raise ModelFileError(f"{where} has a key twice.")
        parts.check_threads(found, where)
        return found

    # -- nodes ----------------------------------------------------------------------------------

    def _object(self, node: Any, where: str) -> Any:
        if not isinstance(node, dict):
            raise ModelFileError(f"{where} must be an object; got {node!r:.60}.")
        build = _BUILDERS.get(frozenset(node))
        if build is None:
            raise ModelFileError(f"{where} has the unknown keys {sorted(node)!r:.80}.")
        return build(self, node, where)

    def _sequence(self, node: Any, where: str) -> Any:
        [(kind, items)] = node.items()
        make: Callable[[list[Any]], Any] = _SEQUENCES[kind]
        try:
            return make(self._values(items, where))
        except TypeError as error:
            raise ModelFileError(f"{where} has an item that a {kind} cannot hold.") from error

    def _dict(self, node: Any, where: str) -> Any:
        return self._pairs(node["dict"], where)

    def _inline(self, node: Any, where: str) -> Any:
        return arrays.outline(node["array"], where)

    def _npy(self, node: Any, where: str) -> Any:
        data = self._take(node["member"], "arrays", where)
        return arrays.array_from_npy(data, f"Member {node['member']}")

    def _objects(self, node: Any, where: str) -> Any:
        items, shape = self._values(node["objects"], where), node["shape"]
        fine = isinstance(shape, list) and all(type(n) is int and n >= 0 for n in shape)
        if not fine or len(shape) > 8 or math.prod(shape) != len(items):
            raise ModelFileError(f"{where} has {len(items)} items for the shape {shape!r:.60}.")
        flat = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            flat[i] = item
        return flat.reshape(shape)

    def _random(self, node: Any, where: str) -> Any:
        state = self._pairs(node["random"], where)
        inner: Any = state.get("state")
        inner = inner if isinstance(inner, dict) else {}
        key = inner.get("key")
        fine = (
            state.get("bit_generator") == "MT19937"
            and isinstance(key, np.ndarray)
            and key.dtype == np.uint32
            and key.shape == (624,)
            and type(inner.get("pos")) is int
            and 0 <= inner["pos"] <= 624
        )
        if not fine:
            raise ModelFileError(f"{where} is not the state of a random number generator.")
        generator = np.random.RandomState()
        try:
            generator.set_state(state)
        except (TypeError, ValueError, KeyError) as error:
            raise ModelFileError(f"{where} is not the state of a generator: {error}") from error
        return generator

    def _booster(self, node: Any, where: str) -> Any:
        engine = node["booster"]
        if engine not in boosters.ENDINGS:
            raise ModelFileError(f"{where} has a booster of the unknown engine {engine!r:.40}.")
        data = self._take(node["member"], "boosters", where)
        extra = self.value(node["extra"], where)
        return boosters.load(engine, data, extra, f"Member {node['member']}")

    def _tree(self, node: Any, where: str) -> Any:
        state = self.value(node["tree"], where)
        if not isinstance(state, dict):
            raise ModelFileError(f"{where} must have the fields of a tree.")
        return sklearn_tree.load(state, where)

    def _frame(self, node: Any, where: str) -> Any:
        content = self._values(node["frame"], where)
        if len(content) != 3 or not all(isinstance(item, list) for item in content):
            raise ModelFileError(f"{where} must have index, names and columns.")
        import pandas as pd

        index, names, columns = content
        if len(names) != len(columns) or not all(
            isinstance(c, np.ndarray) and c.shape == (len(index),) for c in columns
        ):
            raise ModelFileError(f"{where} has columns that do not fit its index.")
        frame = pd.DataFrame(dict(enumerate(columns)), index=index)
        frame.columns = pd.Index(names)
        return frame

    def _part(self, node: Any, where: str) -> Any:
        data = self._take(node["part"], "sklearn", where)
        value = parts.load(data, node["types"], self._trusted, f"Member {node['part']}")
        if not isinstance(node["inside"], list):
            raise ModelFileError(f"{where} must list what is inside.")
        for item in node["inside"]:
            if not isinstance(item, list) or len(item) != 2:
                raise ModelFileError(f"{where} must list ways and values.")
            parts.put(value, item[0], self.value(item[1], where), where)
        return value

    def _registered(self, node: Any, where: str) -> Any:
        name, state = node["object"], node["state"]
        cls = class_of(name) if isinstance(name, str) else None
        if cls is None:
            raise ModelFileError(f"{where} is of the class {name!r:.60}, which files do not hold.")
        built: Any
        if issubclass(cls, tuple):
            items = self._values(state, where)
            if hasattr(cls, "_fields") and len(items) != len(cls._fields):
                raise ModelFileError(f"{where}: {name} has {len(cls._fields)} fields.")
            built = tuple.__new__(cls, items)
        else:
            if not isinstance(state, dict):
                raise ModelFileError(f"{where}: the state of {name} must be an object.")
            _check_names(cls, state, where)
            built = cls.__new__(cls)
            attributes = {key: self.value(item, f"{where}, {key}") for key, item in state.items()}
            parts.check_threads(attributes, f"{where}: {name}")
            vars(built).update(_later(cls, state) | attributes)
        check = CHECKS.get(name)
        if check is not None:
            try:
                check(built)
            except (ValueError, TypeError, AttributeError) as error:
                raise ModelFileError(f"{where}: {name}: {error}.") from error
        return built


def _check_names(cls: type, state: Mapping[str, Any], where: str) -> None:
    """Attributes may not hide methods, and parameters or fields must be complete."""
    for name in state:
        hides = callable(getattr(cls, name, None)) or isinstance(
            getattr(cls, name, None), (property, cached_property, staticmethod, classmethod)
        )
        if not name.isidentifier() or name.startswith("__") or hides:
            raise ModelFileError(f"{where}: {cls.__name__} can have no attribute {name!r:.60}.")
    if dataclasses.is_dataclass(cls):
        needed = {field.name for field in dataclasses.fields(cls)}
        odd = sorted((set(state) ^ needed) - set(_later(cls, state)))
        if odd:
            raise ModelFileError(f"{where}: {cls.__name__} lacks, or cannot have, {odd[0]!r:.60}.")
    elif hasattr(cls, "_get_param_names"):
        missing = sorted(set(_parameters(cls)) - set(state) - set(_later(cls, state)))
        if missing:
            raise ModelFileError(f"{where}: {cls.__name__} lacks its parameter {missing[0]!r}.")


def _parameters(cls: Any) -> list[str]:
    return list(cls._get_param_names())


def _later(cls: type, state: Mapping[str, Any]) -> dict[str, Any]:
    """The defaults of what the class did not have when the file was written."""
    names = LATER.get(cls.__name__, frozenset()) - set(state)
    known = inspect.signature(cls).parameters if names else {}
    return {name: known[name].default for name in sorted(names)}


_NUMPY_TYPES = {
    np.dtype(kind).name: np.dtype(kind).type
    for kind in ("b1", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8")
}
_SEQUENCES: dict[str, Callable[[list[Any]], Any]] = {
    "list": list,
    "tuple": tuple,
    "set": set,
    "frozenset": frozenset,
}
_BUILDERS: dict[frozenset[str], Callable[[Decoder, Any, str], Any]] = {
    **{frozenset([kind]): Decoder._sequence for kind in _SEQUENCES},
    frozenset(["dict"]): Decoder._dict,
    frozenset(["array"]): Decoder._inline,
    frozenset(["member"]): Decoder._npy,
    frozenset(["objects", "shape"]): Decoder._objects,
    frozenset(["random"]): Decoder._random,
    frozenset(["booster", "member", "extra"]): Decoder._booster,
    frozenset(["tree"]): Decoder._tree,
    frozenset(["frame"]): Decoder._frame,
    frozenset(["part", "types", "inside"]): Decoder._part,
    frozenset(["object", "state"]): Decoder._registered,
}
