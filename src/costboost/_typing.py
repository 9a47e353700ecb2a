"""Array aliases used throughout; shapes stand in comments and docstrings."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["AnyArray", "Bools", "Floats", "Ints"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]
AnyArray = NDArray[Any]
