"""Results as pandas frames, imported only when asked for."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame"]


def as_frame(columns: Mapping[str, Any], owner: str) -> pd.DataFrame:
    """Columns as a pandas frame.

    Parameters
    ----------
    columns : mapping of str to array or list
        The columns, in their order.
    owner : str
        Whose method asks; an error without pandas names it.

    Returns
    -------
    pandas.DataFrame
        A row per element.
    """
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f'{owner} returns a pandas frame: pip install "costboost[data]".'
        ) from error
    return pd.DataFrame(dict(columns))
