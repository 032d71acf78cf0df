"""The answer to each question of the page: about a run (`Details`) and without one (`Calculations`), by its name."""

from typing import Literal

from typing_extensions import TypedDict

from .attend import (
    AttentionKindsDetail,
    HeadNamesDetail,
    HeadWriteDetail,
    LatentDetail,
    ProjectionDetail,
    ScoreTermsDetail,
    SinksDetail,
    ValuesDetail,
)
from .choice import (
    CausalMapDetail,
    ContributionsDetail,
    DrawDetail,
    GlossesAnswer,
    LensDetail,
    LensFitAnswer,
    LogitsDetail,
    LogitTermsDetail,
    NextDetail,
)
from .circuit import CircuitControlsDetail, CircuitDetail, EdgesDetail
from .code import CodeDetail
from .compare import CostDetail, DifferenceDetail, LossDetail, PartsDetail
from .families import FamiliesAnswer
from .ffn import (
    ActivationKindsDetail,
    FiringDetail,
    NeuronMapDetail,
    NeuronWritesDetail,
    RoutingDetail,
    RoutingSchemesDetail,
    WidthsDetail,
)
from .glance import (
    KnockedDetail,
    LooksBackDetail,
    MatchingDetail,
    MeasuredDetail,
    Nothing,
    OutsideDetail,
    RecalledDetail,
    RestsDetail,
    ToldApartDetail,
    WhyDetail,
    WindowsDetail,
    WordsDetail,
)
from .kv import (
    KvAnswer,
    KvChartAnswer,
    KvFitAnswer,
    KvGpusAnswer,
    KvModelsAnswer,
    KvNeedsAnswer,
    KvPlacesAnswer,
    KvRaceAnswer,
    LiveCacheDetail,
)
from .kv_log import KvLogAnswer
from .kv_weights import KvWeightsAnswer
from .norm import NormDepthDetail, NormKindsDetail, NormPlacementDetail, NormTimesDetail, NormVectorsDetail
from .overview import EndsDetail, StageDetail, StreamDetail, TrainingDetail
from .page import LoadingAnswer, QrAnswer, RealModelAnswer, TensorPlace
from .position import PositionKindsDetail, RopeScalingsDetail
from .token import MergesDetail


class DetailMessage(TypedDict):
    """The answer to a question about the run `run`: `data` is what Details has under `what`."""

    kind: Literal["detail"]
    run: str
    what: str
    data: object


class CalculationMessage(TypedDict):
    """The answer to a question that needs no run: `data` is what Calculations has under `what`."""

    kind: Literal["calculation"]
    what: str
    data: object


class Details(TypedDict):
    """What app/chapters answers about a run, by question."""

    tensors: dict[str, TensorPlace]
    code: CodeDetail
    knocked: KnockedDetail | Nothing
    rests: RestsDetail | Nothing
    windows: WindowsDetail | Nothing
    recalled: RecalledDetail | Nothing
    heads: MeasuredDetail | Nothing
    looks_back: LooksBackDetail | Nothing
    why: WhyDetail
    matching: MatchingDetail | Nothing
    told_apart: ToldApartDetail | Nothing
    outside: OutsideDetail | Nothing
    words: WordsDetail
    circuit: CircuitDetail
    circuit_controls: CircuitControlsDetail
    edges: EdgesDetail
    stream: StreamDetail
    stage: StageDetail
    ends: EndsDetail
    training: TrainingDetail
    merges: MergesDetail
    norm_vectors: NormVectorsDetail
    norm_depth: NormDepthDetail
    position_kinds: PositionKindsDetail
    norm_kinds: NormKindsDetail
    norm_times: NormTimesDetail
    norm_placement: NormPlacementDetail
    rope_scalings: RopeScalingsDetail
    values: ValuesDetail
    projection: ProjectionDetail
    latent: LatentDetail
    head_write: HeadWriteDetail
    head_names: HeadNamesDetail
    head_jobs: HeadNamesDetail
    score_terms: ScoreTermsDetail
    sinks: SinksDetail
    attention_kinds: AttentionKindsDetail
    experts: RoutingDetail
    ffn_map: NeuronMapDetail
    routing_kinds: RoutingSchemesDetail
    activation_kinds: ActivationKindsDetail
    ffn_widths: WidthsDetail
    ffn_firing: FiringDetail
    ffn_written: NeuronWritesDetail
    kv_live: LiveCacheDetail
    lens: LensDetail
    contributions: ContributionsDetail
    next: NextDetail
    logits: LogitsDetail
    draw: DrawDetail
    logit_terms: LogitTermsDetail
    causal_map: CausalMapDetail
    difference: DifferenceDetail
    cost: CostDetail
    parts: PartsDetail
    loss: LossDetail


class Calculations(TypedDict):
    """What app/chapters answers without a run, by question."""

    qr: QrAnswer
    real_model: RealModelAnswer
    loading: LoadingAnswer
    kv: KvAnswer
    kv_chart: KvChartAnswer
    kv_fit: KvFitAnswer
    kv_needs: KvNeedsAnswer
    kv_gpus: KvGpusAnswer
    kv_log: KvLogAnswer
    kv_weights: KvWeightsAnswer
    kv_models: KvModelsAnswer
    kv_places: KvPlacesAnswer
    kv_race: KvRaceAnswer
    lens_fit: LensFitAnswer
    glosses: GlossesAnswer
    families: FamiliesAnswer
