"""Which handler lowers which ast node. The published table of nodes is made from this one."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable
from typing import Any

from eas.frontend_ast.arithmetic import lower_binary
from eas.frontend_ast.assignment import (
    lower_annotated,
    lower_assign,
    lower_augmented,
    lower_lambda,
    lower_nested_function,
    lower_walrus,
)
from eas.frontend_ast.attributes import lower_attribute
from eas.frontend_ast.branches import (
    lower_bool_operation,
    lower_comparison,
    lower_if,
    lower_if_expression,
)
from eas.frontend_ast.calls import call_method, is_callable_in_kernels, lower_call
from eas.frontend_ast.context import Context, Table
from eas.frontend_ast.expressions import (
    lower_constant,
    lower_f_string,
    lower_generator,
    lower_list_comprehension,
    lower_tuple,
    lower_unary,
)
from eas.frontend_ast.loops import lower_while
from eas.frontend_ast.matching import lower_match
from eas.frontend_ast.name_lookup import lower_name
from eas.frontend_ast.operands import Operand
from eas.frontend_ast.refused import (
    REFUSED_EXPRESSIONS,
    REFUSED_STATEMENTS,
    refuse_expression,
    refuse_statement,
)
from eas.frontend_ast.statements import (
    lower_assert,
    lower_break,
    lower_continue,
    lower_expression_statement,
    lower_for,
    lower_pass,
    lower_raise,
    lower_return,
)
from eas.frontend_ast.subscripts import lower_slice, lower_subscript

SUPPORTED_STATEMENTS: dict[type[ast.stmt], Callable[[Context, Any], None]] = {
    ast.AnnAssign: lower_annotated,
    ast.Assert: lower_assert,
    ast.Assign: lower_assign,
    ast.AugAssign: lower_augmented,
    ast.Break: lower_break,
    ast.Continue: lower_continue,
    ast.Expr: lower_expression_statement,
    ast.For: lower_for,
    ast.FunctionDef: lower_nested_function,
    ast.If: lower_if,
    ast.Match: lower_match,
    ast.Pass: lower_pass,
    ast.Raise: lower_raise,
    ast.Return: lower_return,
    ast.While: lower_while,
}

SUPPORTED_EXPRESSIONS: dict[type[ast.expr], Callable[[Context, Any], Operand]] = {
    ast.Attribute: lower_attribute,
    ast.BinOp: lower_binary,
    ast.BoolOp: lower_bool_operation,
    ast.Call: lower_call,
    ast.Compare: lower_comparison,
    ast.Constant: lower_constant,
    ast.GeneratorExp: lower_generator,
    ast.IfExp: lower_if_expression,
    ast.JoinedStr: lower_f_string,
    ast.Lambda: lower_lambda,
    ast.List: lower_tuple,
    ast.ListComp: lower_list_comprehension,
    ast.Name: lower_name,
    ast.NamedExpr: lower_walrus,
    ast.Slice: lower_slice,
    ast.Subscript: lower_subscript,
    ast.Tuple: lower_tuple,
    ast.UnaryOp: lower_unary,
}

TABLE = Table(
    {**SUPPORTED_STATEMENTS, **dict.fromkeys(REFUSED_STATEMENTS, refuse_statement)},
    {**SUPPORTED_EXPRESSIONS, **dict.fromkeys(REFUSED_EXPRESSIONS, refuse_expression)},
    frozenset(name for name, value in vars(builtins).items() if is_callable_in_kernels(value)),
    call_method,
)
