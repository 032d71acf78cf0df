"""Packed arrays with their bytes in another order: all first bytes of the numbers, then all second ones, and so on.

Signs and exponents of neighbours are alike; side by side, gzip makes a tenth less of them. What reads them back is
visuals/static/one-file/planes.js.
"""

import base64
from typing import Any

import numpy as np

from visuals.payload import DTYPES


def in_planes(value: Any) -> Any:
    """A message with every array in it so ordered."""
    if isinstance(value, dict):
        if value.keys() == {"dtype", "shape", "data"}:
            width = np.dtype(DTYPES[value["dtype"]]).itemsize
            numbers = np.frombuffer(base64.b64decode(value["data"]), np.uint8).reshape(-1, width)
            return {**value, "data": base64.b64encode(numbers.T.tobytes()).decode("ascii")}
        return {name: in_planes(part) for name, part in value.items()}
    return [in_planes(part) for part in value] if isinstance(value, list | tuple) else value
