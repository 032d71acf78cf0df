"""What a process that runs models asks of its machine, before anything else."""

import sys

from .memory import few_arenas, no_kept_buffers

# torch gives way to other threads at each of its operations, hundreds of times in a run, and then waits as long as this
# for a thread that computes in Python to give way in turn. Python's own 5 ms would make seconds of them.
SWITCH_SECONDS = 0.00005


def tune() -> None:
    """Few pools of memory, no buffers kept, and threads that give way to each other soon."""
    few_arenas()
    no_kept_buffers()
    sys.setswitchinterval(SWITCH_SECONDS)
