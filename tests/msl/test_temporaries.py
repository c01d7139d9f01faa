"""Which expressions become named temporaries, and where these are declared."""

from __future__ import annotations

from tests.msl.texts import body_of, lines


def test_a_value_that_is_used_once_is_inlined() -> None:
    ops = """
        %9: i32 = 0
        %u.10: f32 = mul %x.5, %x.5
        %v.11: f32 = sqrt %u.10
        store %a.0[%9] = %v.11
    """
    assert body_of(ops, 1) == "a[0] = precise::sqrt(x * x);\n"


def test_a_value_that_is_used_twice_has_the_users_name() -> None:
    ops = """
        %9: i32 = 0
        %u.10: f32 = sqrt %x.5
        %v.11: f32 = add %u.10, %u.10
        store %a.0[%9] = %v.11
    """
    expected = """
        const float u = precise::sqrt(x);
        a[0] = u + u;
    """
    assert body_of(ops, 1) == lines(expected)


def test_a_little_arithmetic_without_a_name_is_rematerialized() -> None:
    ops = """
        %9: i32 = 1
        %10: i32 = add %n.4, %9
        store %i.2[%10] = %9
        store %j.3[%10] = %9
    """
    expected = """
        i[n + 1] = 1;
        j[n + 1] = 1;
    """
    assert body_of(ops, 1) == lines(expected)


def test_a_load_happens_before_what_overwrites_it() -> None:
    ops = """
        %9: i32 = 0
        %10: f32 = load %a.0[%9]
        store %a.0[%9] = %x.5
        store %b.1[%9] = %10
    """
    expected = """
        const float a_value = a[0];
        a[0] = x;
        b[0] = a_value;
    """
    assert body_of(ops, 1) == lines(expected)


def test_a_carried_value_that_is_needed_after_its_change_is_copied_before() -> None:
    ops = """
        %9: i32 = 0
        %10: i32 = 1
        %11: f32, %12: f32 = for %13: i32 = %9 .. %n.4 by %10 carrying (
            %u.14: f32 = %x.5,
            %v.15: f32 = %x.5,
        ) {
          %16: f32 = for %17: i32 = %9 .. %n.4 by %10 carrying (%u.18: f32 = %u.14) {
            %19: f32 = add %u.18, %u.14
            yield %19
          } else (%20: f32)
          yield %16, %u.14
        } else (%21: f32, %22: f32)
        store %a.0[%9] = %11
        store %b.1[%9] = %12
    """
    expected = """
        float u = x;
        float v = x;
        for (int i_1 = 0; i_1 < n; ++i_1) {
            float u_1 = u;
            for (int i_2 = 0; i_2 < n; ++i_2) {
                u_1 += u;
            }
            v = u;
            u = u_1;
        }
        a[0] = u;
        b[0] = v;
    """
    assert body_of(ops, 1) == lines(expected)


def test_a_value_that_only_a_masked_store_uses_is_computed_under_the_mask() -> None:
    ops = """
        %k.10: i32[32] = arange start=0 size=32
        %11: i32[32] = splat %n.4 shape=[32]
        %12: bool[32] = lt %k.10, %11
        %13: f32[32] = splat %x.5 shape=[32]
        %u.14: f32[32] = load %a.0[%k.10] if %12 else %13
        %15: f32[32] = mul %u.14, %u.14
        %16: f32[32] = add %15, %u.14
        store %b.1[%k.10] = %16 if %12
    """
    expected = """
        const int t = int(thread_position.x);

        if (t < n) {
            const float u = a[t];
            b[t] = u * u + u;
        }
    """
    assert body_of(ops) == lines(expected)


def test_a_long_expression_is_split_at_the_users_names() -> None:
    ops = ["%9: i32 = 0", "%s.10: f32 = load %a.0[%9]"]
    for n in range(11, 23):
        name = "u" if n == 15 else ""
        before = (
            f"%{'s' if n == 11 else 'u' if n == 16 else ''}{'.' if n in (11, 16) else ''}{n - 1}"
        )
        ops.append(f"%{name}{'.' if name else ''}{n}: f32 = add {before}, %x.5")
    ops.append("store %b.1[%9] = %22")
    expected = """
        const float u = a[0] + x + x + x + x + x;
        b[0] = u + x + x + x + x + x + x + x;
    """
    assert body_of("\n".join(ops), 1) == lines(expected)


def test_a_line_that_is_too_long_is_broken() -> None:
    names = ["first_number_of_the_row", "second_number_of_the_row", "third_number_of_the_row"]
    params = ", ".join(f"%{name}.{n}: f32" for n, name in enumerate(names, 1))
    head = f'kernel f(%o.0: *f32, {params}) from "f.py" {{\n'
    ops = """
        %9: i32 = 0
        %10: f32 = mul %first_number_of_the_row.1, %second_number_of_the_row.2
        %11: f32 = mul %second_number_of_the_row.2, %third_number_of_the_row.3
        %12: f32 = add %10, %11
        store %o.0[%9] = %12
    """
    expected = """
        o[0] = first_number_of_the_row * second_number_of_the_row +
            second_number_of_the_row * third_number_of_the_row;
    """
    assert body_of(ops, 1, head) == lines(expected)
