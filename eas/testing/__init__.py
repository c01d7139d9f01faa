"""For tests of kernels: stored Metal texts, and comparisons with a reference on every backend.

    def test_relu(metal_snapshot):
        metal_snapshot(relu, "*f32", "*f32", "i32", BLOCK=256)

    def test_relu_is_right():
        compare(relu, reference=lambda x, **_: {"y": np.maximum(x, 0)}, arguments=arguments)

The fixture `metal_snapshot` is there in every pytest run of an environment with easy_as.
`pytest --update-metal`, or `eas snapshot --update`, writes the texts.
"""

from eas.testing.comparing import ODD_SIZES, compare
from eas.testing.snapshots import Mismatch, stored_text

__all__ = ["ODD_SIZES", "Mismatch", "compare", "stored_text"]
