"""Write the pages, figures and tables that follow from code or measurements.

    python docs/build.py                    # all of them
    python docs/build.py choosing scale     # some of them
    python docs/build.py papers gallery --keep   # their text only: no pictures, no examples run

Each has a module of its name in docs/_pages, whose `pages` returns texts by path. What runs code
or draws is in `prepare`: the examples of the gallery and the printed outputs of the guides take
some minutes, all else takes seconds.
"""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

PAGES = Path(__file__).resolve().parent / "_pages"
NAMES = (
    "algorithms",
    "choosing",
    "gain",
    "effort",
    "walk",
    "service",
    "losses",
    "scale",
    "papers",
    "promises",
    "works_with",
    "gallery",
    "notebook",
    "outputs",
)


def main() -> None:
    """Write the pages that are named, or all."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="page", help=f"of {', '.join(NAMES)}")
    parser.add_argument("--keep", action="store_true", help="text only: no pictures, no examples")
    parser.add_argument("--only", nargs="*", default=(), help="examples, or pages with outputs")
    options = parser.parse_args()
    unknown = sorted(set(options.names) - set(NAMES))
    if unknown:
        parser.error(f"there is no page {unknown[0]!r}; choose from {', '.join(NAMES)}")
    sys.path.insert(0, str(PAGES))
    for name in options.names or NAMES:
        print(name)
        module = runpy.run_path(str(PAGES / f"{name}.py"))
        if "prepare" in module and not options.keep:
            module["prepare"](options.only)
        for path, text in module["pages"]().items() if "pages" in module else ():
            path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
