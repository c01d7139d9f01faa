import torch
import eas

a = torch.randn(1024, device="cpu", dtype=torch.float32)
a_e = eas.tensor(a, device="cpu")  # CPU 上的零拷贝
b_e = a_e.to("mps")               # 上传到 MPS（拷贝）

# MPS → eas(mps)：通过 DLPack(kDLMetal) 零拷贝（需 contiguous float32）
x = torch.randn(1024, device="mps", dtype=torch.float32)
x_e = eas.tensor(x, device="mps")
