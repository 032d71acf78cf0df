"""What the chapter on the whole is sent: the residual stream, the vectors around a layer, the training."""

from typing import Literal, NotRequired

from typing_extensions import TypedDict

from .arrays import Packed


class FinalChoice(TypedDict):
    """Each token's final choice: `ids` (T,) int32, `logit` and `probability` (T,) float32; `pieces` are their texts."""

    ids: Packed
    pieces: list[str]
    logit: Packed
    probability: Packed


class StreamDetail(TypedDict):
    """Euclidean norms along the residual stream, float32: `resid` (L + 1, T), those inside the layers (L, T) each,
    `final_normed` (T,). The cosines (L, T) are between what a part writes and the stream that it reads.

    A site that the network does not have is left out. `best` is null where nothing is chosen, in an encoder.
    """

    resid: Packed
    attn_normed: Packed
    attn_out: Packed
    resid_mid: NotRequired[Packed]
    ffn_normed: NotRequired[Packed]
    ffn_out: Packed
    final_normed: Packed
    attn_cosine: Packed
    ffn_cosine: Packed
    resid_cross: NotRequired[Packed]
    cross_normed: NotRequired[Packed]
    cross_out: NotRequired[Packed]
    cross_cosine: NotRequired[Packed]
    best: FinalChoice | None


class StageDetail(TypedDict, total=False):
    """One token's vector (d,) float32 at every site that a layer has, and what each of its norms has learned: γ (gain)
    and β (bias, null where there is none), (d,) float32."""

    resid_in: Packed
    attn_normed: Packed
    attn_out: Packed
    resid_cross: Packed
    cross_normed: Packed
    cross_out: Packed
    resid_mid: Packed
    ffn_normed: Packed
    ffn_out: Packed
    resid_out: Packed
    attn_gain: Packed
    attn_bias: Packed | None
    cross_gain: Packed
    cross_bias: Packed | None
    ffn_gain: Packed
    ffn_bias: Packed | None


class PeakLogits(TypedDict):
    """Logits float32 with the ids int32 of their tokens: of a large vocabulary the highest of each stretch of ids."""

    ids: Packed
    values: Packed


class EndsDetail(TypedDict):
    """One token's vector (d,) float32 before the first layer, after the last and after the final norm, with that norm's
    γ and β; and its logits.

    `logits_norm` is the Euclidean norm of all logits, `log_z` their logsumexp; all three are missing, `logits` as null,
    in an encoder.
    """

    embedding: Packed
    final: Packed
    final_normed: Packed
    final_gain: Packed
    final_bias: Packed | None
    logits: PeakLogits | None
    logits_norm: NotRequired[float]
    log_z: NotRequired[float]


class PlotlyFigure(TypedDict):
    """A chart as plotly's JSON. Colours are custom properties, and what begins with "text:" is a key of the texts."""

    data: list[dict[str, object]]
    layout: dict[str, object]


class LineStyle(TypedDict):
    """How plotly strokes a line."""

    color: str
    width: int
    dash: Literal["solid", "dash", "dot"]


class SkillLine(TypedDict):
    """A skill's line in a chart of plotly's: the share `y` of right answers after `x` million tokens."""

    type: Literal["scatter"]
    mode: Literal["lines"]
    name: str
    x: list[float]
    y: list[float]
    line: LineStyle
    hovertemplate: str
    showlegend: bool


class SkillsFigure(TypedDict):
    """A chart as PlotlyFigure says, of a line each skill."""

    data: list[SkillLine]
    layout: dict[str, object]


class TrainingStage(TypedDict):
    """A stage of the training, the `number`th from 1, which begins after `tokens` tokens."""

    number: int
    name: str
    tokens: int


class MeasuredSkill(TypedDict):
    """`right` of `cases` of a skill in a language, and the share that is aimed at (`bar`)."""

    name: str
    language: str
    right: int
    cases: int
    bar: float


class TrainingCharts(TypedDict):
    """What was logged while a checkpoint was trained, against tokens. Null where there is no such log."""

    loss: PlotlyFigure | None
    answers: SkillsFigure | None


class TrainingDetail(TrainingCharts):
    """How a checkpoint was trained. Its charts are over millions of tokens, and once more over ten thousands of them,
    which Chinese counts in.

    A line of `log` is [stage, tokens, loss, held-out loss], both in nats a token.
    """

    in_ten_thousands: TrainingCharts
    stages: list[TrainingStage]
    log: list[tuple[str, int, float, float]]
    measured: list[MeasuredSkill]
