"""Conditions in the words of pandas' `query`, checked before they are evaluated, so that they can run no code.

A condition compares columns, numbers and texts, such as `truth_brightness < 50 and outcome == 'FN'`. Names in backticks
may hold any character. What else Python and pandas understand (calls, attributes, `@`, subscripts, powers) is refused.
"""

import ast
import re
from collections.abc import Collection, Mapping

import numpy as np
import pandas as pd

from ...support import InputError, first_line
from ...tables import messages

# What a condition may be made of.
ALLOWED = (
    *(ast.Expression, ast.Load, ast.Name, ast.Constant, ast.List, ast.Tuple),
    *(ast.BoolOp, ast.And, ast.Or, ast.UnaryOp, ast.Not, ast.Invert, ast.USub, ast.UAdd),
    *(ast.Compare, ast.Eq, ast.NotEq, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.In, ast.NotIn),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.BitAnd, ast.BitOr),
)
CONSTANTS = (str, int, float, bool)

# Texts in quotes, which stay as they are, and names in backticks.
QUOTED = re.compile(r"""'(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*"|`(?P<name>[^`]*)`""")

# Names in backticks become identifiers of the same length, so that places in the text stay the same. They begin with
# one of these letters (runes), which no column's name will begin with.
FIRST_LETTER = 0x16A0
N_LETTERS = 75

# Of a longer condition, messages show so many characters of its beginning.
LONGEST_SHOWN = 200

EXAMPLE = "such as outcome == 'FN' and truth_x < 50"
NAME = "explore: filter"


def passing_condition(condition: str, tables: Mapping[str, pd.DataFrame]) -> list[np.ndarray]:
    """For each table by its name, which of its rows fulfil a condition; rows where it is null do not.

    Where there are several tables, `submission` is a column, too. Raises InputError if the condition cannot be parsed,
    has other parts than comparisons of columns, numbers and texts, or names a column that a table does not have.
    """
    text, quoted = _without_backticks(condition)
    expression = _parsed(text, condition)
    names = {name: quoted.get(name, name) for name in _names(expression, condition)}
    factors = {names[name] for name in _factors(expression, condition)}
    return [_fulfilled(text, condition, names, factors, name, table, len(tables) > 1) for name, table in tables.items()]


def _shown(condition: str) -> str:
    """A condition as messages show it: in quotes, and not too long."""
    return repr(condition if len(condition) <= LONGEST_SHOWN else f"{condition[:LONGEST_SHOWN]}...")


def _without_backticks(condition: str) -> tuple[str, dict[str, str]]:
    """The condition with an identifier for each name in backticks, and the names by their identifiers."""
    quoted: dict[str, str] = {}

    def identifier(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None:
            return found[0]
        if len(quoted) >= N_LETTERS:
            raise InputError(f"{NAME}: {_shown(condition)} has more than {N_LETTERS} names in backticks; give fewer")
        made = chr(FIRST_LETTER + len(quoted)) + "_" * (len(found[0]) - 1)
        quoted[made] = name
        return made

    rest = QUOTED.sub("", condition)
    odd = [sign for sign in ("#", "\\", "`") if sign in rest]
    if odd:
        place = "without its pair" if odd[0] == "`" else "outside of a text in quotes"
        raise InputError(f"{NAME}: {_shown(condition)} has a {odd[0]} {place}; write a condition {EXAMPLE}")
    return QUOTED.sub(identifier, condition), quoted


def _parsed(text: str, condition: str) -> ast.Expression:
    """The expression that a text is; messages show the condition as it was written."""
    try:
        # Leading blanks would be an indent; within brackets a condition may go over several lines.
        return ast.parse(f"({text}\n)", mode="eval")
    except SyntaxError as error:
        lines = [*condition.split("\n"), ""]
        line, column = error.lineno or 1, (error.offset or 1) - 1
        rest = lines[line - 1][max(column - (line == 1), 0) :].strip()  # the bracket is in the first line
        where = f"at {_shown(rest)}" if rest else "at its end"
        raise InputError(f"{NAME}: {_shown(condition)} cannot be parsed {where}; write a condition {EXAMPLE}") from None
    except (ValueError, RecursionError, MemoryError) as error:  # null bytes; brackets within brackets without end
        raise InputError(f"{NAME}: the condition cannot be parsed: {first_line(error)}") from None


def _names(expression: ast.Expression, condition: str) -> list[str]:
    """The names in an expression; raises InputError if something in it is no part of a condition."""
    names = []
    for node in ast.walk(expression):
        is_allowed = isinstance(node, ALLOWED)
        if isinstance(node, ast.Constant):
            is_allowed = isinstance(node.value, CONSTANTS)
        if not is_allowed:
            where = f" at {_shown(ast.unparse(node))}" if isinstance(node, ast.expr) else ""
            kind = type(node).__name__
            problem = f"{_shown(condition)} has more than a condition may have{where} ({kind})"
            raise InputError(f"{NAME}: {problem}; compare columns with numbers and texts, {EXAMPLE}")
        if isinstance(node, ast.Name):
            names.append(node.id)
    if not names:
        raise InputError(f"{NAME}: {_shown(condition)} names no column; write a condition {EXAMPLE}")
    return names


def _factors(expression: ast.Expression, condition: str) -> list[str]:
    """The names that are in products, or divided with a remainder; raises InputError if a text or a list is.

    A text times a number is the text so many times, and with `%` it is as wide as the reader of it says: a short
    condition could fill the memory.
    """
    names: list[str] = []
    products = [
        node for node in ast.walk(expression) if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Mod)
    ]
    for product in products:
        for node in _operands(product):
            if isinstance(node, ast.List | ast.Tuple) or (
                isinstance(node, ast.Constant) and isinstance(node.value, str)
            ):
                where = f"{_shown(condition)} has {_shown(ast.unparse(node))} in a product"
                raise InputError(f"{NAME}: {where}; compare columns with numbers and texts, {EXAMPLE}")
            names += [node.id] if isinstance(node, ast.Name) else []
    return names


def _operands(node: ast.expr) -> list[ast.expr]:
    """What is added, multiplied, divided ... in an expression."""
    if isinstance(node, ast.BinOp):
        return [*_operands(node.left), *_operands(node.right)]
    return _operands(node.operand) if isinstance(node, ast.UnaryOp) else [node]


def _fulfilled(
    text: str,
    condition: str,
    names: Mapping[str, str],
    factors: Collection[str],
    title: str,
    table: pd.DataFrame,
    is_one_of_several: bool,
) -> np.ndarray:
    """Which rows of a table fulfil a condition.

    `names` are the columns by their names in the text; of these, `factors` have to be numbers.
    """
    if is_one_of_several and "submission" not in table:
        table = table.assign(submission=title)
    for name in names.values():
        if name not in table:
            hint = messages.meant([name], table.columns)
            there = f"; {hint}" if hint else f"; there are {messages.listed(table.columns)}"
            raise InputError(f"{NAME}: {title}: there is no column {name!r}{there}")
        if name in factors and (pd.api.types.is_object_dtype(table[name]) or pd.api.types.is_string_dtype(table[name])):
            raise InputError(
                f"{NAME}: {title}: column {name} is of type {table[name].dtype}; only numbers have products"
            )
    needed = pd.DataFrame({name: table[column] for name, column in names.items()})
    try:
        answer = needed.eval(re.sub(r"[\r\n]", " ", text.strip()), engine="python")
    except Exception as error:  # what pandas raises of types that do not fit each other
        hint = "compare numbers with numbers, and texts with texts"
        raise InputError(f"{NAME}: {_shown(condition)} cannot be evaluated: {first_line(error)}; {hint}") from None
    if not isinstance(answer, pd.Series) or not pd.api.types.is_bool_dtype(answer.dtype):
        raise InputError(f"{NAME}: {_shown(condition)} is no condition; write one {EXAMPLE}")
    return answer.to_numpy(bool, na_value=False)
