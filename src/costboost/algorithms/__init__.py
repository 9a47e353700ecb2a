"""The recipes: one file per paper, each a declaration of parts under its equations.

Every module of this package is a paper. The classes in its ``__all__`` that declare a card
(``_recipe``) are the algorithms of the library.
"""

from importlib import import_module
from pkgutil import iter_modules

__all__: list[str] = []

for _module in iter_modules(__path__):
    if not _module.name.startswith("_"):
        _paper = import_module(f"{__name__}.{_module.name}")
        for _name in _paper.__all__:
            if "_recipe" in getattr(getattr(_paper, _name), "__dict__", {}):
                globals()[_name] = getattr(_paper, _name)
                __all__.append(_name)
__all__.sort()
