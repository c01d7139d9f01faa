"""Malformed and hostile files: each must give an error at a place, soon and in little memory."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

# `@` stands for what is wrong.
MAPPING = """\
machine: cpu
entrypoint: gemm_host
task_mappings:
  gemm_host: {task_name: gemm_host_logic, proc: HOST, @KEY@}
"""
PLACES = {
    "task_name": "task_name: @",
    "proc": "proc: @",
    "mems": "mems: @",
    "memory": "mems: {A: @}",
    "locals": "locals: @",
    "local": "locals: {t: @}",
    "tunables": "tunables: @",
    "tunable": "tunables: {block_m: @}",
    "calls": "calls: @",
    "call": "calls: {gemm_block_logic: @}",
    "pipeline": "pipeline: @",
    "threads": "threads: @",
    "bindings": "leaf_task_bindings: @",
    "binding": "leaf_task_bindings: {gemm_leaf_logic: @}",
    "layout": "layout: @",
    "layout_of": "layout: {A: @}",
    "pad": "layout: {A: {pad: @}}",
}
VALUES = {
    "null": "null",
    "list": "[1, 2]",
    "text": "'a text, not a name'",
    "float": "1.5",
    "infinity": ".inf",
    "map_of_numbers": "{1: 2}",
    "python_object": "!!python/object/apply:os.system [echo]",
    "python_name": "!!python/name:os.system ''",
    "huge_number": "1" + "0" * 400,
    "unknown_alias": "*nothing",
    "open_tune": "!tune {type: choice, values: []}",
    "tune_without_map": "!tune 1",
    "set": "!!set {a, b}",
    "binary": "!!binary aGVsbG8=",
    "merge_key": "{<<: {a: b}}",
    "tune_of_everything": "!tune {type: int, low: -2147483648, high: 2147483647}",
}


def wrong_values() -> Iterator[tuple[str, bytes]]:
    for place, key in PLACES.items():
        for value, text in VALUES.items():
            line = key.replace("@", text)
            whole = MAPPING.replace("@KEY@", line)
            if place in ("task_name", "proc"):  # they are there already
                whole = whole.replace(f"{place}: gemm_host_logic, ", "")
                whole = whole.replace("proc: HOST, ", "") if place == "proc" else whole
            yield f"{place}_is_{value}", whole.encode()


def bomb(width: int, depth: int, opening: str = "[", closing: str = "]") -> str:
    lines = [f"a0: &a0 {opening}{', '.join(['x'] * width)}{closing}"]
    for level in range(1, depth):
        aliases = ", ".join([f"*a{level - 1}"] * width)
        lines.append(f"a{level}: &a{level} {opening}{aliases}{closing}")
    return "machine: cpu\n" + "\n".join(lines) + "\n"


def text_of(key: str) -> bytes:
    return MAPPING.replace("@KEY@", key).encode()


def malformed() -> dict[str, bytes]:
    head = b"machine: cpu\n"
    return {
        "empty": b"",
        "spaces": b"   \n \n",
        "comment": b"# nothing\n",
        "scalar": b"cpu\n",
        "list": b"- a\n- b\n",
        "tune_at_top": b"!tune {type: bool}\n",
        "null_byte": head + b"entry\x00point: a\n",
        "escape_character": head + b"entrypoint: \x1b[31mred\n",
        "delete_character": head + b"entrypoint: a\x7f\n",
        "bad_utf8": head + b"entrypoint: \xff\xfe\n",
        "overlong_utf8": head + b"entrypoint: \xc0\xaf\n",
        "surrogate_utf8": head + b"entrypoint: \xed\xa0\x80\n",
        "cut_utf8": head + b"entrypoint: \xe4\xb8",
        "latin1": head + "# gr\xfcn\n".encode("latin-1"),
        "utf16": "machine: cpu\n".encode("utf-16"),
        "utf32": "machine: cpu\n".encode("utf-32"),
        "non_character": head + "entrypoint: \uffff\n".encode(),
        "elf": b"\x7fELF\x02\x01\x01\x00" + bytes(64),
        "png": b"\x89PNG\r\n\x1a\n" + bytes(range(256)),
        "tab": head + b"task_mappings:\n\tgemm_host: {}\n",
        "tab_in_flow": head + b"task_mappings: {\n\t\tgemm_host\t:\t[}\n",
        "open_brace": head + b"task_mappings: {gemm_host: {\n",
        "open_bracket": head + b"constraints: [a < b\n",
        "open_quote": head + b'entrypoint: "gemm_host\n',
        "open_single_quote": head + b"entrypoint: 'gemm_host\n",
        "too_many_braces": head + b"task_mappings: {}}\n",
        "mixed_brackets": head + b"task_mappings: {a: [}]\n",
        "bad_indentation": head + b"task_mappings:\n  a:\n    b: 1\n   c: 2\n",
        "value_twice": head + b"a: b: c\n",
        "at_sign": head + b"entrypoint: @home\n",
        "backtick": head + b"entrypoint: `id`\n",
        "percent": head + b"entrypoint: %d\n",
        "bad_escape": head + b'entrypoint: "\\q"\n',
        "escape_beyond_unicode": head + b'entrypoint: "\\UFFFFFFFF"\n',
        "short_escape": head + b'entrypoint: "\\x4"\n',
        "lone_surrogate": head + b'entrypoint: "\\uD800"\n',
        "null_escape": head + b'entrypoint: "a\\0b"\n',
        "anchor_without_name": head + b"a: & b\n",
        "alias_without_name": head + b"a: *\n",
        "two_anchors": head + b"a: &x &y 1\n",
        "anchor_of_alias": head + b"a: &x 1\nb: &y *x\n",
        "alias_of_itself": head + b"task_mappings: &a {b: *a}\n",
        "alias_of_itself_in_list": head + b"constraints: &a [*a]\n",
        "alias_as_key": head + b"a: &a b\n*a : c\n",
        "merge_key": head + b"a: &a {b: c}\ntask_mappings:\n  <<: *a\n",
        "merge_list": head + b"task_mappings:\n  <<: [{a: {}}, {b: {}}]\n",
        "complex_key": head + b"? [a, b]\n: c\n",
        "map_as_key": head + b"{a: b}: c\n",
        "number_as_key": head + b"1: a\n",
        "null_as_key": head + b"~: a\n",
        "key_without_value": head + b"entrypoint\n",
        "duplicate_keys": head + b"machine: cpu\n" * 30,
        "duplicate_keys_in_flow": head + b"task_mappings: {a: {}, a: {}, a: {}}\n",
        "two_documents": head + b"---\n" + head,
        "many_documents": b"---\nmachine: cpu\n" * 2000,
        "end_of_document": head + b"...\nmore: text\n",
        "yaml_1_1": b"%YAML 1.1\n---\nmachine: cpu\n",
        "yaml_9": b"%YAML 9.9\n---\nmachine: cpu\n",
        "two_directives": b"%YAML 1.2\n%YAML 1.2\n---\nmachine: cpu\n",
        "tag_directive": b"%TAG ! tag:example.com,2000:\n---\nmachine: !tune {a: b}\n",
        "unknown_directive": b"%EVAL os.system\n---\nmachine: cpu\nx: 1\n",
        "python_object_at_top": b"!!python/object:os.system {}\n",
        "python_module": head + b"a: !!python/module:os ''\n",
        "python_new": head + b"a: !!python/object/new:subprocess.Popen [[id]]\n",
        "python_tuple": head + b"a: !!python/tuple [1, 2]\n",
        "ruby_object": head + b"a: !ruby/object:Gem::Installer {}\n",
        "verbatim_tag": head + b"a: !<tag:yaml.org,2002:python/object/apply:os.system> [id]\n",
        "open_verbatim_tag": head + b"a: !<tag\n",
        "long_tag": head + b"a: !" + b"t" * 3000 + b" 1\n",
        "tune_upper_case": text_of("tunables: {block_m: !Tune {type: bool}}"),
        "tune_twice": text_of("tunables: {block_m: !tune !tune {type: bool}}"),
        "tune_in_tune": text_of(
            "tunables: {block_m: !tune {type: choice, values: [!tune {type: bool}]}}"
        ),
        "tune_as_map": text_of("tunables: !tune {type: bool}"),
        "json_with_mistakes": b'{"machine": "cpu", "entry": [1, 2, {"a": null}]}\n',
        "shell": b"#!/bin/sh\nrm -rf /tmp/nothing\n",
        "python": b"import os\nos.system('true')\n",
        "windows_lines": b"machine: cpu\r\nentrypoint: [\r\n",
        "old_mac_lines": b"machine: cpu\rentrypoint: [\r",
    }


def large() -> dict[str, bytes]:
    deep = 20_000
    head = b"machine: cpu\n"
    long = b"x" * 100_000
    return {
        "deep_lists": head + b"a: " + b"[" * deep + b"]" * deep,
        "deep_maps": head + b"a: " + b"{a: " * deep + b"}" * deep,
        "deep_open_lists": head + b"a: " + b"[" * deep,
        "deep_dashes": b"- " * deep + b"a\n",
        "deep_dashes_in_lines": head + b"a:\n" + b"\n".join(b" " * n + b"-" for n in range(1, 400)),
        "deep_blocks": b"\n".join(b" " * n + b"a:" for n in range(500)),
        "deep_keys": b"? " * deep,
        "deep_lines": head + b"a:\n" + b"[\n" * deep,
        "alias_bomb": bomb(10, 9).encode(),
        "alias_bomb_of_maps": b"machine: cpu\na: &a {k: v}\n"
        + b"".join(b"b%d: &b%d [*a, *a, *a, *a, *a, *a, *a, *a]\n" % (n, n) for n in range(2000)),
        "alias_bomb_wide": bomb(400, 3).encode(),
        "alias_bomb_long": bomb(2, 60).encode(),
        "alias_bomb_in_tune": text_of("mems: &a {A: &b [&c [x, x], *c, *c, *c]}, locals: *a"),
        "many_anchors": head + b"".join(b"a%d: &x%d 1\n" % (n, n) for n in range(9000)),
        "many_keys": b"".join(b"key_%d: 1\n" % n for n in range(9000)),
        "many_keys_in_flow": head
        + b"a: {"
        + b",\n".join(b"k%d: 1" % n for n in range(9000))
        + b"}",
        "many_items": head + b"constraints: [" + b"1,\n" * 20_000 + b"]\n",
        "many_instances": b"machine: cpu\nentrypoint: x\ntask_mappings:\n"
        + b"".join(b"  i%d: {proc: NOWHERE}\n" % n for n in range(2400)),
        "many_constraints": head + b"constraints:\n" + b'  - "a.b < "\n' * 4000,
        "many_mistakes": head + b"".join(b"%d: [a, {b: *c}]\n" % n for n in range(1600)),
        "one_long_line": head + b"entrypoint: " + long + b"\n",
        "one_long_comment": head + b"# " + long + b"\n",
        "one_long_key": long + b": 1\n",
        "one_long_name": head + b"entrypoint: " + b"x" * 4000 + b"\n",
        "long_block_scalar": head + b"entrypoint: |\n" + b"  line\n" * 20_000,
        "long_quoted_scalar": head + b'entrypoint: "' + b"line\n\n" * 20_000 + b'"\n',
        "long_plain_scalar": head + b"entrypoint: a\n" + b"  b\n" * 20_000,
        "too_large": b"# line\n" * 60_000 + head,
        "much_too_large": head + b"#" * (8 << 20),
        "only_spaces": b" " * 200_000,
        "only_lines": b"\n" * 200_000,
        "only_dashes": b"-" * 4000,
        "only_colons": b": " * 2000,
        "only_quotes": b'"' * 4001,
        "only_stars": b"* " * 2000,
        "long_integer": head + b"a: " + b"9" * 4000,
        "long_hexadecimal": head + b"a: 0x" + b"f" * 4000,
        "long_octal": head + b"a: 0o" + b"7" * 4000,
        "long_float": head + b"a: 1." + b"0" * 4000 + b"1",
        "long_exponent": text_of("tunables: {block_m: 1e999999999}"),
        "long_base_60": head + b"a: " + b"1:" * 1999 + b"1",
    }


def expressions() -> Iterator[tuple[str, bytes]]:
    for name, text in {
        "deep": "(" * 240 + "1 < 2" + ")" * 240,
        "negations": "not " * 120 + "1 < 2",
        "minuses": "-" * 490 + "1 < 2",
        "long": " and ".join(["1 < 2"] * 400),
        "power": "9 ** 9 ** 9 ** 9 > 0",
        "digits": "9" * 400 + " > 0",
        "shift": "1 << 999999999 > 0",
        "call": "__import__('os').system('true') == 0",
        "lambda": "(lambda: 1)() == 1",
        "attribute": "().__class__.__bases__[0] == 1",
        "string": "'a' * 999999999 == 1",
        "walrus": "(a := 1) == 1",
        "comprehension": "[a for a in b] == 1",
        "list": "[1] * 999999999 == 1",
        "if": "1 if 2 else 3",
        "null": "1 < 2\\0",
        "lines": "1 <\\n2 3",
        "unicode": "１ < ２",
        "surrogate": "1 < \\uD800",
    }.items():
        for key in ("constraints", "when"):
            yield f"{key}_{name}", f'machine: cpu\n{key}: ["{text}"]\n'.encode()


def links(folder: Path) -> Iterator[tuple[str, bytes]]:
    """Files that name others; some of these are made here."""
    os.mkfifo(folder / "pipe.map.yaml")
    (folder / "ring_a.map.yaml").write_text("extends: ring_b.map.yaml\n")
    (folder / "ring_b.map.yaml").write_text("extends: [ring_c.map.yaml, ring_a.map.yaml]\n")
    (folder / "ring_c.map.yaml").write_text("extends: ring_a.map.yaml\n")
    (folder / "loop.map.yaml").symlink_to("loop.map.yaml")
    (folder / "large.map.yaml").write_bytes(b"# line\n" * 60_000)
    (folder / "wrong.map.yaml").write_bytes(b"\xff\xfe\x00")
    for n in range(40):
        (folder / f"chain_{n}.map.yaml").write_text(f"extends: chain_{n + 1}.map.yaml\n")
        (folder / f"tree_{n}.map.yaml").write_text(f"extends: {[f'tree_{n + 1}.map.yaml'] * 2}\n")
    for name, path in {
        "itself": "links_itself.map.yaml",
        "ring": "ring_a.map.yaml",
        "chain": "chain_0.map.yaml",
        "tree": "tree_0.map.yaml",
        "missing": "missing.map.yaml",
        "folder": ".",
        "root": "/",
        "device": "/dev/zero",
        "random": "/dev/urandom",
        "pipe": "pipe.map.yaml",
        "loop": "loop.map.yaml",
        "large": "large.map.yaml",
        "wrong": "wrong.map.yaml",
        "long": "../" * 300 + "x",
        "null": '"a\\0b"',
        "surrogate": '"\\uD800"',
        "empty": '""',
        "itself_100_times": "[" + "links_itself_100_times.map.yaml, " * 100 + "]",
    }.items():
        yield f"links_{name}", f"machine: cpu\nextends: {path}\n".encode()
    for name, machine in {
        "device": "/dev/zero",
        "pipe": "pipe.map.yaml",
        "missing": "missing.yaml",
        "mapping": "ring_a.map.yaml",
        "null": '"a\\0b/c"',
        "surrogate": '"\\uD800"',
        "folder": "./",
        "parent": "../../etc/passwd",
        "empty": '""',
    }.items():
        yield f"machine_{name}", f"machine: {machine}\ntask_mappings: {{}}\n".encode()


def write_all(folder: Path) -> list[Path]:
    """Every hostile file, written to a folder; the small ones with one wrong value come last."""
    files: list[Path] = []
    tables = [large().items(), malformed().items(), expressions(), links(folder), wrong_values()]
    for table in tables:
        for name, content in table:
            files.append(folder / f"{name}.map.yaml")
            files[-1].write_bytes(content)
    return files
