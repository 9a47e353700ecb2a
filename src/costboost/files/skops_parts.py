"""Objects of scikit-learn beyond those of `costboost.files.state`: by skops, if they are trusted.

What a user trusts is built by skops as it is; compiled code of scikit-learn can crash on hostile
arrays. Sizes are bounded all the same, and no type is imported that was not named.
"""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from costboost.errors import ModelFileError
from costboost.files.container import LIMITS, Limits, parse_json

_SCHEMA = "schema.json"
# What skops builds of numbers, text, arrays and containers; all else must be trusted by its name.
_PLAIN = re.compile(
    r"builtins\.(bool|bytes|dict|float|int|list|set|slice|str|tuple)"
    r"|numpy\.(bool_?|dtype|float32|float64|int32|int64|ndarray|str_|uint8|uint32|uint64)"
    r"|collections\.(OrderedDict|defaultdict)"
    r"|skops\.(Bytes|DType|DefaultDict|Dict|Json|List|NdArray|Object|Set|Slice|Tuple|Type)Node"
)


def is_part(value: Any) -> bool:
    """Whether an object is scikit-learn's, or like one of its estimators."""
    if isinstance(value, type):
        return False
    return hasattr(value, "get_params") or type(value).__module__.startswith("sklearn.")


@contextmanager
def _skops(where: str) -> Iterator[Any]:
    """The library; what it makes of a bad part is an error of the file."""
    try:
        skops = import_module("skops.io")
    except ImportError as error:
        raise ModelFileError(
            f"{where} is an object of scikit-learn, which needs skops in model files. Install it "
            "with: pip install 'costboost[files]'"
        ) from error
    try:
        yield skops
    except ModelFileError:
        raise
    except Exception as error:  # it has its own and hands on others
        raise ModelFileError(f"{where} cannot be written or read by skops: {error}") from error


def dump(value: Any, where: str) -> tuple[bytes, set[str]]:
    """A part by skops, and the types that must be trusted to load it."""
    with _skops(where) as skops:
        data = _canonical(skops.dumps(value))
        return data, _types(skops, data, where, LIMITS)


def _canonical(data: bytes) -> bytes:
    """The same archive with objects numbered in order, instead of by their addresses."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    schema = json.loads(content.pop(_SCHEMA))
    numbers: dict[int, int] = {}
    files: dict[str, str] = {}
    for node in _nodes(schema):
        if "__id__" in node:
            node["__id__"] = numbers.setdefault(node["__id__"], len(numbers))
        if isinstance(node.get("file"), str):
            ending = "." + node["file"].rpartition(".")[2]
            node["file"] = files.setdefault(node["file"], f"{len(files)}{ending}")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        members = {files[name]: raw for name, raw in content.items()}
        members[_SCHEMA] = json.dumps(schema).encode("utf-8")
        for name, raw in sorted(members.items()):
            archive.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), raw)
    return buffer.getvalue()


def _nodes(schema: Any) -> Iterator[dict[str, Any]]:
    """All objects of a schema, in the order of the text."""
    stack = [schema]
    while stack:
        item = stack.pop()
        if isinstance(item, dict):
            yield item
            stack.extend(reversed(list(item.values())))
        elif isinstance(item, list):
            stack.extend(reversed(item))


def load(data: bytes, trusted: Collection[str], where: str, limits: Limits = LIMITS) -> Any:
    """A part, if the types in it are trusted."""
    with _skops(where) as skops:
        types = _types(skops, data, where, limits)
        unknown = sorted(types - set(trusted))
        if not types:
            raise ModelFileError(f"{where} is not an object of scikit-learn.")
        if unknown:
            raise ModelFileError(
                f"{where} needs the types {', '.join(unknown)}, which costboost does not know. If "
                f"you trust the file and these types, load it with trusted={unknown!r}."
            )
        return skops.loads(data, trusted=sorted(types))


def _types(skops: Any, data: bytes, where: str, limits: Limits) -> set[str]:
    """All types and functions that a part would use: those it names, and those skops asks for."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        names = {entry.filename for entry in entries}
        # Stored members take their own bytes, so the part cannot grow.
        fine = len(names) == len(entries) <= limits.members and all(
            entry.compress_type == zipfile.ZIP_STORED
            and entry.file_size == entry.compress_size
            and not entry.flag_bits
            and entry.filename.endswith((".npy", _SCHEMA))
            for entry in entries
        )
        total = sum(entry.file_size for entry in entries)
        if not fine or total > len(data) or _SCHEMA not in names:
            raise ModelFileError(f"{where} is not an archive of skops as costboost writes it.")
        schema = parse_json(archive.read(_SCHEMA), f"{_SCHEMA} of {where}", limits)
    types = set()
    for node in _nodes(schema):
        if "__class__" in node or "__module__" in node or "__loader__" in node:
            if not all(isinstance(node.get(key), str) for key in ("__class__", "__module__")):
                raise ModelFileError(f"{where} has a type without a name.")
            types.add(f"{node['__module__']}.{node['__class__']}")
            types.add(f"skops.{node.get('__loader__')}")
    types |= set(skops.get_untrusted_types(data=data))
    return {name for name in types if not _PLAIN.fullmatch(name)}
