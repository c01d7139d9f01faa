import eas
from eas import mk


@eas.kernel
def center(x, y, N, BLOCK: eas.constexpr):
    if N == 0:
        return
    i = mk.arange(0, BLOCK)
    v = mk.load(x, i, mask=i < N)
    mk.store(y, i, v - mk.sum(v) / N, mask=i < N)
