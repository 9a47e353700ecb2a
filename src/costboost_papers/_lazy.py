"""pandas, imported by its first use: the list of items needs nothing but the library."""

from importlib import import_module
from typing import Any


class _Pandas:
    def __getattr__(self, name: str) -> Any:
        return getattr(import_module("pandas"), name)


pd = _Pandas()
