"""What the page is sent of the weights that a model's own files hold."""

from typing_extensions import TypedDict

from .sums import Product


class DtypeMessage(TypedDict):
    """Tensors of one format: their products, whose labels are the tensors' names, and their sum."""

    dtype: str
    bytes: str
    tensors: int
    products: list[Product]


class WeightDifference(TypedDict):
    """A reason why the files hold more than is counted, in `bytes`, signed; see model/kv_math/from_files.py."""

    code: str
    bytes: str
    dtypes: list[str]


class KvWeightsAnswer(TypedDict):
    """What the files hold beside what is `counted` from the parameters in the format `weights_in`, null and "" where
    the config does not say enough for that.

    `output` says whether the files have an output matrix of their own, null where no tensor is named.
    """

    bytes: str
    tensors: int
    counted: str | None
    weights_in: str
    output: bool | None
    dtypes: list[DtypeMessage]
    differences: list[WeightDifference]
