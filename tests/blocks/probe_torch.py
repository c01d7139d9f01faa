import torch

print("torch:", torch.__version__)
print("mps available:", torch.backends.mps.is_available())

if torch.backends.mps.is_available():
    x = torch.randn(16, device="mps", dtype=torch.float32)
    print("x.device:", x.device, "dtype:", x.dtype)
    print("has __dlpack__:", hasattr(x, "__dlpack__"))
    try:
        from torch.utils import dlpack
        cap = dlpack.to_dlpack(x)
        print("torch dlpack to_dlpack(mps) ok:", type(cap).__name__)
    except Exception as e:
        print("torch dlpack to_dlpack(mps) failed:", type(e).__name__, e)
