"""What ZeroGPU, the shared GPUs of Hugging Face's Spaces, asks of a program that starts there.

ZeroGPU lends a GPU for single calls: a function with the decorator `spaces.GPU` runs in a forked process that has one,
and what it takes and gives is pickled. A Space that has declared no such function when its page opens is stopped. The
models of this page run on the Space's processor; docs/hosting.md says why.
"""

from importlib import import_module
from importlib.util import find_spec

import torch

from .space import ON_ZEROGPU

SECONDS = 5  # for which the GPU is asked: a short call waits less


def gpu_name() -> str:
    """What the GPU that is lent is called, such as "NVIDIA H200". Raises RuntimeError where there is none."""
    return torch.cuda.get_device_name()


def declare() -> None:
    """On ZeroGPU, tell it that `gpu_name` is to have a GPU; the page does not call it. Elsewhere, and where the package
    `spaces` is not installed, nothing.

    To be called before anything asks torch for a GPU. From then on torch says that there is one: so models are loaded
    for the processor by name (app/command.py).
    """
    if ON_ZEROGPU and find_spec("spaces"):
        import_module("spaces").GPU(duration=SECONDS)(gpu_name)
