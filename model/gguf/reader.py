"""What stands in a GGUF file: its metadata by key, and its tensors, whose numbers stay in the file until asked for.

The `gguf` package reads it; here a file that is cut short or lies about its sizes is refused before it costs anything.
"""

import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from gguf import GGUFEndian, GGUFReader, GGUFValueType, ReaderTensor

from ..errors import GlassLlamaError, clipped, reason, shortly

Bytes = npt.NDArray[np.uint8]

MAGIC = b"GGUF"
# Published files have some 60 keys, 1,000 tensors of up to 4 dimensions, and 300,000 merges. A key is read in a loop of
# Python's, element by element: what is beyond these bounds is refused before it is begun.
MOST_KEYS, MOST_TENSORS, MOST_DIMENSIONS = 4096, 2**16, 4
MOST_LISTED = 2**20
LONGEST_TEXT = 2**20


def is_gguf(path: Path) -> bool:
    """Whether this is a GGUF file, by its first bytes: what Ollama and LM Studio keep has other endings or none."""
    try:
        if not path.is_file():
            return False
        with path.open("rb") as opened:
            return opened.read(len(MAGIC)) == MAGIC
    except (OSError, ValueError):  # a name that is too long or has a null byte: no file
        return False


class GgufContent:
    """`metadata` has the value of every key, lists as lists; `tensors` has every tensor by llama.cpp's name.

    Raises GlassLlamaError for a file that is damaged, cut short, or beyond the bounds above.
    """

    def __init__(self, path: Path):
        try:
            reader = _BoundedReader(path)
            self.metadata: dict[str, Any] = {
                name: field.contents() for name, field in reader.fields.items() if not name.startswith("GGUF.")
            }
        except (ValueError, KeyError, IndexError, TypeError, OverflowError, RecursionError, OSError) as error:
            said = clipped(reason(error), 200)
            raise GlassLlamaError("checkpoint", f"{path} is damaged or cut short ({said}); fetch it again.") from error
        self.tensors: dict[str, ReaderTensor] = {tensor.name: tensor for tensor in reader.tensors}


class _BoundedReader(GGUFReader):
    """gguf's reader, which believes every size that a file states, held to what the file has and to the bounds above.

    It reads a list of numbers as one array, a text of a list as one slice, and all from a plain array, since those of
    memmap take three times as long to slice: 0.2 s for the tokens and merges of SmolLM2, not 4.
    """

    @property
    def data(self) -> Bytes:
        """The file's bytes, which the system reads as they are looked at."""
        return self._data

    @data.setter
    def data(self, mapped: Bytes) -> None:
        self._data = np.asarray(mapped)

    def _get(self, offset: int, dtype: Any, count: Any = 1, override_order: Any = None) -> Any:
        offset, count = int(offset), int(count)
        if not 0 <= offset <= len(self._data) - np.dtype(dtype).itemsize * count:
            raise ValueError(f"{count:,} numbers are to stand at byte {offset:,} of {len(self._data):,}")
        return super()._get(offset, dtype, count, override_order)

    def _get_str(self, offset: int) -> Any:
        length = int(self._get(offset, np.uint64)[0])
        if length > LONGEST_TEXT:
            raise ValueError(f"a text of {length:,} bytes; expected at most {LONGEST_TEXT:,}")
        return super()._get_str(offset)

    def _get_field_parts(self, orig_offs: int, raw_type: Any) -> Any:
        if raw_type != GGUFValueType.ARRAY:
            return super()._get_field_parts(orig_offs, raw_type)
        of, length = self._get(orig_offs, np.uint32), self._get(orig_offs + 4, np.uint64)
        kind, count = GGUFValueType(of[0]), int(length[0])
        if kind == GGUFValueType.ARRAY or count > MOST_LISTED:
            what = "a list of lists" if kind == GGUFValueType.ARRAY else f"a list of {count:,}"
            raise ValueError(f"{what}; expected a flat list of at most {MOST_LISTED:,}")
        if kind == GGUFValueType.STRING:
            texts = self._texts(orig_offs + 12, count)
            nbytes = 12 + sum(8 + len(text) for text in texts)
            return nbytes, [of, length, *texts], [*range(2, 2 + count)], [GGUFValueType.ARRAY, kind]
        number = self.gguf_scalar_to_np[kind]
        values = self._get(orig_offs + 12, number, count)
        return 12 + int(values.nbytes), [of, length, values], [2], [GGUFValueType.ARRAY, kind]

    def _texts(self, offset: int, count: int) -> list[Bytes]:
        """So many texts, each behind its length."""
        length = struct.Struct(">Q" if self.endianess == GGUFEndian.BIG else "<Q")
        found: list[Bytes] = []
        for _ in range(count):
            start = offset + length.size
            if start > len(self._data):
                raise ValueError(f"a text is to stand at byte {offset:,} of {len(self._data):,}")
            (size,) = length.unpack_from(self._data.data, offset)
            if size > LONGEST_TEXT or start + size > len(self._data):
                raise ValueError(f"a text of {size:,} bytes is to stand at byte {start:,} of {len(self._data):,}")
            found.append(self._data[start : start + size])
            offset = start + size
        return found

    def _build_fields(self, offs: int, count: Any) -> int:
        if count > MOST_KEYS:
            raise ValueError(f"{int(count):,} keys; expected at most {MOST_KEYS:,}")
        return super()._build_fields(offs, int(count))

    def _build_tensor_info(self, offs: int, count: Any) -> Any:
        if count > MOST_TENSORS:
            raise ValueError(f"{int(count):,} tensors; expected at most {MOST_TENSORS:,}")
        return super()._build_tensor_info(offs, int(count))

    def _get_tensor_info_field(self, orig_offs: int) -> Any:
        field = super()._get_tensor_info_field(orig_offs)
        sizes = [int(size) for size in field.parts[3]]
        if len(sizes) > MOST_DIMENSIONS or 0 in sizes or math.prod(sizes) > 8 * len(self._data):
            said = f"tensor {shortly(field.name)} has sizes {shortly(sizes)}, which this file cannot hold"
            raise ValueError(said)
        return field
