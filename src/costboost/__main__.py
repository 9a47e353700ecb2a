"""``python -m costboost``: the command line."""

from __future__ import annotations

from costboost.cli import main

if __name__ == "__main__":
    main()
