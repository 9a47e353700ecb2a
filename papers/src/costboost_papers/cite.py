"""References of algorithms as BibTeX: ``costboost-papers cite``."""

from __future__ import annotations

import inspect
import re
import unicodedata

import costboost

# Authors, "title", journal 1(2), year, pages, doi; a conference is named without the comma.
_REFERENCE = re.compile(
    r'(?P<author>[^";]+), "(?P<title>[^"]+)", (?P<place>[^;]+?)'
    r"(?: (?P<volume>\d+)(?:\((?P<number>\d+)\))?)?(?P<comma>,?) (?P<year>\d{4})"
    r"(?:, (?P<pages>\d+-\d+))?(?:, doi:(?P<doi>[^\s;]+[^\s;.]))?(?=[.;]| \()"
)


def class_of(name: str) -> type:
    """Return the class of a name, whatever its capitals and with or without its ending."""
    classes = {one.removesuffix("Classifier").lower(): one for one in costboost.algorithms.__all__}
    wanted = name.lower().removesuffix("classifier")
    if wanted not in classes:
        raise ValueError(
            f"{name!r} is no algorithm of costboost. Use one of: {', '.join(classes)}."
        )
    found: type = getattr(costboost, classes[wanted])
    return found


def bibtex(algorithm: type) -> str:
    """An entry for each reference in the docstring of a class, by first author and year."""
    text = " ".join((inspect.getdoc(algorithm) or "").partition("References\n---")[2].split())
    entries = []
    for found in _REFERENCE.finditer(text.lstrip("- ").partition(" Examples ---")[0]):
        field = found.groupdict()
        kind, place = ("article", "journal") if field["comma"] else ("inproceedings", "booktitle")
        school = field["place"].removeprefix("PhD thesis, ")
        if school != field["place"]:
            kind, place = "phdthesis", "school"
        authors = re.split(r", | and ", field["author"].strip())
        values = {
            "author": " and ".join(authors),
            "title": f"{{{field['title']}}}",
            place: school,
            **{name: field[name] for name in ("volume", "number", "year", "doi") if field[name]},
        }
        if field["pages"]:
            values["pages"] = field["pages"].replace("-", "--")
        first = unicodedata.normalize("NFKD", authors[0].split()[-1]).encode("ascii", "ignore")
        lines = [f"  {name} = {{{value}}}," for name, value in values.items()]
        key = f"{first.decode().lower()}{field['year']}"
        entries.append("\n".join([f"@{kind}{{{key},", *lines, "}"]))
    if not entries:
        raise ValueError(
            f"{algorithm.__name__} has no references to cite. Name an algorithm of a paper, such "
            "as AdaC2."
        )
    return "\n\n".join(entries)
