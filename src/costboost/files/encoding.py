"""The state of an estimator as a table of plain nodes.

A node is a list, a mapping, an array, a booster or an object of `costboost.files.registry`. It may
refer to nodes before it, and only to those: a table has no cycles, what was shared stays shared,
and reading it needs no recursion. Numbers keep their type and their last bit.

Values inside nodes
-------------------
``null``, booleans, text, integers and finite floats are themselves. The rest is an object with one
key: ``{"ref": i}`` (node i), ``{"float": "nan" | "inf" | "-inf"}``, ``{"bytes": base64}``,
``{"scalar": {type, shape, data}}`` (a numpy scalar), ``{"type": "float64"}`` (a numpy type) and
``{"function": name}`` (a function of the registry).
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.errors import ModelFileError
from costboost.files import arrays, boosters, parts, sklearn_tree
from costboost.files.registry import name_of, name_of_function

__all__ = ["Encoder"]

# Arrays of more bytes become members of their own.
_INLINE = 1024


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
        function = name_of_function(value)
        if function is not None:
            return {"function": function}
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
        # What was only remembered must not change the bytes of the file.
        is_remembered = isinstance(getattr(type(value), name, None), cached_property)
        if name != "_sklearn_version" and not is_remembered:
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
