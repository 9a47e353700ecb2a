"""Models outside Python: files without code, and graphs for other runtimes.

`save` and `load` write and read one documented container (``docs/files.md``); `inspect` says what
is inside a file without loading an engine; `to_onnx` writes a graph for other runtimes.
"""

from costboost.files.container import FORMAT, Limits
from costboost.files.model import inspect, load, save
from costboost.files.onnx import to_onnx

__all__ = ["FORMAT", "Limits", "inspect", "load", "save", "to_onnx"]
