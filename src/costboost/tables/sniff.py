"""Find out how a text file was written: its encoding and its delimiter."""

from __future__ import annotations

import codecs
import csv
from collections import Counter

__all__ = ["DELIMITERS", "delimiter_of", "encoding_of"]

DELIMITERS = (",", ";", "\t", "|")
_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_LINES = 200


def encoding_of(head: bytes, *, is_whole: bool = True) -> str:
    """Encoding of a text: by its byte order mark, else UTF-8 if it is valid, else Windows-1252."""
    for mark, name in _MARKS:
        if head.startswith(mark):
            return name
    if len(head) >= 4 and head[1:2] == b"\0" and head[0:1] != b"\0":
        return "utf-16-le"
    decoder = codecs.getincrementaldecoder("utf-8")()
    try:
        decoder.decode(head, final=is_whole)
    except UnicodeDecodeError:
        return "cp1252"
    return "utf-8"


def delimiter_of(text: str) -> str:
    """The delimiter that cuts the lines into equally many pieces, the more the better."""
    lines = [line for line in text.splitlines()[:_LINES] if line.strip()]
    best, best_rank = ",", (0.0, 0)
    for delimiter in DELIMITERS:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter)]
        width = widths[0] if widths else 1
        if width < 2:
            continue
        rank = (Counter(widths)[width] / len(widths), width)
        if rank > best_rank:
            best, best_rank = delimiter, rank
    return best
