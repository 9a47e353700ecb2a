"""The state of an estimator as a table of plain nodes, and back, without running any code.

A node is a list, a mapping, an array, a booster or an object of `costboost.files.registry`. It may
refer to nodes before it, and only to those: a table has no cycles, what was shared stays shared,
and reading it needs no recursion. Numbers keep their type and their last bit.

Values inside nodes
-------------------
``null``, booleans, text, integers and finite floats are themselves. The rest is an object with one
key: ``{"ref": i}`` (node i), ``{"float": "nan" | "inf" | "-inf"}``, ``{"bytes": base64}``,
``{"scalar": {type, shape, data}}`` (a numpy scalar) and ``{"type": "float64"}`` (a numpy type).
"""

from __future__ import annotations

import base64
import binascii
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.errors import ModelFileError
from costboost.files import arrays, boosters, parts, sklearn_tree
from costboost.files.registry import CHECKS, class_of, name_of

__all__ = ["Decoder", "Encoder"]

# Arrays of more bytes become members of their own.
_INLINE = 1024
_NON_FINITE = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}


class Encoder:
    """Turns a state into nodes and members."""

    def __init__(self) -> None:
        self.nodes: list[dict[str, Any]] = []
        self.members: dict[str, bytes] = {}
        self.types: set[str] = set()  # of scikit-learn parts
        self._known: dict[int, int] = {}
        self._kept: list[Any] = []  # ids are unique while objects live
        self._open: set[int] = set()

    # -- values ---------------------------------------------------------------------------------

    def value(self, value: Any, where: str) -> Any:
        """A value as it stands inside a node."""
        if value is None or type(value) in (bool, str, int):
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": str(value)}
        if type(value) is bytes:
            return {"bytes": base64.b64encode(value).decode("ascii")}
        if isinstance(value, np.generic):
            scalar = np.asarray(value)
            if not arrays.is_plain(scalar):
                raise _refusal(where, value)
            return {"scalar": arrays.inline(scalar)}
        if isinstance(value, type) and issubclass(value, np.generic):
            return {"type": np.dtype(value).name}
        return {"ref": self.node(value, where)}

    def node(self, value: Any, where: str) -> int:
        """The number of a value's node, made at the first sight."""
        key = id(value)
        if key in self._known:
            return self._known[key]
        if key in self._open:
            raise ModelFileError(f"{where} contains itself, which a model file cannot hold.")
        self._open.add(key)
        node = self._content(value, where)
        self._open.discard(key)
        self.nodes.append(node)
        self._known[key] = len(self.nodes) - 1
        self._kept.append(value)
        return self._known[key]

    def member(self, folder: str, ending: str, data: bytes) -> str:
        """The name of a new member with this content."""
        name = f"{folder}/{len(self.members):05d}.{ending}"
        self.members[name] = data
        return name

    # -- nodes ----------------------------------------------------------------------------------

    def _content(self, value: Any, where: str) -> dict[str, Any]:
        if type(value) in (list, tuple, set, frozenset):
            items = sorted(value, key=repr) if isinstance(value, (set, frozenset)) else value
            kind = type(value).__name__
            return {kind: [self.value(item, f"{where}[{i}]") for i, item in enumerate(items)]}
        if type(value).__name__ in ("dict", "OrderedDict", "defaultdict"):
            return {"dict": self._pairs(value, where)}
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        name = name_of(type(value))
        if name is not None:
            return {"object": name, "state": self._state(value, where)}
        if isinstance(value, np.random.RandomState):
            return {"random": self._pairs(value.get_state(legacy=False), where)}
        engine = boosters.engine_of(value)
        if engine is not None:
            return self._booster(engine, value, where)
        if sklearn_tree.is_tree(value):
            return {"tree": self.value(sklearn_tree.dump(value), where)}
        if _is_frame(value):
            return self._frame(value, where)
        if parts.is_part(value):
            return self._part(value, where)
        raise _refusal(where, value)

    def _pairs(self, mapping: Mapping[Any, Any], where: str) -> list[list[Any]]:
        return [
            [self.value(key, f"{where} (a key)"), self.value(item, f"{where}[{key!r}]")]
            for key, item in mapping.items()
        ]

    def _array(self, array: AnyArray, where: str) -> dict[str, Any]:
        if type(array) is not np.ndarray:
            raise _refusal(where, array)
        if array.dtype == object:
            items = [self.value(item, f"{where}[{i}]") for i, item in enumerate(array.ravel())]
            return {"objects": items, "shape": list(array.shape)}
        if not arrays.is_plain(array):
            raise _refusal(where, array)
        if array.nbytes <= _INLINE:
            return {"array": arrays.inline(array)}
        return {"member": self.member("arrays", "npy", arrays.array_to_npy(array))}

    def _state(self, value: Any, where: str) -> Any:
        if isinstance(value, tuple):
            return [self.value(item, f"{where}[{i}]") for i, item in enumerate(value)]
        return {
            name: self.value(item, f"{where}.{name}") for name, item in sorted(_state_of(value))
        }

    def _booster(self, engine: str, booster: Any, where: str) -> dict[str, Any]:
        data, extra = boosters.dump(engine, booster)
        boosters.check(engine, data, where)
        member = self.member("boosters", boosters.ENDINGS[engine], data)
        return {"booster": engine, "member": member, "extra": self.value(extra, where)}

    def _frame(self, frame: Any, where: str) -> dict[str, Any]:
        columns = [[name, np.asarray(frame[name])] for name in frame.columns]
        content = [list(frame.index), [name for name, _ in columns], [c for _, c in columns]]
        return {"frame": [self.value(item, where) for item in content]}

    def _part(self, value: Any, where: str) -> dict[str, Any]:
        """A scikit-learn object: by skops, without the boosters and estimators inside it."""
        taken: list[tuple[parts.Way, Any]] = []
        parts.find(value, _has_node, (), taken, set())
        data, types = parts.dump(value, [item for _, item in taken], where)
        self.types |= types
        return {
            "part": self.member("sklearn", "skops", data),
            "types": sorted(types),
            "inside": [
                [list(map(list, way)), self.value(item, f"{where}{parts.spell(way)}")]
                for way, item in taken
            ],
        }


def _has_node(value: Any) -> bool:
    """Whether an object inside a part of scikit-learn is written by its own node."""
    is_native = boosters.engine_of(value) is not None or sklearn_tree.is_tree(value)
    return is_native or name_of(type(value)) is not None


def _state_of(value: Any) -> Iterator[tuple[str, Any]]:
    """The attributes of an object, as its pickle would have them."""
    state = value.__getstate__() if hasattr(value, "__getstate__") else vars(value)
    if state is None:
        state = {}
    for name, item in state.items():
        if name != "_sklearn_version":
            yield name, item


def _is_frame(value: Any) -> bool:
    return type(value).__name__ == "DataFrame" and type(value).__module__.startswith("pandas")


def _refusal(where: str, value: Any) -> ModelFileError:
    kind = f"{type(value).__module__}.{type(value).__qualname__}"
    if callable(value) and not isinstance(value, type) and not hasattr(value, "get_params"):
        return ModelFileError(
            f"{where} is the function {getattr(value, '__name__', kind)!r}, and model files hold "
            "no code. Write costs as an expression over columns (such as '0.9 * amount + 15') or "
            "pass them to predict as costs; name losses of the library by a string."
        )
    return ModelFileError(
        f"{where} is of the type {kind}, which model files do not hold. Use parameters made of "
        "numbers, text, arrays and classes of costboost or scikit-learn."
    )


class Decoder:
    """Rebuilds a state from nodes and members.

    Parameters
    ----------
    members : mapping of str to bytes
        The members.
    trusted : collection of str
        Types of scikit-learn parts that the caller trusts beyond the known ones.
    """

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
            raise ModelFileError(f"{where} has the value {value!r:.60}, which is none.")
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
        raise ModelFileError(f"{where} has the value {value!r:.60}, which is none.")

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
            raise ModelFileError(f"{where} is no state of a random number generator.")
        generator = np.random.RandomState()
        try:
            generator.set_state(state)
        except (TypeError, ValueError, KeyError) as error:
            raise ModelFileError(f"{where} is no state of a generator: {error}") from error
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
            vars(built).update(attributes)
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
            getattr(cls, name, None), (property, staticmethod, classmethod)
        )
        if not name.isidentifier() or name.startswith("__") or hides:
            raise ModelFileError(f"{where}: {cls.__name__} can have no attribute {name!r:.60}.")
    if dataclasses.is_dataclass(cls):
        needed = {field.name for field in dataclasses.fields(cls)}
        if set(state) != needed:
            odd = sorted(set(state) ^ needed)[0]
            raise ModelFileError(f"{where}: {cls.__name__} lacks, or cannot have, {odd!r:.60}.")
    elif hasattr(cls, "_get_param_names"):
        missing = sorted(set(_parameters(cls)) - set(state))
        if missing:
            raise ModelFileError(f"{where}: {cls.__name__} lacks its parameter {missing[0]!r}.")


def _parameters(cls: Any) -> list[str]:
    return list(cls._get_param_names())


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
