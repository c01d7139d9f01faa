"""The verifier: accepts what is right, and every rule refuses a module that breaks it."""

from __future__ import annotations

import pytest

from eas.septran.flat import verify as verifier
from eas.septran.flat.machine import Machine, Memory
from eas.septran.flat.nodes import Module
from eas.septran.flat.parser import parse_module
from eas.septran.flat.pipelines import expand_pipelines
from eas.septran.flat.verify import FlatVerifyError, find_violations, verify
from tests.septran.modules import flash_attention, gemm, softmax

DSA = Machine(
    "awesomedsa",
    ("HOST", "CORE", "THREAD"),
    (Memory("GLOBAL"), Memory("SPM", 1 << 16), Memory("ACC", 1 << 13)),
)
RIGHT = {
    **{f"gemm_{slots}": gemm(slots) for slots in (1, 2, 3)},
    **{f"gemm_{slots}_expanded": expand_pipelines(gemm(slots)) for slots in (2, 3)},
    "softmax": softmax("f16"),
    "flash_attention": flash_attention("f16", is_causal=True),
}


@pytest.mark.parametrize("name", RIGHT)
def test_a_right_module_is_accepted(name: str) -> None:
    verify(RIGHT[name], DSA)


def small(body: str, params: str = "") -> Module:
    """`Y`, `X` and `Z`, and some statements."""
    params = params or "Y: f32 [M, N] GLOBAL w, X: f32 [M, N] GLOBAL r, Z: i32 [N] GLOBAL r"
    return parse_module(
        f"module m({params}) machine awesomedsa {{\n"
        f"kernel k({params}) grid [g < (M + 7) // 8] threads 1 {{\n{body}\n}}\n}}\n"
    )


S = "alloc S: f32 [8, 4] SPM slots 2 pad 0\n"
T = "alloc T: f32 [8, 4] SPM slots 1 pad 0\n"
START = S + "start S.SPM[0:1, 0:1] <- X.GLOBAL[0:1, 0:1] token t\n"

WRONG = {
    ("name", "`S` is defined already"): S + S,
    ("name", "`g` is defined already"): "for g < 3 {\n}",
    ("name", "`M` is defined already"): "for M < 3 {\n}",
    ("name", "`a b` is no word"): 'for "a b" < 3 {\n}',
    ("defined", "nothing defines `S`"): "fill S.SPM[0:1, 0:1] 0.0",
    ("defined", "nothing defines `k`"): S + "fill S.SPM[k : 1, 0:1] 0.0",
    ("defined", "nothing defines `K`"): "for k < K {\n}",
    ("defined", "nothing defines `q`"): S + "map S.SPM[0:1, 0:1] = f32(int(q))",
    ("memory", "`S` is in SPM, not in ACC"): S + "fill S.ACC[0:1, 0:1] 0.0",
    ("memory", "awesomedsa has no memory `SHARED`"): "alloc S: f32 [8] SHARED slots 1 pad 0",
    ("capacity", "16384 bytes of ACC are in use, of 8192"): (
        "alloc S: f32 [32, 60] ACC slots 2 pad 4"
    ),
    ("number", "`S` has no elements"): "alloc S: f32 [8] SPM slots 0 pad 0",
    ("number", "0 stages"): "for k < 3 pipelined 0 {\n}",
    ("number", "awesomedsa has no processor `BLOCK`"): "pfor i < 3 at BLOCK {\n}",
    ("rank", "S.SPM[0 : 1] has 1 axes of 2"): S + "fill S.SPM[0:1] 0.0",
    ("bounds", "S.SPM[0 : 9, 0 : 1] is outside of `S`"): (
        S + "fill S.SPM[0:9, 0:1] 0.0"
    ),
    ("bounds", "Y.GLOBAL[8*g : 8, 0 : 1] is outside of `Y` if M = 1, g = 0"): (
        "fill Y.GLOBAL[8*g : 8, 0:1] 0.0"
    ),
    ("bounds", "S.SPM[i, 0 : 4] is outside of `S` if i = 8"): (
        S + "for i < 9 {\nfill S.SPM[i, 0:4] 0.0\n}"
    ),
    ("slot", "S.SPM@(i)[0 : 1, 0 : 1] has no such slot if i = 2"): (
        S + "for i < 3 {\nfill S.SPM@(i)[0:1, 0:1] 0.0\n}"
    ),
    ("shape", "the shapes [4, 4] and [8, 4] differ"): (
        S + T + "fill T.SPM[0:8, 0:4] 0.0\ncopy S.SPM[0:8, 0:4] <- T.SPM[0:4, 0:4]"
    ),
    ("shape", "[8, 4] does not fit into [4, 4]"): (
        S + T + "copy S.SPM[0:4, 0:4] <- T.SPM[0:8, 0:4] fill 0.0"
    ),
    ("shape", "the shapes [2, 4] and [8, 4] differ"): (
        S + T + "map S.SPM[0:8, 0:4] = T.SPM[0:2, 0:4]"
    ),
    ("shape", "[8, 4] is not broadcast to [4]"): S + T + "map S.SPM[0, 0:4] = T.SPM[0:8, 0:4]",
    ("shape", "there is no axis 2 in [8, 4]"): (
        S + T + "reduce S.SPM[0:8, 0:1] add= T.SPM[0:8, 0:4] axis 2"
    ),
    ("shape", "the shapes [8, 1] and [8, 4] differ"): (
        S + T + "reduce S.SPM[0:8, 0:4] add= T.SPM[0:8, 0:4] axis 1"
    ),
    ("shape", "the shapes [4, 8, 4] and [8, 8, 4] differ"): (
        S + T + "mma S.SPM[0:8, 0:4] += T.SPM[0:8, 0:4] @ T.SPM[0:8, 0:4] by dsa.mma"
    ),
    ("shape", "the factors and the sum of a product have two axes"): (
        S + T + "mma S.SPM[0, 0:4] += T.SPM[0, 0:4] @ T.SPM[0:4, 0:4] by dsa.mma"
    ),
    ("dtype", "a copy of i32 to f32"): S + "copy S.SPM[0, 0:1] <- Z.GLOBAL[0:1]",
    ("dtype", "`add` of f32 and i32"): S + "map S.SPM[0, 0:1] = S.SPM[0, 0:1] + Z.GLOBAL[0:1]",
    ("dtype", "i32 is stored as f32"): S + "map S.SPM[0, 0:1] = Z.GLOBAL[0:1]",
    ("dtype", "`exp` of i32"): S + "map S.SPM[0, 0:1] = f32(exp(Z.GLOBAL[0:1]))",
    ("dtype", "`select` wants a condition"): (
        S + "map S.SPM[0, 0:1] = select(1.0:f32, 1.0:f32, 2.0:f32)"
    ),
    ("dtype", "`column` wants a view of one axis"): (
        S + T + "map S.SPM[0:8, 0:4] = column(T.SPM[0:8, 0:4])"
    ),
    ("dtype", "i32 is reduced to f32"): S + "reduce S.SPM[0, 0:1] add= Z.GLOBAL[0:1] axis 0",
    ("overlap", "S.SPM[0 : 7, 0 : 4] is read while S.SPM[1 : 7, 0 : 4] is written"): (
        S + "map S.SPM[1:7, 0:4] = S.SPM[0:7, 0:4]"
    ),
    ("overlap", "S.SPM[0, 0 : 4] is read while S.SPM[0 : 8, 0 : 4] is written"): (
        S + "map S.SPM[0:8, 0:4] = S.SPM[0:8, 0:4] + S.SPM[0, 0:4]"
    ),
    ("overlap", "S.SPM[0 : 4, 0 : 4] is read while S.SPM[0 : 4, 0 : 4] is written"): (
        S + "mma S.SPM[0:4, 0:4] += S.SPM[0:4, 0:4] @ S.SPM[4:4, 0:4] by dsa.mma"
    ),
    ("privilege", "`X` is read only"): "fill X.GLOBAL[0:1, 0:1] 0.0",
    ("privilege", "`Y` is read, but nothing has written it"): (
        S + "copy S.SPM[0:1, 0:1] <- Y.GLOBAL[0:1, 0:1]"
    ),
    ("token", "nothing starts a copy of `t`"): "wait t",
    ("token", "nothing waits for this copy of `t`"): START,
    ("token", "0 copies of `t` are in flight, it keeps 0"): START + "wait t\nwait t",
    ("token", "1 copies of `t` are in flight, it keeps 1"): START + "wait t keep 1",
    ("token", "0 copies of `t` are in flight, it keeps 0 if M = 2"): (
        START + "for i < M {\nwait t\n}"
    ),
    ("barrier", "whether it is reached depends on `i`"): (
        "pfor i < 4 at THREAD {\nif i < 2 {\nbarrier CORE SPM\n}\n}"
    ),
    ("race", "Y.GLOBAL[0 : 1, 0 : 1] may be the same elements for two values of `g`"): (
        "fill Y.GLOBAL[0:1, 0:1] 0.0"
    ),
    (
        "race",
        "S.SPM[i, 0 : 1] and S.SPM[i + 1, 0 : 1] may be the same elements for two values of `i`",
    ): (
        S + "fill S.SPM[0:8, 0:4] 0.0\npfor i < 7 at THREAD {\n"
        "map S.SPM[i, 0:1] = S.SPM[i + 1, 0:1]\n}"
    ),
    ("race", "S.SPM[i + j, 0 : 1] may be the same elements for two values of `i`"): (
        S + "pfor i < 4 at THREAD {\nfor j < 2 {\nfill S.SPM[i + j, 0:1] 0.0\n}\n}"
    ),
    ("reduction", "`S` is only added to"): (
        S + "pfor i < 4 at THREAD reduce add S {\nfill S.SPM[0:1, 0:1] 0.0\n}"
    ),
    ("pipeline", "no copy of the loop can run ahead"): S + "for k < 4 pipelined 3 {\n"
    "copy S.SPM[0:1, 0:1] <- X.GLOBAL[0:1, 0:1]\n}",
    ("pipeline", "2 trips in a row do not use as many slots"): S + "for k < 4 pipelined 2 {\n"
    "copy S.SPM@(0)[0:1, 0:1] <- X.GLOBAL[0:1, 0:1]\n}",
}  # fmt: skip


@pytest.mark.parametrize(("rule", "message"), WRONG)
def test_a_rule_refuses_what_breaks_it(rule: str, message: str) -> None:
    violations = find_violations(small(WRONG[rule, message]), DSA)
    assert [(each.rule, each.message) for each in violations] == [(rule, message)]


MODULES = {
    ("parameter", "`Q` is neither a parameter of the module nor temporary"): (
        "module m(Y: f32 [M] GLOBAL w) machine c {\n"
        "kernel k(Q: f32 [M] GLOBAL w) grid [] threads 1 {\n}\n}"
    ),
    ("parameter", "`Y` is not what the module says it is"): (
        "module m(Y: f32 [M] GLOBAL w) machine c {\n"
        "kernel k(Y: f16 [M] GLOBAL w) grid [] threads 1 {\n}\n}"
    ),
    ("privilege", "`Y` is read only in the module"): (
        "module m(Y: f32 [M] GLOBAL r) machine c {\n"
        "kernel k(Y: f32 [M] GLOBAL w) grid [] threads 1 {\n}\n}"
    ),
    ("number", "0 threads"): (
        "module m(Y: f32 [M] GLOBAL r) machine c {\n"
        "kernel k(Y: f32 [M] GLOBAL r) grid [] threads 0 {\n}\n}"
    ),
    ("defined", "no axis has the size `M` by itself"): (
        "module m(Y: f32 [M + 1] GLOBAL r) machine c {\n}"
    ),
    ("defined", "no parameter has the size `K` of `T`"): (
        "module m(Y: f32 [M] GLOBAL r) machine c {\ntemp T: f32 [K] GLOBAL\n}"
    ),
    ("name", "two variables of the grid have one name"): (
        "module m(Y: f32 [M] GLOBAL r) machine c {\n"
        "kernel k(Y: f32 [M] GLOBAL r) grid [i < M, i < M] threads 1 {\n}\n}"
    ),
}


@pytest.mark.parametrize(("rule", "message"), MODULES)
def test_a_rule_refuses_a_module_that_breaks_it(rule: str, message: str) -> None:
    violations = find_violations(parse_module(MODULES[rule, message]))
    assert [(each.rule, each.message) for each in violations] == [(rule, message)]


def test_every_rule_of_the_docstring_has_a_test() -> None:
    lines = (verifier.__doc__ or "").splitlines()
    listed = [line.split()[0] for line in lines if line.startswith("    ")]
    assert set(listed) == {rule for rule, _ in (*WRONG, *MODULES)}


def test_an_error_names_the_rule_the_kernel_and_the_statement() -> None:
    with pytest.raises(FlatVerifyError) as caught:
        verify(small("fill X.GLOBAL[8*g : min(8, M - 8*g), 0 : N] 0.0"))
    assert str(caught.value) == (
        "[privilege] in `k`: `X` is read only\n  fill X.GLOBAL[8*g : min(8, M - 8*g), 0 : N] 0.0"
    )


def test_a_condition_around_a_view_is_believed() -> None:
    body = S + "for i < 9 {\nif i < 8 {\nfill S.SPM[i, 0:4] 0.0\n}\n}"
    assert find_violations(small(body), DSA) == []


def test_a_statement_may_read_other_parts_of_what_it_writes() -> None:
    body = S + (
        "map S.SPM[0:4, 0:4] = S.SPM[4:4, 0:4] + S.SPM[0:4, 0:4]\n"
        "copy S.SPM@(1)[0:8, 0:4] <- S.SPM@(0)[0:8, 0:4]\n"
    )
    assert find_violations(small(body), DSA) == []


def test_split_reductions_may_add_to_one_place() -> None:
    body = (
        T + "fill T.SPM[0:8, 0:4] 0.0\npfor i < 4 at THREAD reduce add T {\n"
        "map T.SPM[0:1, 0:1] = T.SPM[0:1, 0:1] + 1.0:f32\n}"
    )
    assert find_violations(small(body), DSA) == []


def test_a_barrier_in_a_uniform_condition_is_accepted() -> None:
    body = "pfor i < 4 at THREAD {\nif g < 2 {\nbarrier CORE SPM\n}\n}"
    assert find_violations(small(body), DSA) == []
