"""Models that travel: files without code, and graphs for other runtimes.

`save` and `load` write and read one documented container (``docs/files.md``); `inspect` says what
is inside a file without loading an engine.
"""

from costboost.files.container import FORMAT, Limits
from costboost.files.model import load, save

__all__ = ["FORMAT", "Limits", "load", "save"]
