"""The order of launches: queues of tasks, and what a launch has to wait for.

A launch with `_sync=False` becomes a `Task` (`launch_tasks.py`) in the queue of a stream. The
ledger (`hazards.py`) knows which tasks in flight read and write which bytes, so that launches that
share memory are ordered, on any streams. `waits.py` waits for tasks and raises their errors, once
each. A queue runs its tasks in their order: those of the CPU in `host_queue.py`, those of a GPU
in `eas.runtime.metal`. `eas.device_streams` has the streams, which open these queues.
"""
