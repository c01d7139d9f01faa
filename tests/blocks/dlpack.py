import eas
import torch

x = torch.randn(1024, device="cpu", dtype=torch.float32)
y = eas.from_dlpack(x)             # CPU 上的零拷贝
z = eas.to_dlpack(y)               # DLPack 胶囊（CPU；torch 风格）
