"""Measure how hard a Python package is to read, room by room; line breaks make no difference.

    python tools/measure.py src/costboost             a table per room: a top-level file or folder
    python tools/measure.py src/costboost --files     one row per file
    python tools/measure.py src/costboost --worst 15  the longest, widest and most branching
    python tools/measure.py src/costboost --rate      counts per 10,000 tokens, to compare packages
    python tools/measure.py src/costboost --json out.json     the same numbers, for --against
    python tools/measure.py src/costboost --against old.json  tokens by room, habits that got worse

What is counted (docstrings and comments are never counted as code):

tokens    names, numbers, strings and operators of the source, by tokenize
t/line    tokens per line of code; depends on the line length: do not gate on it
t/stmt    tokens per statement: density that line breaks cannot change (scikit-learn 11 to 12)
s>40      simple statements (no `if`, `for`, `with`, `def`, `raise`) of more than 40 tokens
f>40      functions with more than 40 lines after ast.unparse (joining lines does not help)
f>300t    functions with more than 300 tokens
args>7    functions with more than seven parameters, self excluded (public constructors too)
pos>5     calls with more than five positional arguments
cc>10     functions with a cyclomatic complexity above 10 (comprehensions and conditions count)
pack      assignments `a, b = x, y` of two or more values
packcall  those of them with a call on the right
ifexp     conditional expressions (x if c else y)
nested    comprehensions inside a comprehension or with two `for`
dyn       setattr, delattr, vars(), locals(), __dict__, getattr with a computed name
any       annotations that say Any
asarr     `return np.asarray(...)`, most often there to please a type checker
private   names beginning with one underscore, of an object other than self or cls, or imported
vague     assignments and parameters whose name says nothing (VAGUE below)
bool+     boolean flags: parameters whose default is True or False, in functions not exported
types     classes defined
sem/;     several statements on a line, `fmt: skip` and `fmt: off`
com/1k    comment lines per 1,000 lines of code
"""

import argparse
import ast
import io
import json
import tokenize
from collections import Counter, defaultdict
from pathlib import Path

VAGUE = frozenset(
    """one own mine ours found known told heard kind kinds head heads stakes stake case room house
    stray stranger rival watched judged beyond wish what which thing things part parts made given
    taken kept rest others every each some whole here there said seen asked wanted lost spent paid
    stands goes comes gives holds""".split()  # noqa: SIM905
)
SKIPPED = {
    tokenize.ENCODING,
    tokenize.COMMENT,
    tokenize.NL,
    tokenize.NEWLINE,
    tokenize.INDENT,
    tokenize.DEDENT,
    tokenize.ENDMARKER,
}
COLUMNS = (
    "files",
    "lines",
    "code",
    "tokens",
    "t/line",
    "t/stmt",
    "s>40",
    "funcs",
    "f>40",
    "f>300t",
    "args>7",
    "pos>5",
    "cc>10",
    "pack",
    "packcall",
    "ifexp",
    "nested",
    "dyn",
    "any",
    "asarr",
    "private",
    "vague",
    "bool+",
    "types",
    "sem/;",
    "com/1k",
)
# Habits that --against compares, as rates: a package that grows may have more of each.
HABITS = (
    "f>300t",
    "pos>5",
    "cc>10",
    "pack",
    "packcall",
    "ifexp",
    "nested",
    "dyn",
    "any",
    "asarr",
    "private",
    "vague",
    "bool+",
    "sem/;",
)
BRANCHES = (
    ast.If,
    ast.For,
    ast.While,
    ast.IfExp,
    ast.ExceptHandler,
    ast.comprehension,
    ast.Assert,
    ast.match_case,
)
FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
SIMPLE = (ast.Assign, ast.AugAssign, ast.AnnAssign, ast.Return, ast.Expr, ast.Delete, ast.Assert)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def docstring_lines(tree):
    """Return the line numbers of all docstrings."""
    lines = set()
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else []:
            value = statement.value if isinstance(statement, ast.Expr) else None
            if isinstance(value, ast.Constant) and isinstance(value.value, str):
                lines.update(range(statement.lineno, statement.end_lineno + 1))
    return lines


def code_tokens(source, skipped_lines):
    """Return one line number per token of code; an f-string counts once."""
    lines, depth = [], 0
    fstring_start = getattr(tokenize, "FSTRING_START", None)
    fstring_end = getattr(tokenize, "FSTRING_END", None)
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if token.type == fstring_start:
            depth += 1
        is_code = token.type not in SKIPPED and token.start[0] not in skipped_lines
        # Names and numbers inside an f-string are code; its text is one token, as a string is.
        counts = depth == 0 or token.type in (tokenize.NAME, tokenize.NUMBER, fstring_start)
        if is_code and counts:
            lines.append(token.start[0])
        if token.type == fstring_end:
            depth -= 1
    return lines


def own_nodes(function):
    """Walk a function without the functions defined inside it."""
    stack = list(ast.iter_child_nodes(function))
    while stack:
        node = stack.pop()
        yield node
        if not isinstance(node, (*FUNCTIONS, ast.ClassDef)):
            stack.extend(ast.iter_child_nodes(node))


def complexity(function):
    total = 1
    for node in own_nodes(function):
        total += isinstance(node, BRANCHES)
        total += len(node.ifs) if isinstance(node, ast.comprehension) else 0
        total += len(node.values) - 1 if isinstance(node, ast.BoolOp) else 0
    return total


def unparsed_lines(function):
    """Return the lines of a function as ast.unparse writes them, without its docstring."""
    body = list(function.body)
    if isinstance(body[0], ast.Expr) and isinstance(getattr(body[0], "value", None), ast.Constant):
        body = body[1:]
    # A packed assignment counts as one line per value: packing must not shorten a function.
    lines = sum(len(ast.unparse(statement).splitlines()) for statement in body)
    for node in own_nodes(function):
        if isinstance(node, ast.Assign) and is_packing(node):
            lines += len(node.value.elts) - 1
    return lines + 1


def is_packing(node):
    return (
        isinstance(node.value, ast.Tuple)
        and len(node.value.elts) > 1
        and any(isinstance(target, ast.Tuple) for target in node.targets)
    )


def says_any(annotation):
    return annotation is not None and any(
        isinstance(n, ast.Name) and n.id == "Any" for n in ast.walk(annotation)
    )


def measure_file(path, exported):
    """Return the counts of a file, and a line about each of its functions."""
    source = path.read_text(encoding="utf-8")
    tree = ast.parse(source)
    documented = docstring_lines(tree)
    token_lines = code_tokens(source, documented)
    per_line = Counter(token_lines)
    lines = source.splitlines()
    counts = Counter(files=1, lines=len(lines), code=len(per_line), tokens=len(token_lines))
    counts["comments"] = sum(line.lstrip().startswith("#") for line in lines)
    counts["sem/;"] = source.count("fmt: skip") + source.count("fmt: off")
    functions = []
    for node in ast.walk(tree):
        if isinstance(node, FUNCTIONS):
            function = measure_function(node, per_line)
            functions.append({**function, "file": str(path)})
            counts.update(count_function(node, function, exported))
        if isinstance(node, ast.stmt) and node.lineno not in documented:
            counts.update(count_statement(node, per_line))
        if isinstance(node, ast.expr):
            counts.update(count_expression(node))
        if isinstance(node, ast.ImportFrom):
            counts["private"] += sum(is_private(alias.name) for alias in node.names)
        body = getattr(node, "body", None)
        if isinstance(body, list) and body and isinstance(body[0], ast.stmt):
            starts = Counter(statement.lineno for statement in body)
            counts["sem/;"] += sum(n > 1 for n in starts.values())
    return counts, functions


def parameters(function):
    """Return the parameters that a call names, or gives by position."""
    return [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def measure_function(node, per_line):
    """Return the sizes of a function."""
    names = [a.arg for a in parameters(node) if a.arg not in ("self", "cls")]
    lines = range(node.lineno, node.end_lineno + 1)
    return {
        "name": node.name,
        "line": node.lineno,
        "length": unparsed_lines(node),
        "tokens": sum(per_line[line] for line in lines),
        "args": len(names),
        "cc": complexity(node),
        "vague": sum(name in VAGUE for name in names),
    }


def count_function(node, function, exported):
    """Return what a function adds to the counts."""
    counts = Counter(funcs=1, vague=function["vague"])
    counts["f>40"] += function["length"] > 40
    counts["f>300t"] += function["tokens"] > 300
    counts["args>7"] += function["args"] > 7
    counts["cc>10"] += function["cc"] > 10
    if is_private(node.name) or node.name not in exported:
        defaults = [*node.args.defaults, *node.args.kw_defaults]
        counts["bool+"] += sum(
            isinstance(d, ast.Constant) and isinstance(d.value, bool) for d in defaults
        )
    arguments = [*parameters(node), node.args.vararg, node.args.kwarg]
    annotations = [a.annotation for a in arguments if a is not None]
    counts["any"] += sum(says_any(annotation) for annotation in [*annotations, node.returns])
    return counts


def count_statement(node, per_line):
    """Return what a statement adds to the counts."""
    counts = Counter(stmts=1, types=isinstance(node, ast.ClassDef))
    if isinstance(node, SIMPLE):
        tokens = sum(per_line[line] for line in range(node.lineno, node.end_lineno + 1))
        counts["s>40"] += tokens > 40
    if isinstance(node, ast.Assign) and is_packing(node):
        counts["pack"] += 1
        counts["packcall"] += any(isinstance(n, ast.Call) for n in ast.walk(node.value))
    if isinstance(node, ast.AnnAssign):
        counts["any"] += says_any(node.annotation)
    if isinstance(node, ast.Return) and isinstance(node.value, ast.Call):
        counts["asarr"] += ast.unparse(node.value.func) == "np.asarray"
    return counts


def count_expression(node):
    """Return what an expression adds to the counts."""
    counts = Counter()
    if isinstance(node, ast.IfExp):
        counts["ifexp"] += 1
    elif isinstance(node, COMPREHENSIONS):
        inner = any(isinstance(n, COMPREHENSIONS) for n in ast.walk(node) if n is not node)
        counts["nested"] += inner or len(node.generators) > 1
    elif isinstance(node, ast.Call):
        counts["pos>5"] += sum(not isinstance(a, ast.Starred) for a in node.args) > 5
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        has_name = len(node.args) > 1 and not isinstance(node.args[1], ast.Constant)
        is_computed = name == "getattr" and has_name
        counts["dyn"] += is_computed or name in ("setattr", "delattr", "vars", "locals")
    elif isinstance(node, ast.Attribute):
        counts["dyn"] += node.attr == "__dict__"
        owner = node.value.id if isinstance(node.value, ast.Name) else ""
        counts["private"] += is_private(node.attr) and owner not in ("self", "cls")
    elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        counts["vague"] += node.id in VAGUE
    return counts


def exported_names(root):
    names = set()
    for path in root.rglob("__init__.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ImportFrom):
                names.update(a.asname or a.name for a in node.names)
    return names


def finish(counts):
    counts["t/line"] = round(counts["tokens"] / max(counts["code"], 1), 1)
    counts["t/stmt"] = round(counts["tokens"] / max(counts["stmts"], 1), 1)
    counts["com/1k"] = round(1000 * counts["comments"] / max(counts["code"], 1))
    return counts


def show(rows):
    widths = [max(len(c), 6) + 1 for c in COLUMNS]
    wide = max(len(name) for name, _ in rows) + 1
    print(" " * wide + "".join(c.rjust(w) for c, w in zip(COLUMNS, widths, strict=True)))
    for name, counts in rows:
        print(
            name.ljust(wide)
            + "".join(str(counts[c]).rjust(w) for c, w in zip(COLUMNS, widths, strict=True))
        )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("--files", action="store_true")
    parser.add_argument("--worst", type=int, default=0)
    parser.add_argument("--rate", action="store_true")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--against", type=Path)
    options = parser.parse_args()
    exported = exported_names(options.source)
    rooms, functions = defaultdict(Counter), []
    for path in sorted(options.source.rglob("*.py")):
        relative = path.relative_to(options.source)
        room = str(relative) if options.files else relative.parts[0]
        counts, found = measure_file(path, exported)
        rooms[room].update(counts)
        functions.extend(found)
    total = sum(rooms.values(), Counter())
    rows = [(name, finish(counts)) for name, counts in sorted(rooms.items())]
    finish(total)
    kept = ("files", "lines", "code", "tokens", "t/line", "t/stmt", "com/1k")
    if options.rate:
        show(
            [
                (
                    name,
                    {
                        c: n[c] if c in kept else round(1e4 * n[c] / max(n["tokens"], 1), 1)
                        for c in COLUMNS
                    },
                )
                for name, n in [*rows, ("total", total)]
            ]
        )
    else:
        show([*rows, ("total", total)])
    if options.worst:
        for measure in ("length", "tokens", "args", "cc"):
            print(f"\nlargest by {measure}")
            for f in sorted(functions, key=lambda f: -f[measure])[: options.worst]:
                print(f"  {f[measure]:5d}  {f['file']}:{f['line']} {f['name']}")
    if options.json:
        options.json.write_text(
            json.dumps({name: dict(c) for name, c in [*rows, ("total", total)]}, indent=1)
        )
    if options.against:
        compare({**rooms, "total": total}, json.loads(options.against.read_text()))


def compare(after, before):
    """Print tokens by room beside those of an earlier count, and the habits that got worse."""
    print("\ntokens, before and now")
    for name in sorted(before.keys() | after.keys(), key=lambda name: (name == "total", name)):
        old = before.get(name, {}).get("tokens", 0)
        new = after.get(name, {}).get("tokens", 0)
        print(f"{name:24} {old:8,} {new:8,} {new - old:+8,}")
    grown = after["total"]["tokens"] / before["total"]["tokens"]
    worse = [c for c in HABITS if after["total"][c] > grown * before["total"].get(c, 0)]
    print("more per 10,000 tokens than before:", ", ".join(worse) or "nothing")


if __name__ == "__main__":
    main()
