"""`eas.Tensor`: arrays that live in the memory of a device, and are arguments of launches.

`dtypes` and `devices` have the names. `storage` is memory, which `memory` takes from the `pool` of
a device: `cpu_memory` and `metal_memory` get it from the system. `tensor` is a view of a storage,
`making` has the functions that make tensors. `capsules`, `dlpack_export`, `dlpack_import` and
`metal_exchange` share memory with other libraries.
"""
