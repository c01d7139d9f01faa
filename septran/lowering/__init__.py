"""From a logic and a mapping to the flat IR: every buffer, copy and barrier is in it.

tree          statements under loops, and residents: tensors that are held in another memory
builder       walks the tree of instances
leaf_builder  gives each leaf its tensors where it wants them
single_trips  puts bodies in the place of loops of a single trip inside of sequential ones
residency     moves residents outwards until each tensor is copied as seldom as possible
pipelining    slots for the copies of a pipelined loop
sharing       buffers that are one array, where they do not fit otherwise
barriers      where threads must wait for each other
kernels       one kernel for each grid, allocations first
checks        capacity and primitives, with what the mapping asked for
"""

from eas.septran.lowering.lower import Lowered, lower

__all__ = ["Lowered", "lower"]
