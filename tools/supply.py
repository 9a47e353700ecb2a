"""What costboost brings with it: licences of all packages it needs, and a CycloneDX SBOM.

    python tools/supply.py licences docs/licences.md
    python tools/supply.py sbom build/costboost.cdx.json

Both are read from the metadata of the packages that are installed here; packages that are not
installed are listed as such. Tools of developers are left out.
"""

from __future__ import annotations

import json
import re
import sys
import uuid
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

from packaging.markers import default_environment
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

__all__ = ["closure", "licence", "licences_page", "sbom"]

# What users install, by extra.
EXTRAS = ("all", "mlflow", "report", "serve", "tune")

# Words of old licence fields and classifiers as SPDX names.
_SPDX = {
    "apache 2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache-2.0 license": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd license": "BSD-3-Clause",
    "isc license": "ISC",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "the unlicense (unlicense)": "Unlicense",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}


def licence(package: Distribution) -> str:
    """The licence that a package declares: SPDX where it can be known."""
    metadata = package.metadata
    if metadata.get("License-Expression"):
        return str(metadata["License-Expression"])
    text = (metadata.get("License") or "").strip()
    if text and len(text) < 60 and "\n" not in text and text.upper() != "UNKNOWN":
        return _SPDX.get(text.lower(), text)
    kinds = [
        line.split("::")[-1].strip()
        for line in metadata.get_all("Classifier") or ()
        if line.startswith("License ::")
    ]
    found = [_SPDX.get(kind.lower(), kind) for kind in kinds if kind != "OSI Approved"]
    return " AND ".join(dict.fromkeys(found)) or "not declared"


def closure(root: str = "costboost", extras: tuple[str, ...] = EXTRAS) -> dict[str, set[str]]:
    """All packages that a package needs, with the ones that each of them needs.

    Parameters
    ----------
    root : str
        The package to begin with.
    extras : tuple of str
        Its extras.

    Returns
    -------
    dict of str to set of str
        By canonical name; the root is among them.
    """
    needs: dict[str, set[str]] = {}
    todo: list[tuple[str, frozenset[str]]] = [(canonicalize_name(root), frozenset(extras))]
    seen = set()
    while todo:
        name, wanted = todo.pop()
        if (name, wanted) in seen:
            continue
        seen.add((name, wanted))
        found = needs.setdefault(name, set())
        try:
            lines = distribution(name).requires or []
        except PackageNotFoundError:
            continue
        for line in lines:
            requirement = Requirement(line)
            environments = [{**default_environment(), "extra": e} for e in (*wanted, "")]
            if requirement.marker and not any(map(requirement.marker.evaluate, environments)):
                continue
            other = canonicalize_name(requirement.name)
            if other != name:
                found.add(other)
            todo.append((other, frozenset(requirement.extras)))
    return needs


def licences_page() -> str:
    """The page of licences, in Markdown."""
    lines = [
        "# Licences",
        "",
        "<!-- Written by tools/supply.py; do not edit. -->",
        "",
        "costboost is under BSD-3-Clause. These are the packages that it and its extras "
        f"({', '.join(EXTRAS)}) need, with the licences that they declare. Without extras, the "
        "ones in bold are enough.",
        "",
        "| package | licence |",
        "|---|---|",
    ]
    least = closure(extras=())
    for name in sorted(set(closure()) - {"costboost"}):
        try:
            words = licence(distribution(name)).replace("|", "/")
        except PackageNotFoundError:
            words = "not installed here"
        lines.append(f"| {f'**{name}**' if name in least else name} | {words} |")
    return "\n".join(lines) + "\n"


def sbom() -> dict[str, Any]:
    """A CycloneDX 1.6 bill of materials; the same for the same packages."""
    needs = closure()
    components, purls = [], {}
    for name in sorted(needs):
        try:
            package = distribution(name)
        except PackageNotFoundError:
            continue
        purls[name] = f"pkg:pypi/{name}@{package.version}"
        words = licence(package)
        is_spdx = re.fullmatch(r"[A-Za-z0-9.+-]+", words) is not None
        is_expression = " AND " in words or " OR " in words or " WITH " in words
        told: dict[str, Any] = {"license": {"id" if is_spdx else "name": words}}
        if is_expression and not re.search(r"[^A-Za-z0-9.+() -]", words):
            told = {"expression": words}
        elif words == "not declared" or is_expression:
            told = {"license": {"name": words}}
        components.append(
            {
                "type": "application" if name == "costboost" else "library",
                "bom-ref": purls[name],
                "name": name,
                "version": package.version,
                "purl": purls[name],
                "licenses": [told],
            }
        )
    [root] = [one for one in components if one["name"] == "costboost"]
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, ' '.join(purls.values()))}",
        "version": 1,
        "metadata": {"component": root},
        "components": [one for one in components if one is not root],
        "dependencies": [
            {"ref": purls[name], "dependsOn": sorted(purls[o] for o in others if o in purls)}
            for name, others in sorted(needs.items())
            if name in purls
        ],
    }


def main(what: str, path: str) -> None:
    """Write one of the two."""
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    text = licences_page() if what == "licences" else json.dumps(sbom(), indent=1) + "\n"
    target.write_text(text, encoding="utf-8")
    print(f"wrote {target}")


if __name__ == "__main__":
    main(*sys.argv[1:])
