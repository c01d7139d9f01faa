import numpy as np
import eas

n = 1 << 20
a = eas.tensor(np.random.randn(n).astype(np.float32), device="mps")
b = eas.tensor(np.random.randn(n).astype(np.float32), device="mps")
c = eas.empty_like(a)

add_kernel(a, b, c, n, BLOCK=256)
out = c.numpy()
