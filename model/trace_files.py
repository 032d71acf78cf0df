"""A run's trace as a file for other programs: NumPy's NPZ, or safetensors. `python -m model.trace_files` writes one.

A file holds the arrays of `model.Trace` under our names (`residual`, `logits`, `attn_norm_rms` …), those of each
layer's `model.LayerTrace` as `layers.3.attention`, and those of an encoder's run as `source.…`. Beside them stands
`about`, a JSON text: the model, the tokens, what was changed in the run (the fields of `model.Intervention`), and the
dimensions of every array by name.
"""

import argparse
import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from safetensors import safe_open
from safetensors.numpy import save_file

from .checkpoint import load
from .errors import GlassLlamaError
from .refusals import refusal
from .shapes import shapes
from .trace import Trace, run_trace

ENDINGS = (".npz", ".safetensors")
ABOUT = "about"
# Of the arrays that are of all layers: L layers, T tokens, d d_model, V entries of the vocabulary.
WHOLE = {"residual": ("L+1", "T", "d"), "logits": ("V",)}


class SavedTrace(NamedTuple):
    """What a file holds: the arrays by name, and `about` as it was written."""

    arrays: dict[str, np.ndarray]
    about: dict[str, Any]


def save_trace(trace: Trace, path: str | Path, layers: Iterable[int] | None = None) -> None:
    """Write a trace to `path`, in the format that its ending names (.npz or .safetensors).

    `layers` are those whose insides are written, all where it is None: each is recomputed, and all are held at once.
    Raises GlassLlamaError for another ending, and IndexError for a layer that the model does not have.
    """
    path = Path(path)
    _check_ending(path)
    chosen = list(range(trace.n_layers) if layers is None else layers)
    arrays, dimensions = _arrays(trace, chosen), _dimensions(trace, chosen)
    if trace.source is not None:
        every = range(trace.source.n_layers)
        arrays |= {f"source.{name}": array for name, array in _arrays(trace.source, every).items()}
        dimensions |= {f"source.{name}": dims for name, dims in _dimensions(trace.source, every).items()}
    about = json.dumps(_about(trace, dimensions), ensure_ascii=False)
    if path.suffix == ".npz":
        np.savez(path, allow_pickle=False, **{ABOUT: np.array(about)}, **arrays)
    else:
        save_file({name: np.ascontiguousarray(array) for name, array in arrays.items()}, path, {ABOUT: about})


def read_trace(path: str | Path) -> SavedTrace:
    """What `save_trace` wrote. Raises GlassLlamaError for another ending, and for a file without `about`."""
    path = Path(path)
    _check_ending(path)
    if path.suffix == ".npz":
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = str(arrays.pop(ABOUT, ""))
    else:
        with safe_open(path, "numpy") as file:
            arrays = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 it is no mapping
            about = (file.metadata() or {}).get(ABOUT, "")
    if not about:
        raise refusal("path", path.name, "a file that save_trace wrote, with `about` beside its arrays")
    return SavedTrace(arrays, json.loads(about))


def _check_ending(path: Path) -> None:
    if path.suffix not in ENDINGS:
        raise refusal("path", path.name, f"a name that ends with {' or '.join(ENDINGS)}")


def _arrays(trace: Trace, layers: Iterable[int]) -> dict[str, np.ndarray]:
    """The arrays of a run by the names that a file has for them; an encoder's run has no logits."""
    whole = {"residual": trace.residual, **({"logits": trace.logits} if len(trace.logits) else {}), **trace.figures}
    return whole | {f"layers.{i}.{name}": array for i in layers for name, array in trace.layer(i).arrays.items()}


def _dimensions(trace: Trace, layers: Iterable[int]) -> dict[str, list[str]]:
    """What the axes of each of these arrays are."""
    figures = {name: ("T",) if values.ndim == 1 else ("L", "T") for name, values in trace.figures.items()}
    whole = {name: dims for name, dims in WHOLE.items() if name != "logits" or len(trace.logits)}
    inside = ((f"layers.{i}.{name}", dims) for i in layers for name, dims in shapes(trace.lm.net, i).items())
    return {name: list(dims) for name, dims in (*(whole | figures).items(), *inside)}


def _about(trace: Trace, dimensions: dict[str, list[str]]) -> dict[str, Any]:
    source = trace.source
    return {
        "model": trace.lm.name,
        "dtype": str(trace.network.dtype).removeprefix("torch."),
        "token_ids": trace.token_ids,
        "pieces": trace.pieces,
        "changed": {
            name: what for name, what in asdict(trace.intervention).items() if getattr(trace.intervention, name)
        },
        "dimensions": dimensions,
        **({} if source is None else {"source": {"token_ids": source.token_ids, "pieces": source.pieces}}),
    }


def _lines(saved: SavedTrace) -> Iterator[str]:
    for name, dims in saved.about["dimensions"].items():
        yield f"{name:32} {' × '.join(dims):28} {saved.arrays[name].shape}"


def main() -> int:
    """Run a prompt, write its trace, and list what is in the file."""
    parser = argparse.ArgumentParser(prog="python -m model.trace_files", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("prompt")
    parser.add_argument("path", type=Path, help="a name that ends with .npz or .safetensors")
    parser.add_argument("--model", help="a checkpoint directory, a GGUF file or a Hub id (default: the bundled model)")
    parser.add_argument("--layer", type=int, action="append", help="a layer to write whole (default: every one)")
    given = parser.parse_args()
    try:
        trace = run_trace(load(given.model) if given.model else load(), given.prompt)
        save_trace(trace, given.path, given.layer)
    except (GlassLlamaError, IndexError, OSError) as error:
        parser.error(str(error))
    print(*_lines(read_trace(given.path)), sep="\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
