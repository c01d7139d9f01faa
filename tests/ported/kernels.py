"""Kernels of Triton's tutorials, left as they are as far as possible.

What had to change: `tl` is `mk`, dtypes have short names, `tl.range` is `range`, the functions of
`tl.math` are in `mk`, floats of 8 bits and `max_contiguous` are not there. The gradients of weights
are added up by atomics in place of a lock, because programs cannot wait for each other.
"""

# pyright: reportConstantRedefinition=false

import eas
from eas import mk


@eas.kernel
def add_kernel(x_ptr, y_ptr, output_ptr, n_elements, BLOCK_SIZE: eas.constexpr):
    pid = mk.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + mk.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = mk.load(x_ptr + offsets, mask=mask)
    y = mk.load(y_ptr + offsets, mask=mask)
    output = x + y
    mk.store(output_ptr + offsets, output, mask=mask)


@eas.kernel
def softmax_kernel(
    output_ptr,
    input_ptr,
    input_row_stride,
    output_row_stride,
    n_rows,
    n_cols,
    BLOCK_SIZE: eas.constexpr,
    num_stages: eas.constexpr,
):
    row_start = mk.program_id(0)
    row_step = mk.num_programs(0)
    for row_idx in range(row_start, n_rows, row_step):
        row_start_ptr = input_ptr + row_idx * input_row_stride
        col_offsets = mk.arange(0, BLOCK_SIZE)
        input_ptrs = row_start_ptr + col_offsets
        mask = col_offsets < n_cols
        row = mk.load(input_ptrs, mask=mask, other=-float("inf"))
        row_minus_max = row - mk.max(row, axis=0)
        numerator = mk.exp(row_minus_max)
        denominator = mk.sum(numerator, axis=0)
        softmax_output = numerator / denominator
        output_row_start_ptr = output_ptr + row_idx * output_row_stride
        output_ptrs = output_row_start_ptr + col_offsets
        mk.store(output_ptrs, softmax_output, mask=mask)


@eas.kernel
def matmul_kernel(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_SIZE_M: eas.constexpr,
    BLOCK_SIZE_N: eas.constexpr,
    BLOCK_SIZE_K: eas.constexpr,
    GROUP_SIZE_M: eas.constexpr,
    ACTIVATION: eas.constexpr,
):
    pid = mk.program_id(axis=0)
    num_pid_m = mk.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = mk.cdiv(N, BLOCK_SIZE_N)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    group_id = pid // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
    pid_n = (pid % num_pid_in_group) // group_size_m
    mk.assume(pid_m >= 0)
    mk.assume(pid_n >= 0)
    offs_am = (pid_m * BLOCK_SIZE_M + mk.arange(0, BLOCK_SIZE_M)) % M
    offs_bn = (pid_n * BLOCK_SIZE_N + mk.arange(0, BLOCK_SIZE_N)) % N
    offs_k = mk.arange(0, BLOCK_SIZE_K)
    a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
    b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
    accumulator = mk.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=mk.f32)
    for k in range(mk.cdiv(K, BLOCK_SIZE_K)):
        a = mk.load(a_ptrs, mask=offs_k[None, :] < K - k * BLOCK_SIZE_K, other=0.0)
        b = mk.load(b_ptrs, mask=offs_k[:, None] < K - k * BLOCK_SIZE_K, other=0.0)
        accumulator = mk.dot(a, b, accumulator)
        a_ptrs += BLOCK_SIZE_K * stride_ak
        b_ptrs += BLOCK_SIZE_K * stride_bk
    if ACTIVATION == "leaky_relu":
        accumulator = leaky_relu(accumulator)
    c = accumulator.to(mk.f16)
    offs_cm = pid_m * BLOCK_SIZE_M + mk.arange(0, BLOCK_SIZE_M)
    offs_cn = pid_n * BLOCK_SIZE_N + mk.arange(0, BLOCK_SIZE_N)
    c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
    c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
    mk.store(c_ptrs, c, mask=c_mask)


@eas.function
def leaky_relu(x):
    return mk.where(x >= 0, x, 0.01 * x)


@eas.kernel
def dropout(x_ptr, x_keep_ptr, output_ptr, n_elements, p, BLOCK_SIZE: eas.constexpr):
    pid = mk.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + mk.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = mk.load(x_ptr + offsets, mask=mask)
    x_keep = mk.load(x_keep_ptr + offsets, mask=mask)
    output = mk.where(x_keep, x / (1 - p), 0.0)
    mk.store(output_ptr + offsets, output, mask=mask)


@eas.kernel
def seeded_dropout(x_ptr, output_ptr, n_elements, p, seed, BLOCK_SIZE: eas.constexpr):
    pid = mk.program_id(axis=0)
    block_start = pid * BLOCK_SIZE
    offsets = block_start + mk.arange(0, BLOCK_SIZE)
    mask = offsets < n_elements
    x = mk.load(x_ptr + offsets, mask=mask)
    random = mk.rand(seed, offsets)
    x_keep = random > p
    output = mk.where(x_keep, x / (1 - p), 0.0)
    mk.store(output_ptr + offsets, output, mask=mask)


@eas.kernel
def layer_norm_fwd_fused(X, Y, W, B, Mean, Rstd, stride, N, eps, BLOCK_SIZE: eas.constexpr):
    row = mk.program_id(0)
    Y += row * stride
    X += row * stride
    mean = 0
    _mean = mk.zeros([BLOCK_SIZE], dtype=mk.f32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + mk.arange(0, BLOCK_SIZE)
        a = mk.load(X + cols, mask=cols < N, other=0.0).to(mk.f32)
        _mean += a
    mean = mk.sum(_mean, axis=0) / N
    _var = mk.zeros([BLOCK_SIZE], dtype=mk.f32)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + mk.arange(0, BLOCK_SIZE)
        x = mk.load(X + cols, mask=cols < N, other=0.0).to(mk.f32)
        x = mk.where(cols < N, x - mean, 0.0)
        _var += x * x
    var = mk.sum(_var, axis=0) / N
    rstd = 1 / mk.sqrt(var + eps)
    mk.store(Mean + row, mean)
    mk.store(Rstd + row, rstd)
    for off in range(0, N, BLOCK_SIZE):
        cols = off + mk.arange(0, BLOCK_SIZE)
        mask = cols < N
        w = mk.load(W + cols, mask=mask)
        b = mk.load(B + cols, mask=mask)
        x = mk.load(X + cols, mask=mask, other=0.0).to(mk.f32)
        x_hat = (x - mean) * rstd
        y = x_hat * w + b
        mk.store(Y + cols, y, mask=mask)


@eas.kernel
def layer_norm_bwd_dx_fused(
    DX,
    DY,
    DW,
    DB,
    X,
    W,
    Mean,
    Rstd,
    stride,
    N,
    GROUP_SIZE_M: eas.constexpr,
    BLOCK_SIZE_N: eas.constexpr,
):
    row = mk.program_id(0)
    cols = mk.arange(0, BLOCK_SIZE_N)
    mask = cols < N
    X += row * stride
    DY += row * stride
    DX += row * stride
    group = row % GROUP_SIZE_M
    DW = DW + group * N + cols
    DB = DB + group * N + cols
    x = mk.load(X + cols, mask=mask, other=0).to(mk.f32)
    dy = mk.load(DY + cols, mask=mask, other=0).to(mk.f32)
    w = mk.load(W + cols, mask=mask).to(mk.f32)
    mean = mk.load(Mean + row)
    rstd = mk.load(Rstd + row)
    xhat = (x - mean) * rstd
    wdy = w * dy
    xhat = mk.where(mask, xhat, 0.0)
    wdy = mk.where(mask, wdy, 0.0)
    c1 = mk.sum(xhat * wdy, axis=0) / N
    c2 = mk.sum(wdy, axis=0) / N
    dx = (wdy - (xhat * c1 + c2)) * rstd
    mk.store(DX + cols, dx, mask=mask)
    partial_dw = (dy * xhat).to(w.dtype)
    partial_db = (dy).to(w.dtype)
    mk.atomic_add(DW, partial_dw, mask)
    mk.atomic_add(DB, partial_db, mask)


@eas.kernel
def layer_norm_bwd_dwdb(
    DW, DB, FINAL_DW, FINAL_DB, M, N, BLOCK_SIZE_M: eas.constexpr, BLOCK_SIZE_N: eas.constexpr
):
    pid = mk.program_id(0)
    cols = pid * BLOCK_SIZE_N + mk.arange(0, BLOCK_SIZE_N)
    dw = mk.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=mk.f32)
    db = mk.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=mk.f32)
    for i in range(0, M, BLOCK_SIZE_M):
        rows = i + mk.arange(0, BLOCK_SIZE_M)
        mask = (rows[:, None] < M) & (cols[None, :] < N)
        offs = rows[:, None] * N + cols[None, :]
        dw += mk.load(DW + offs, mask=mask, other=0.0)
        db += mk.load(DB + offs, mask=mask, other=0.0)
    sum_dw = mk.sum(dw, axis=0)
    sum_db = mk.sum(db, axis=0)
    mk.store(FINAL_DW + cols, sum_dw, mask=cols < N)
    mk.store(FINAL_DB + cols, sum_db, mask=cols < N)


@eas.function
def attn_fwd_inner(
    acc,
    l_i,
    m_i,
    q,
    K_block_ptr,
    V_block_ptr,
    start_m,
    qk_scale,
    BLOCK_M: eas.constexpr,
    HEAD_DIM: eas.constexpr,
    BLOCK_N: eas.constexpr,
    STAGE: eas.constexpr,
    offs_m: eas.constexpr,
    offs_n: eas.constexpr,
    N_CTX: eas.constexpr,
):
    if STAGE == 1:
        lo, hi = 0, start_m * BLOCK_M
    elif STAGE == 2:
        lo, hi = start_m * BLOCK_M, (start_m + 1) * BLOCK_M
        lo = mk.multiple_of(lo, BLOCK_M)
    else:
        lo, hi = 0, N_CTX
    K_block_ptr = mk.advance(K_block_ptr, (0, lo))
    V_block_ptr = mk.advance(V_block_ptr, (lo, 0))
    for start_n in range(lo, hi, BLOCK_N):
        start_n = mk.multiple_of(start_n, BLOCK_N)  # noqa: PLW2901
        k = mk.load(K_block_ptr)
        qk = mk.dot(q, k)
        if STAGE == 2:
            mask = offs_m[:, None] >= (start_n + offs_n[None, :])
            qk = qk * qk_scale + mk.where(mask, 0, -1.0e6)
            m_ij = mk.maximum(m_i, mk.max(qk, 1))
            qk -= m_ij[:, None]
        else:
            m_ij = mk.maximum(m_i, mk.max(qk, 1) * qk_scale)
            qk = qk * qk_scale - m_ij[:, None]
        p = mk.exp2(qk)
        l_ij = mk.sum(p, 1)
        alpha = mk.exp2(m_i - m_ij)
        l_i = l_i * alpha + l_ij
        acc = acc * alpha[:, None]
        v = mk.load(V_block_ptr)
        p = p.to(mk.f16)
        acc = mk.dot(p, v, acc)
        m_i = m_ij
        V_block_ptr = mk.advance(V_block_ptr, (BLOCK_N, 0))
        K_block_ptr = mk.advance(K_block_ptr, (0, BLOCK_N))
    return acc, l_i, m_i


@eas.kernel
def attn_fwd(
    Q,
    K,
    V,
    sm_scale,
    M,
    Out,
    stride_qz,
    stride_qh,
    stride_qm,
    stride_qk,
    stride_kz,
    stride_kh,
    stride_kn,
    stride_kk,
    stride_vz,
    stride_vh,
    stride_vk,
    stride_vn,
    stride_oz,
    stride_oh,
    stride_om,
    stride_on,
    Z,
    H,
    N_CTX,
    HEAD_DIM: eas.constexpr,
    BLOCK_M: eas.constexpr,
    BLOCK_N: eas.constexpr,
    STAGE: eas.constexpr,
):
    mk.static_assert(BLOCK_N <= HEAD_DIM)
    start_m = mk.program_id(0)
    off_hz = mk.program_id(1)
    off_z = off_hz // H
    off_h = off_hz % H
    qvk_offset = off_z.to(mk.i64) * stride_qz + off_h.to(mk.i64) * stride_qh
    Q_block_ptr = mk.make_block_ptr(
        base=Q + qvk_offset,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_qm, stride_qk),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM),
        order=(1, 0),
    )
    V_block_ptr = mk.make_block_ptr(
        base=V + qvk_offset,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_vk, stride_vn),
        offsets=(0, 0),
        block_shape=(BLOCK_N, HEAD_DIM),
        order=(1, 0),
    )
    K_block_ptr = mk.make_block_ptr(
        base=K + qvk_offset,
        shape=(HEAD_DIM, N_CTX),
        strides=(stride_kk, stride_kn),
        offsets=(0, 0),
        block_shape=(HEAD_DIM, BLOCK_N),
        order=(0, 1),
    )
    O_block_ptr = mk.make_block_ptr(
        base=Out + qvk_offset,
        shape=(N_CTX, HEAD_DIM),
        strides=(stride_om, stride_on),
        offsets=(start_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, HEAD_DIM),
        order=(1, 0),
    )
    offs_m = start_m * BLOCK_M + mk.arange(0, BLOCK_M)
    offs_n = mk.arange(0, BLOCK_N)
    m_i = mk.zeros([BLOCK_M], dtype=mk.f32) - float("inf")
    l_i = mk.zeros([BLOCK_M], dtype=mk.f32) + 1.0
    acc = mk.zeros([BLOCK_M, HEAD_DIM], dtype=mk.f32)
    qk_scale = sm_scale
    qk_scale *= 1.44269504
    q = mk.load(Q_block_ptr)
    if STAGE & 1:
        acc, l_i, m_i = attn_fwd_inner(
            acc,
            l_i,
            m_i,
            q,
            K_block_ptr,
            V_block_ptr,
            start_m,
            qk_scale,
            BLOCK_M,
            HEAD_DIM,
            BLOCK_N,
            4 - STAGE,
            offs_m,
            offs_n,
            N_CTX,
        )
    if STAGE & 2:
        acc, l_i, m_i = attn_fwd_inner(
            acc,
            l_i,
            m_i,
            q,
            K_block_ptr,
            V_block_ptr,
            start_m,
            qk_scale,
            BLOCK_M,
            HEAD_DIM,
            BLOCK_N,
            2,
            offs_m,
            offs_n,
            N_CTX,
        )
    m_i += mk.log2(l_i)
    acc = acc / l_i[:, None]
    m_ptrs = M + off_hz * N_CTX + offs_m
    mk.store(m_ptrs, m_i)
    mk.store(O_block_ptr, acc.to(Out.dtype))


@eas.kernel
def matmul_block_ptr(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_M: eas.constexpr,
    BLOCK_N: eas.constexpr,
    BLOCK_K: eas.constexpr,
):
    pid_m = mk.program_id(0)
    pid_n = mk.program_id(1)
    a_block_ptr = mk.make_block_ptr(
        base=a_ptr,
        shape=(M, K),
        strides=(stride_am, stride_ak),
        offsets=(pid_m * BLOCK_M, 0),
        block_shape=(BLOCK_M, BLOCK_K),
        order=(1, 0),
    )
    b_block_ptr = mk.make_block_ptr(
        base=b_ptr,
        shape=(K, N),
        strides=(stride_bk, stride_bn),
        offsets=(0, pid_n * BLOCK_N),
        block_shape=(BLOCK_K, BLOCK_N),
        order=(1, 0),
    )
    accumulator = mk.zeros((BLOCK_M, BLOCK_N), dtype=mk.f32)
    for _ in range(0, K, BLOCK_K):
        a = mk.load(a_block_ptr, boundary_check=(0, 1), padding="zero")
        b = mk.load(b_block_ptr, boundary_check=(0, 1), padding="zero")
        accumulator += mk.dot(a, b)
        a_block_ptr = mk.advance(a_block_ptr, (0, BLOCK_K))
        b_block_ptr = mk.advance(b_block_ptr, [BLOCK_K, 0])
    c_block_ptr = mk.make_block_ptr(
        base=c_ptr,
        shape=(M, N),
        strides=(stride_cm, stride_cn),
        offsets=(pid_m * BLOCK_M, pid_n * BLOCK_N),
        block_shape=(BLOCK_M, BLOCK_N),
        order=(1, 0),
    )
    mk.store(c_block_ptr, accumulator.to(mk.f16), boundary_check=(0, 1))


@eas.function
def compute_pid(tile_id, num_pid_in_group, num_pid_m, GROUP_SIZE_M, NUM_SMS):
    group_id = tile_id // num_pid_in_group
    first_pid_m = group_id * GROUP_SIZE_M
    group_size_m = min(num_pid_m - first_pid_m, GROUP_SIZE_M)
    pid_m = first_pid_m + (tile_id % group_size_m)
    pid_n = (tile_id % num_pid_in_group) // group_size_m
    return pid_m, pid_n


@eas.kernel
def matmul_kernel_persistent(
    a_ptr,
    b_ptr,
    c_ptr,
    M,
    N,
    K,
    stride_am,
    stride_ak,
    stride_bk,
    stride_bn,
    stride_cm,
    stride_cn,
    BLOCK_SIZE_M: eas.constexpr,
    BLOCK_SIZE_N: eas.constexpr,
    BLOCK_SIZE_K: eas.constexpr,
    GROUP_SIZE_M: eas.constexpr,
    NUM_SMS: eas.constexpr,
):
    start_pid = mk.program_id(axis=0)
    num_pid_m = mk.cdiv(M, BLOCK_SIZE_M)
    num_pid_n = mk.cdiv(N, BLOCK_SIZE_N)
    k_tiles = mk.cdiv(K, BLOCK_SIZE_K)
    num_tiles = num_pid_m * num_pid_n
    tile_id_c = start_pid - NUM_SMS
    offs_k_for_mask = mk.arange(0, BLOCK_SIZE_K)
    num_pid_in_group = GROUP_SIZE_M * num_pid_n
    for tile_id in range(start_pid, num_tiles, NUM_SMS):
        pid_m, pid_n = compute_pid(tile_id, num_pid_in_group, num_pid_m, GROUP_SIZE_M, NUM_SMS)
        start_m = pid_m * BLOCK_SIZE_M
        start_n = pid_n * BLOCK_SIZE_N
        offs_am = start_m + mk.arange(0, BLOCK_SIZE_M)
        offs_bn = start_n + mk.arange(0, BLOCK_SIZE_N)
        offs_am = mk.where(offs_am < M, offs_am, 0)
        offs_bn = mk.where(offs_bn < N, offs_bn, 0)
        accumulator = mk.zeros((BLOCK_SIZE_M, BLOCK_SIZE_N), dtype=mk.f32)
        for ki in range(k_tiles):
            offs_k = ki * BLOCK_SIZE_K + mk.arange(0, BLOCK_SIZE_K)
            a_ptrs = a_ptr + (offs_am[:, None] * stride_am + offs_k[None, :] * stride_ak)
            b_ptrs = b_ptr + (offs_k[:, None] * stride_bk + offs_bn[None, :] * stride_bn)
            a = mk.load(a_ptrs, mask=offs_k_for_mask[None, :] < K - ki * BLOCK_SIZE_K, other=0.0)
            b = mk.load(b_ptrs, mask=offs_k_for_mask[:, None] < K - ki * BLOCK_SIZE_K, other=0.0)
            accumulator = mk.dot(a, b, accumulator)
        tile_id_c += NUM_SMS
        pid_m, pid_n = compute_pid(tile_id_c, num_pid_in_group, num_pid_m, GROUP_SIZE_M, NUM_SMS)
        offs_cm = pid_m * BLOCK_SIZE_M + mk.arange(0, BLOCK_SIZE_M)
        offs_cn = pid_n * BLOCK_SIZE_N + mk.arange(0, BLOCK_SIZE_N)
        c_ptrs = c_ptr + stride_cm * offs_cm[:, None] + stride_cn * offs_cn[None, :]
        c_mask = (offs_cm[:, None] < M) & (offs_cn[None, :] < N)
        c = accumulator.to(mk.f16)
        mk.store(c_ptrs, c, mask=c_mask)
