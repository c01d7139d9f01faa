t = x_e.to_torch("mps")            # eas(mps) → torch(mps)：DLPack 零拷贝
