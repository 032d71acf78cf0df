"""Which models a page has, as its command line asks for them, and where they run."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial

import model

from .engine import Engine, LocalEngine
from .far.engine import FarEngine
from .far.process import ModelProcess
from .far.ray_serve import RayServe
from .far.sealed import key_from_environment
from .memory import give_back
from .smollm2 import RealModel
from .zoo import zoo


@dataclass(frozen=True)
class Wanted:
    """`models` are directories, files or Hub ids; without any it is those that come along, and SmolLM2 where it is."""

    models: tuple[str, ...] = ()
    device: str = "auto"
    dtype: str = "auto"
    may_fetch: bool = False


def load_here(wanted: Wanted) -> LocalEngine:
    """The models, in this process. Raises ValueError for what cannot be loaded."""
    device, dtype = wanted.device, wanted.dtype
    real = None if wanted.models else RealModel(device=device, dtype=dtype, may_fetch=wanted.may_fetch)
    asked = [model.load(where, device=device, dtype=dtype) for where in wanted.models]
    models = asked or [model.load(device=device, dtype=dtype), *zoo(device=device, dtype=dtype)]
    give_back()  # what weights were read and dequantised in
    return LocalEngine(models, real=real)


@contextmanager
def loaded(wanted: Wanted, engine: str = "here") -> Generator[Engine]:
    """The models "here", in a "process" of their own that ends with the context, or at ray://HOST:PORT/NAME.

    Raises as `load_here`, and ValueError where no cluster answers. That has the models that it was given itself.
    """
    if engine == "here":
        yield load_here(wanted)
    elif engine != "process":
        yield FarEngine(RayServe(engine, key_from_environment()))
    else:
        with ModelProcess(partial(load_here, wanted)) as process:
            yield FarEngine(process)
