"""Functions of Python source files: parsed with `ast`, never imported and never executed.

- A tool is a function at the top of the file (`async` too) whose name does not start with an underscore.
- Annotations give the types, the docstring (Google, NumPy or reST) the descriptions, and types where there is no annotation.
- An enum class stands for the values of its members; dataclasses, TypedDicts, NamedTuples and pydantic models of the same file for objects.
- A parameter with a default is optional; a default that is no literal is left out with a note. `*args` is left out with a note;
  `**kwargs` allows further arguments.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterable, Iterator

from familytool.formats.duplicates import merge_duplicates
from familytool.formats.openai import DocumentError, status
from familytool.formats.python_annotations import Types, expression, last_name, literal
from familytool.formats.python_docstrings import Docstring, read_docstring
from familytool.formats.schema import normalise_parameters
from familytool.model import Json, Tool, canonical

NAME = "python"
CARRIES = "names, annotations, defaults, docstrings (Google, NumPy, reST), the annotation of the result; never executed"
LOST = ""

MAX_CHARACTERS = 2_000_000


def looks_like(value: Json) -> bool:
    """Whether this is the text of a Python file with a function at its top."""
    if not isinstance(value, str) or not any(line.startswith(("def ", "async def ")) for line in value[:MAX_CHARACTERS].splitlines()):
        return False
    try:
        return any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) for node in _parsed(value).body)
    except ValueError:
        return False


def read_tools(records: Iterable[tuple[str, Json]], rejected: list[str]) -> Iterator[Tool]:
    """The public functions of Python files, given as their texts.

    Raises:
        DocumentError: a record that is no Python text.
    """

    def tools() -> Iterator[Tool]:
        for place, value in records:
            if not isinstance(value, str):
                raise DocumentError(f"{place}: {type(value).__name__}, not the text of a Python file")
            try:
                module = _parsed(value)
            except ValueError as error:
                raise DocumentError(f"{place}: {error}") from None
            yield from _tools_of(module, value, place, rejected)

    return merge_duplicates(tools())


def _parsed(text: str) -> ast.Module:
    """The syntax tree of a text (ValueError with what is wrong)."""
    if len(text) > MAX_CHARACTERS:
        raise ValueError(f"{len(text):,} characters are too many for a Python file (limit {MAX_CHARACTERS:,})")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in a foreign file is none of our warnings
            return ast.parse(text)
    except SyntaxError as error:
        raise ValueError(f"no Python text: {str(error.msg)[:80]} at line {error.lineno or 1}") from None
    except (ValueError, MemoryError, RecursionError) as error:
        raise ValueError(f"no Python text that can be read ({type(error).__name__})") from None


def _tools_of(module: ast.Module, text: str, place: str, rejected: list[str]) -> Iterator[Tool]:
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    classes = {node.name: node for node in module.body if isinstance(node, ast.ClassDef)}
    aliases: dict[str, ast.expr] = {
        target.id: node.value
        for node in module.body
        if isinstance(node, ast.Assign | ast.AnnAssign) and isinstance(node.value, ast.Subscript | ast.BinOp | ast.Name | ast.Attribute)
        for target in (node.targets if isinstance(node, ast.Assign) else [node.target])
        if isinstance(target, ast.Name)
    }
    for node in module.body:
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name.startswith("_"):
            continue
        if any(last_name(decorator) == "overload" for decorator in node.decorator_list):
            continue
        start = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
        source = "\n".join(lines[start - 1 : node.end_lineno])
        try:
            tool = _tool(node, source, Types(classes, aliases), place)
            canonical(tool.model_dump()).encode("utf-8")
            yield tool
        except UnicodeEncodeError:
            rejected.append(f"{place}: function {node.name} at line {node.lineno} holds half of a surrogate pair")
        except (ValueError, RecursionError) as error:
            rejected.append(f"{place}: function {node.name} at line {node.lineno}: {str(error)[:200]}")


def _tool(node: ast.FunctionDef | ast.AsyncFunctionDef, source: str, types: Types, place: str) -> Tool:
    said = read_docstring(ast.get_docstring(node) or "")
    properties: dict[str, Json] = {}
    required: list[str] = []
    for argument, default in _arguments(node.args):
        properties[argument.arg] = _parameter(argument, default, said, types)
        if default is None:
            required.append(argument.arg)
    root: dict[str, Json] = {"type": "object", "properties": properties}
    if required:
        root["required"] = required
    stars = {argument.arg for argument in (node.args.vararg, node.args.kwarg) if argument is not None}
    if node.args.vararg is not None:
        types.notes.append(f"#: *{node.args.vararg.arg} takes further arguments without names; left out")
    if node.args.kwarg is not None:
        root["additionalProperties"] = types.schema(node.args.kwarg.annotation, "#/additionalProperties") or True
        types.notes.append(f"#: **{node.args.kwarg.arg} allows further arguments")
    types.notes += [
        f"#: the docstring tells of {name}, which is no parameter" for name in said.parameters if name not in {*properties, *stars}
    ]
    if not properties:
        types.notes.append("#: no parameters are given; read as a tool without parameters")
    definitions = types.definitions()
    if definitions:
        root["$defs"] = definitions
    schema, repairs = normalise_parameters(root)
    notes = (*dict.fromkeys(types.notes), *repairs)
    return Tool(
        name=node.name,
        description=said.description,
        parameters=schema,
        response=_response(node, said, types),
        source={"format": NAME, "place": place, "status": status(schema), "version": "1", "uses": "1"},
        notes=notes,
        raw=source,
    )


def _arguments(arguments: ast.arguments) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """Each named argument with its default (None where there is none), in the order of the signature."""
    placed = [*arguments.posonlyargs, *arguments.args]
    yield from zip(placed, [*[None] * (len(placed) - len(arguments.defaults)), *arguments.defaults], strict=True)
    yield from zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)


def _parameter(argument: ast.arg, default: ast.expr | None, said: Docstring, types: Types) -> dict[str, Json]:
    at = f"#/properties/{argument.arg}"
    kind, description = said.parameters.get(argument.arg, ("", ""))
    schema = types.schema(argument.annotation, at)
    if argument.annotation is None and kind:
        schema = _documented_type(kind, at, types)
    if description:
        schema["description"] = description
    if default is None:
        return schema
    value = literal(default) or _member(default, types)
    if value is not None:
        schema["default"] = value[0]
    elif last_name(default) not in ("NotGiven", "NOT_GIVEN"):
        types.notes.append(f"{at}: its default {ast.unparse(default)[:60]!r} is no literal; left out")
    return schema


def _member(node: ast.expr, types: Types) -> tuple[Json] | None:
    """The value of a default such as `Unit.METRIC` or `Unit.METRIC.value`, an enum of the same file."""
    if isinstance(node, ast.Attribute) and node.attr == "value":
        node = node.value
    owner = types.classes.get(last_name(node.value)) if isinstance(node, ast.Attribute) else None
    if not isinstance(node, ast.Attribute) or owner is None or types.kind_of(owner) != "enum":
        return None
    for part in owner.body:
        if isinstance(part, ast.Assign) and last_name(part.targets[0]) == node.attr:
            return literal(part.value) or (node.attr,)
    return None


def _documented_type(text: str, at: str, types: Types) -> dict[str, Json]:
    """The schema of a type that only the docstring gives: `str, optional`, `list of int`, `{'a', 'b'}`, `int or None`."""
    written = text.split(", optional")[0].split(", default")[0].removesuffix(" optional").strip()
    written = "None" if written == "optional" else written
    if written == "None":
        return {}
    if written.startswith("list of "):
        return {"type": "array", "items": _documented_type(written.removeprefix("list of "), f"{at}/items", types)}
    node = expression(" | ".join(written.split(" or ")) if " or " in written else written)
    if isinstance(node, ast.Set) and all(isinstance(item, ast.Constant) for item in node.elts):
        node = ast.Subscript(ast.Name("Literal"), ast.Tuple(node.elts))
    if node is None:
        return types.unknown(at, f"type {text[:60]!r} of the docstring")
    types.notes.append(f"{at}: its type {text[:60]!r} is taken from the docstring")
    return types.schema(node, at)


def _response(node: ast.FunctionDef | ast.AsyncFunctionDef, said: Docstring, types: Types) -> dict[str, Json]:
    """The schema of the result, with what the docstring says of it; empty where neither says anything or the result is None."""
    if isinstance(node.returns, ast.Constant) and node.returns.value is None:
        return {}
    types.used.clear()
    schema = types.schema(node.returns, "response")
    definitions = types.definitions()
    return schema | ({"description": said.result} if said.result else {}) | ({"$defs": definitions} if definitions else {})
