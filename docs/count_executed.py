"""Print how much of the documentation the tests execute.

python docs/count_executed.py
"""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent


def main() -> None:
    """Count blocks of pages, commands of the page on the command line, scripts and docstrings."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    texts = [page.read_text("utf-8") for page in pages if page.parent.name != "gallery"]
    blocks = [len(re.findall(r"^```python$", text, re.MULTILINE)) for text in texts]
    commands = re.findall(r"^\$ ", (ROOT / "docs" / "cli.md").read_text("utf-8"), re.MULTILINE)
    scripts = list((ROOT / "examples").glob("*.py"))
    sources = [path.read_text("utf-8") for path in (ROOT / "src").rglob("*.py")]
    print(f"{sum(blocks)} Python blocks on {sum(map(bool, blocks))} pages (tests/pages)")
    print(f"{len(commands)} commands of docs/cli.md with their output (tests/cli/test_page.py)")
    print(f"{len(scripts)} scripts of examples/ with their output (tests/pages/test_examples.py)")
    print(f"{sum(text.count('>>> ') for text in sources)} lines of examples in docstrings")


if __name__ == "__main__":
    main()
