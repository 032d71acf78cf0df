// Every message of visuals/messages, written by `make format`: what is to be changed is changed there.

/** The answer to a question about the run `run`: `data` is what Details has under `what`. */
export interface DetailMessage {
  kind: "detail";
  run: string;
  what: string;
  data: unknown;
}

/** The answer to a question that needs no run: `data` is what Calculations has under `what`. */
export interface CalculationMessage {
  kind: "calculation";
  what: string;
  data: unknown;
}

/** What app/chapters answers about a run, by question. */
export interface Details {
  tensors: Record<string, TensorPlace>;
  code: CodeDetail;
  knocked: KnockedDetail | Nothing;
  rests: RestsDetail | Nothing;
  windows: WindowsDetail | Nothing;
  recalled: RecalledDetail | Nothing;
  heads: MeasuredDetail | Nothing;
  looks_back: LooksBackDetail | Nothing;
  why: WhyDetail;
  matching: MatchingDetail | Nothing;
  told_apart: ToldApartDetail | Nothing;
  outside: OutsideDetail | Nothing;
  words: WordsDetail;
  circuit: CircuitDetail;
  circuit_controls: CircuitControlsDetail;
  edges: EdgesDetail;
  stream: StreamDetail;
  stage: StageDetail;
  ends: EndsDetail;
  training: TrainingDetail;
  merges: MergesDetail;
  norm_vectors: NormVectorsDetail;
  norm_depth: NormDepthDetail;
  position_kinds: PositionKindsDetail;
  norm_kinds: NormKindsDetail;
  norm_times: NormTimesDetail;
  norm_placement: NormPlacementDetail;
  rope_scalings: RopeScalingsDetail;
  values: ValuesDetail;
  projection: ProjectionDetail;
  latent: LatentDetail;
  head_write: HeadWriteDetail;
  head_names: HeadNamesDetail;
  head_jobs: HeadNamesDetail;
  score_terms: ScoreTermsDetail;
  sinks: SinksDetail;
  attention_kinds: AttentionKindsDetail;
  experts: RoutingDetail;
  ffn_map: NeuronMapDetail;
  routing_kinds: RoutingSchemesDetail;
  activation_kinds: ActivationKindsDetail;
  ffn_widths: WidthsDetail;
  ffn_firing: FiringDetail;
  ffn_written: NeuronWritesDetail;
  kv_live: LiveCacheDetail;
  lens: LensDetail;
  contributions: ContributionsDetail;
  next: NextDetail;
  logits: LogitsDetail;
  draw: DrawDetail;
  logit_terms: LogitTermsDetail;
  causal_map: CausalMapDetail;
  difference: DifferenceDetail;
  cost: CostDetail;
  parts: PartsDetail;
  loss: LossDetail;
}

/** What app/chapters answers without a run, by question. */
export interface Calculations {
  qr: QrAnswer;
  real_model: RealModelAnswer;
  loading: LoadingAnswer;
  kv: KvAnswer;
  kv_chart: KvChartAnswer;
  kv_fit: KvFitAnswer;
  kv_needs: KvNeedsAnswer;
  kv_gpus: KvGpusAnswer;
  kv_log: KvLogAnswer;
  kv_weights: KvWeightsAnswer;
  kv_models: KvModelsAnswer;
  kv_places: KvPlacesAnswer;
  kv_race: KvRaceAnswer;
  lens_fit: LensFitAnswer;
  glosses: GlossesAnswer;
  families: FamiliesAnswer;
}

/**
 * An array: its values in `data`, base64 of little-endian bytes, row by row.
 *
 * "f4" and "f2" are IEEE 754 single and half precision, "u1" and "u2" unsigned integers of 8 and 16 bits, "i4"
 * signed ones of 32.
 */
export interface Packed {
  dtype: "f4" | "f2" | "u1" | "u2" | "i4";
  shape: number[];
  data: string;
}

/** The value vectors of a layer, `v` (n_kv_heads, T, width) float32. */
export interface ValuesDetail {
  v: Packed;
}

/**
 * What makes a head's q, k or v of the normed stream n: rows·n + bias, of all K = head_dim channels or of one.
 *
 * `rows` (K, d), `bias` (K,). Where q and k are normalised themselves, that is then divided by `divisor` (T,) and
 * multiplied by `gamma` (K,). float32.
 */
export interface ProjectionDetail {
  rows: Packed;
  bias: Packed | null;
  gamma: Packed | null;
  divisor: Packed | null;
}

/**
 * What a layer with MLA keeps of each token, `latent` (T, rank) and the rotated `key` (T, rope), and what one head
 * makes of it: `nope` (T, nope) of its keys, `value` (T, value), and `absorbed` (T, rank), its queries brought to
 * the latents. By query, its weighted latents `mean_latent` (T, rank), and what it hands to W_O, (T, value):
 * `mixed` of values, `mixed_latent` of that mean. float32.
 */
export interface LatentDetail {
  latent: Packed;
  key: Packed;
  nope: Packed;
  value: Packed;
  absorbed: Packed;
  mean_latent: Packed;
  mixed: Packed;
  mixed_latent: Packed;
}

/**
 * What one head writes to the stream at one token, `written` (d,) = W_O[:, the head's columns] · `mixed` (width,).
 *
 * `stream` (d,) is the stream before attention, `attn_out` (d,) what all heads write together. `channels` (K,)
 * int32 are those with the largest |written|, `rows` (K, width) their rows of W_O. Else float32.
 */
export interface HeadWriteDetail {
  mixed: Packed;
  written: Packed;
  stream: Packed;
  attn_out: Packed;
  channels: Packed;
  rows: Packed;
}

/** How much one head does a job, mostly from 0 to 1. */
export interface HeadScoreMessage {
  layer: number;
  head: number;
  score: number;
}

/**
 * A job of heads: its definition in words, the heads that do it, best first, and texts that show the first, by
 * language in `prompts`.
 */
export interface HeadKindMessage {
  name: string;
  definition: string;
  best: HeadScoreMessage[];
  prompt: string | null;
  prompts: Record<string, string>;
}

/**
 * The jobs that heads of this model are known to do.
 *
 * `done` of `total` random sequences are measured; null where the jobs were measured on texts, or cannot be.
 */
export interface HeadNamesDetail {
  kinds: HeadKindMessage[];
  done: number | null;
  total: number;
}

/** One writer to the residual stream at a token (model.analysis.score_terms.Source). */
export interface ScoreSource {
  kind: "embedding" | "head" | "cross" | "ffn" | "patch" | "bias" | "position";
  layer: number | null;
  head: number | null;
}

/**
 * One score as a sum over what wrote to the two streams: `terms` (sources, sources) float32, the query's source by
 * the key's. `score` is the layer's own, `total` the sum.
 */
export interface ScoreTermsDetail {
  terms: Packed;
  sources: ScoreSource[];
  score: number;
  total: number;
}

/**
 * One sink of a run: the steepest rise of its stream's largest |x|, and what that is to the last token.
 *
 * `channel` rises from `before` to `after` in `layer`, where `writer` `wrote` most of it; null of the embedding.
 * `parked` heads give it at least half of the last token's weight; `lost` are the nats of log p of the most
 * probable word that are lost where the last token may not look at it. Both are null where that is not measured.
 */
export interface SinkMessage {
  token: number;
  writer: "embedding" | "attn" | "cross" | "ffn" | "patch";
  layer: number | null;
  channel: number;
  before: number;
  after: number;
  wrote: number;
  parked: number | null;
  lost: number | null;
}

/**
 * A run's stream before each layer and after the last, `rms` and `largest` |x| (L + 1, T) and `median` |x| (L + 1,)
 * of all tokens, float32; and its sinks.
 *
 * A sink's largest |x| is above `large`, and more than `times` the median. `piece` is the most probable word after
 * the last token, null where nothing was measured of it.
 */
export interface SinksDetail {
  rms: Packed;
  largest: Packed;
  median: Packed;
  large: number;
  times: number;
  piece: string | null;
  sinks: SinkMessage[];
}

/**
 * A run's next token with `count` K/V heads in every layer, or latents of `count` numbers.
 *
 * `kl` is KL(run ‖ changed) in nats, `p_answer` the probability of the run's own answer, and `best` the most
 * probable token, with `p_best`. All are null where that is not measured so far.
 */
export interface PredictionMessage {
  count: number;
  kl: number | null;
  p_answer: number | null;
  best: string | null;
  p_best: number | null;
}

/**
 * The run's most probable next token `answer`, its probability `p`, and what that becomes with every number of K/V
 * heads that the query heads can share, each the mean of those that it stands for, and with a latent of several
 * ranks from which all keys and values are rebuilt. `done` of them are measured.
 */
export interface AttentionKindsDetail {
  answer: string;
  p: number;
  done: number;
  heads: PredictionMessage[];
  latents: PredictionMessage[];
}

/** The distinct token ids of a message, with the text of each. */
export interface TokenNames {
  ids: number[];
  pieces: string[];
}

/**
 * The logit lens at every depth, the embedding first: the K most probable tokens, best first, `ids` int32 and
 * `probabilities` (L + 1, T, K); of each token's target its `rank` int32, `logit` and `probability` (L + 1, T).
 *
 * `targets` (T,) int32 is whose rank is followed. Else float32. The Jacobian lens may begin at a later depth,
 * `first`: then there are so many rows fewer. Where one token was asked for, T is 1.
 */
export interface LensDetail {
  first: number;
  targets: Packed;
  ids: Packed;
  probabilities: Packed;
  rank: Packed;
  logit: Packed;
  probability: Packed;
  names: TokenNames;
}

/**
 * How far a model's Jacobian lens is: a mean over `done` of `tokens` tokens, from layer `first` on. `tokens` is 0
 * where it takes too much work here. `own_texts`: of held-out texts of the model's own world.
 */
export interface LensFitAnswer {
  done: number;
  tokens: number;
  first: number;
  own_texts: boolean;
}

/**
 * What Chinese words mean in English: `words` by word; `parts` are characters that are no word by themselves, each
 * with the meaning of a word that they stand in.
 */
export interface GlossesAnswer {
  words: Record<string, string>;
  parts: Record<string, string>;
}

/**
 * What each part of the network added to one logit of each token, float32.
 *
 * `embedding` and `patched` (T,), `attention`, `ffn` and, with a source, `cross` (L, T) and, with a biased final
 * norm, `constant` (T,) sum to `logit` (T,); `scale` (T,) is what the final norm divides by. `targets` and
 * `against` (T,) int32 say whose logit, and less whose.
 */
export interface ContributionsDetail {
  embedding: Packed;
  attention: Packed;
  ffn: Packed;
  patched: Packed;
  logit: Packed;
  scale: Packed;
  constant?: Packed;
  cross?: Packed;
  targets: Packed;
  against: Packed | null;
  names: TokenNames;
}

/** The token that a text goes on with: its logit, and its rank counted from 0. */
export interface WrittenToken {
  id: number;
  logit: number;
  rank: number;
}

/** The candidates after a position, and the token that the text goes on with; null after the last. */
export interface NextDetail {
  ids: number[];
  pieces: string[];
  logits: Packed;
  log_z: number;
  vocab_size: number;
  tail: number;
  written: WrittenToken | null;
}

/** All logits after a position, (V,) float32. */
export interface LogitsDetail {
  logits: Packed;
}

/** A token in the race: its probability after the filters, and its throw E ~ Exp(1). */
export interface Runner {
  id: number;
  piece: string;
  probability: number;
  throw: number;
}

/**
 * The throws of the most probable tokens. The one with the largest probability / throw wins; `second` is null where
 * only one can.
 */
export interface RaceMessage {
  ids: number[];
  throws: number[];
  winner: Runner;
  second: Runner | null;
}

/**
 * The drawn token, its probability after the filters (1 where there was no choice) and its logit; `race` is null
 * where nothing was thrown.
 */
export interface DrawDetail {
  id: number;
  piece: string;
  probability: number;
  logit: number;
  race: RaceMessage | null;
}

/** What one neuron adds to a logit. */
export interface NeuronTerm {
  layer: number;
  neuron: number;
  value: number;
}

/**
 * One logit as a sum: `embedding`, `heads` (L, n_heads, T) by source token, `cross` (L, n_heads, S) of a look at a
 * source, and each layer's `ffn` (L,), float32; of that the strongest `neurons`, and the others' sum.
 *
 * `patched` is what an intervention put in the stream's place, `biases` what the network's biases add (0 in a
 * LLaMA). `logit` is the network's own, `total` the sum.
 */
export interface LogitTermsDetail {
  embedding: number;
  heads: Packed;
  cross: Packed | null;
  ffn: Packed;
  neurons: NeuronTerm[];
  other_neurons: number;
  patched: number;
  biases: number;
  logit: number;
  total: number;
}

/**
 * Where the answer lives: `left` (L + 1, T) float32 is the share of the difference of two logits that is left with
 * another text's stream at that place, `source_left` (L + 1, S) of an encoder; with another text's attention or
 * feed-forward there, both have L rows. `answer` and `other` are pieces. The texts differ from token `start` on.
 */
export interface CausalMapDetail {
  left: Packed;
  source_left: Packed | null;
  answer: string;
  other: string;
  start: number;
}

/** An answer: a token and its text. */
export interface AnswerToken {
  id: number;
  piece: string;
}

/**
 * A head, or one layer's feed-forward (`head` null), at one token; at the ends of edges also a token's embedding
 * (layer −1) and the logits (layer L). `stack` where the network has two.
 */
export interface CircuitNode {
  kind: "head" | "cross" | "ffn" | "embedding" | "logits";
  layer: number;
  head: number | null;
  token: number;
  stack?: "encoder" | "decoder";
}

/**
 * A node of a circuit, and what it was ranked by: negative where it works against the answer.
 *
 * A head reads token `reads` most, with `weight`; of a look at a source, and in an encoder, that is one of the
 * source. `to_answer` and `to_other` are what it adds to the two logits; null where it writes to no logit.
 */
export interface ScoredNode {
  kind: "head" | "cross" | "ffn" | "embedding" | "logits";
  layer: number;
  head: number | null;
  token: number;
  stack?: "encoder" | "decoder";
  score: number;
  reads: number | null;
  weight: number | null;
  to_answer: number | null;
  to_other: number | null;
}

/** Two texts of the same kind with other words, and the share that the same nodes bring back there. */
export interface HeldOutPair {
  words: string[];
  share: number;
}

/**
 * The circuit of an answer against that to another text.
 *
 * `first` and `second` are the logits of `answer` less that of `other` in the two runs. `differ` are the positions
 * at which the texts do; `written` counts a decoder's tokens. `recovered` is the share of the difference that the
 * nodes alone bring back, `without` what is left without them. `curve` has that share by number of nodes.
 */
export interface CircuitDetail {
  answer: AnswerToken;
  other: AnswerToken;
  first: number;
  second: number;
  other_pieces: string[];
  written: number | null;
  differ: number[];
  nodes: ScoredNode[];
  recovered: number;
  without: number;
  curve: [number, number][];
}

/**
 * What could refute a circuit.
 *
 * `by_chance` is the share that as many nodes drawn by lot bring back, draw by draw, `by_change` that of as many
 * whose writes differ most between the two texts, `held_out` what the circuit's nodes bring back on other pairs.
 */
export interface CircuitControlsDetail {
  by_chance: number[];
  by_change: number;
  held_out: HeldOutPair[];
}

/** An edge between two nodes, and what it carries of the difference. */
export interface CircuitEdge {
  from: CircuitNode;
  to: CircuitNode;
  effect: number;
}

/** The next edges of a circuit, which has `total`. */
export interface EdgesDetail {
  total: number;
  edges: CircuitEdge[];
}

/** Which line of its file makes a captured tensor. */
export interface Making {
  tensor: string;
  line: number;
}

/**
 * A function or class as it is written.
 *
 * Its name, the file from the repository's root, the number of its first line there, and its lines as pieces, each
 * with its kind (pygments' short names) and its text; and what it makes of the tensors that were asked for.
 */
export interface CodeExcerpt {
  name: string;
  file: string;
  first: number;
  lines: [string, string][][];
  makes: Making[];
}

/** The excerpts of a panel, those that make its tensors first. */
export interface CodeDetail {
  excerpts: CodeExcerpt[];
}

/** ‖B − A‖ (`apart`) and ‖A‖ (`first`) of the residual stream, (L + 1, T) float32, at tokens that both runs have. */
export interface DifferenceDetail {
  apart: Packed;
  first: Packed;
}

/** By field of model.replaced.parts.Parts, what a run's network could have in place of its own. */
export interface PartsDetail {
  offered: Record<string, (string | number)[]>;
}

/** −log p, in nats, of every token after the first, by what came before it; and the mean. */
export interface LossDetail {
  nats: Packed;
  mean: number;
}

/**
 * What a network costs: parameters held; bytes of weights `read` for one token, and of the cache `kept` of one,
 * each with its products.
 */
export interface CostDetail {
  parameters: number;
  weights: Product[];
  read: number;
  cache: Product[];
  kept: number;
}

/** A line of a cell: a code of the page's texts with its numbers; `differs` where LLaMA 3's cell has none such. */
export interface CellLine {
  code: string;
  params: Record<string, number | string>;
  differs: boolean;
}

/** What one network has of one row; `differs` from LLaMA 3's by its codes, not by its numbers. */
export interface Cell {
  lines: CellLine[];
  differs: boolean;
}

/** Bytes that a token takes in the KV cache, with the products; with a `source`, every token of that as much. */
export interface TokenCache {
  dtype: string;
  bytes: number;
  terms: Product[];
  source: boolean;
}

/** Weights of one kind: layers × copies × `each`; layers is 0 for what stands outside them. */
export interface WeightPartMessage {
  label: string;
  layers: number;
  copies: number;
  how: string;
  each: number;
  weights: number;
}

/** The parts of a model's weights that belong together. */
export interface WeightGroup {
  group: string;
  weights: number;
  parts: WeightPartMessage[];
}

/** All weights by group, those that read one token (`active`, null where all do), and the total as published. */
export interface ParametersMessage {
  published: PublishedCount | null;
  total: number | null;
  active: number | null;
  groups: WeightGroup[];
}

/** A published model: cells by row, its cache, its weights, and where that was read. */
export interface FamilyColumn {
  id: string;
  family: string;
  name: string;
  release: string;
  cells: Record<string, Cell>;
  cache: TokenCache;
  parameters: ParametersMessage;
  sources: string[];
}

/**
 * What tables say of a family, and the cell that shows what is so, by column and row.
 *
 * `verdict`: wrong; true of some models or in some sense; or open, since nobody measured it.
 */
export interface Claim {
  name: string;
  verdict: "wrong" | "part" | "open";
  column: string;
  row: string;
}

/** The families beside each other: rows, columns, which columns each view has, and what tables get wrong of them. */
export interface FamiliesTable {
  reference: string;
  rows: string[];
  views: Record<string, string[]>;
  columns: FamilyColumn[];
  claims: Claim[];
}

/** The table, the panel ([chapter, panel]) that each row or code leads to, and the models on offer by family. */
export interface FamiliesAnswer {
  reference: string;
  rows: string[];
  views: Record<string, string[]>;
  columns: FamilyColumn[];
  claims: Claim[];
  rowPlaces: Record<string, [string, string]>;
  codePlaces: Record<string, [string, string]>;
  elsewhere: Record<string, [string, string]>;
  live: Record<string, string[]>;
}

/**
 * Where a layer's router sent each token, of E experts to k.
 *
 * `scores` (T, E) after softmax or sigmoid; `chosen` (T, k) uint16, best first; `weight` (T, k) multiplies their
 * outputs; `balance` (E,) is added to the scores for the choice alone. `length` (T, k) is that of what each writes
 * to the stream, `shared` (T,) the shared expert's, `whole` (T,) of all together. Else float32.
 */
export interface RoutingDetail {
  scores: Packed;
  chosen: Packed;
  weight: Packed;
  balance: Packed | null;
  length: Packed;
  shared: Packed | null;
  whole: Packed;
}

/**
 * One way to route a layer's tokens (visuals/routing.py): `chosen` (T, k) uint16, best first; else float32.
 *
 * `weight` (T, k) multiplies what the experts write, `gram` (T, k, k) are the products of what they write with that
 * weight, `length` (T,) is that of all that the layer writes then, `change` (T,) how far it is from what the
 * network writes. `shared`: with the shared expert, where there is one.
 */
export interface RoutingScheme {
  name: string;
  shared: boolean;
  chosen: Packed;
  weight: Packed;
  gram: Packed;
  length: Packed;
  change: Packed;
}

/**
 * Ways to route a layer's tokens, the network's own first; `probabilities` (T, E) float32 are the softmax of the
 * router's logits, `alpha` the weight of the balance loss in Mixtral's config.json.
 */
export interface RoutingSchemesDetail {
  schemes: RoutingScheme[];
  probabilities: Packed;
  alpha: number;
}

/**
 * A layer with each of K kinds of feed-forward in turn (visuals/activations.py), by token.
 *
 * `kinds` and the `functions` that they bend with go by the names of model.replaced.activations; `own` is the
 * network's. `zeros` (K, T) int32 of the `neurons`, else float32: `slope`, `length` and `change` (K, T), and
 * `apart` (2, T), from exact GELU to its tanh and to its sigmoid form.
 */
export interface ActivationKindsDetail {
  kinds: string[];
  functions: string[];
  own: string;
  neurons: number;
  zeros: Packed;
  slope: Packed;
  length: Packed;
  change: Packed;
  apart: Packed;
}

/** A published model's width of the feed-forward, and the two numbers of LLaMA's rule where it has them. */
export interface PublishedWidth {
  model: string;
  d_model: number;
  width: number;
  gated: boolean;
  multiplier: number | null;
  multiple_of: number | null;
  source: string;
}

/** Published widths (visuals/ffn_width.py). */
export interface WidthsDetail {
  rows: PublishedWidth[];
}

/** K neurons of a layer at every token, (K, T) each. */
export interface NeuronMapDetail {
  gate: Packed | null;
  up: Packed;
  weight: Packed | null;
  neurons: number[];
}

/**
 * How sparsely each layer fires, as shares in 0…1, (L, T) float32 each (model.analysis.neurons.Firing): `open` of
 * the neurons, `top` of the mass, `needed` of the neurons again.
 */
export interface FiringDetail {
  open: Packed;
  top: Packed;
  needed: Packed;
}

/** A token, and what is added to its logit. */
export interface MovedToken {
  id: number;
  piece: string;
  by: number;
}

/**
 * What a neuron reads and writes at a token.
 *
 * `gate` and `up` are null where it has none or is of an expert that the token does not go to. `norm` is the length
 * of what it writes, `column` that of its column of W_down. `raised` and `lowered` are the tokens to whose logits
 * it adds most, and least, which may be above zero; `adds` is its part of the logit that was asked for, null where
 * none was.
 */
export interface NeuronWrites {
  neuron: number;
  gate: number | null;
  up: number | null;
  adds: number | null;
  norm: number;
  column: number;
  raised: MovedToken[];
  lowered: MovedToken[];
}

/** What neurons of a layer write at a token; `rest` is the length of what all others write, `whole` of all. */
export interface NeuronWritesDetail {
  rows: NeuronWrites[];
  rest: number;
  whole: number;
}

/** A head, and the token `key` that it looks at most from the one at `query`, with its weight. */
export interface SightPlace {
  layer: number;
  head: number;
  query: number;
  key: number;
  weight: number;
}

/** The head to show first. */
export interface FirstHead {
  layer: number;
  head: number;
  query: number;
  key: number;
  weight: number;
  kind: "head" | "cross" | "neuron";
}

/** A head that reads the answer, and its weight there. */
export interface ReadingHead {
  layer: number;
  head: number;
  weight: number;
}

/**
 * Where the answer was read: at token `key`, by `heads`. `without` is its probability when all of them are off, and
 * `by_chance` what is left when as many others are, draw by draw, sorted.
 */
export interface LookMessage {
  kind: "head" | "cross" | "neuron";
  key: number;
  heads: ReadingHead[];
  without: number;
  by_chance: number[];
}

/**
 * What a part is worth to the answer: its probability `without` the part, and the `loss` in nats. A head's sight
 * where it has one.
 */
export interface EffectMessage {
  kind: "head" | "cross" | "neuron" | "encoder_head" | "encoder_neuron";
  layer: number;
  index: number;
  without: number;
  loss: number;
  head?: number;
  query?: number;
  key?: number;
  weight?: number;
}

/**
 * What token `target` (its `piece`) after the token at `position` rests on.
 *
 * `lost` (T,) are nats of its log-probability that are lost when the last token may not look at a token, in any
 * layer. `sinks` are tokens where heads park, and `parked` how many do; `tokens` the others that are needed, most
 * needed first. `form` is how the model comes by the token: of `fetched` nats in the upper half of the layers,
 * `from_answer` come from `places`, where it stands in the text; `from_hidden` nats are lost without a look at
 * exactly these in any layer, and `alone` where the last `few` tokens see each other and the sinks alone.
 */
export interface RestsDetail {
  target: number;
  piece: string;
  position: number;
  probability: number;
  lost: Packed;
  tokens: number[];
  sinks: number[];
  parked: number[];
  form: "copied" | "recalled" | "habit";
  fetched: number;
  from_answer: number;
  places: number[];
  from_hidden: number;
  alone: number;
  few: number;
}

/** From layer `first` to layer `last`. */
export interface LayersMessage {
  first: number;
  last: number;
}

/**
 * What is lost with FFNs' writes at a token taken from the other text, which those of `layers` carry: of `all`
 * layers, those above the first of these (`later`), and those `above` the last; `attention` with every layer's
 * attention there, and `elsewhere` with the FFNs of `layers` at the last token. Not `clear` where that does not
 * show that it is these FFNs.
 */
export interface GatheredMessage {
  layers: LayersMessage;
  all: number;
  later: number;
  above: number;
  attention: number;
  elsewhere: number;
  clear: boolean;
}

/**
 * What is lost with the last token's stream taken from the other text, `before` these `layers` and `after` them,
 * and with that of the other token before (`held`). Not `clear` where these are many, or it was not held.
 */
export interface MovedMessage {
  layers: LayersMessage;
  held: number;
  before: number;
  after: number;
  clear: boolean;
}

/**
 * The head that loses most at the last token, of the layers in which the difference moves, and what the `following`
 * one loses. Not `clear` where it is not this one head.
 */
export interface BroughtMessage {
  layer: number;
  head: number;
  lost: number;
  following: number;
  clear: boolean;
}

/**
 * How what tells `answer` from `other`, the other text's (pieces both), gets from `token` to the last one; in
 * shares of the difference of the two logits.
 */
export interface RecalledDetail {
  answer: string;
  other: string;
  token: number;
  gathered: GatheredMessage;
  moved: MovedMessage;
  brought: BroughtMessage;
}

/**
 * `lost` (W, T): as of RestsDetail, where a look at a token is forbidden in `width` layers alone, in each row from
 * one of `starts` on.
 */
export interface WindowsDetail {
  width: number;
  starts: number[];
  lost: Packed;
}

/** (L, n_heads): nats lost by each head's `ablation`; those that are not `measured` are estimates. */
export interface HeadsMessage {
  ablation: "mean" | "zero";
  lost: Packed;
  measured: Packed;
}

/** The token that would come first, and how probable it would be. */
export interface InsteadMessage {
  id: number;
  piece: string;
  probability: number;
}

/**
 * A head, its `weight` for the token that it looks at, what it `adds` to the answer's logit from there, and the
 * nats of log-probability lost when it is switched off.
 */
export interface LookingMessage {
  layer: number;
  head: number;
  weight: number;
  adds: number;
  missed: number;
}

/**
 * What would come `instead` without the last token's looks at `token`, which the answer needs most, and the most
 * that a head that looks there adds to the answer's logit, `from_token`. `key` is the token that the answer is
 * brought from; which heads, by layer and number, are `looking` there most, sinks apart, the one that adds most
 * first, and what they add `together`. `head` is the first of these, or of all where there are none; the one of the
 * first few that is missed most where the first is not missed.
 */
export interface LooksBackDetail {
  token: number;
  instead: InsteadMessage;
  from_token: number;
  key: number;
  looking: [number, number][];
  together: number;
  head: LookingMessage;
}

/** How many tokens are knocked out by now, one at a time, of how many: what "rests" takes longest for. */
export interface KnockedDetail {
  done: number;
  total: number;
}

/** Heads that are measured one after the other: `done` of `total` so far, and what is known by then. */
export interface MeasuredDetail {
  grid: HeadsMessage;
  done: number;
  total: number;
}

/**
 * What matters for token `target` (its `piece`) after the token at `position`: parts by loss, the largest first.
 *
 * `grid` is of every head, where the network's tokens see those before them alone.
 */
export interface WhyDetail {
  target: number;
  piece: string;
  position: number;
  probability: number;
  first: FirstHead | null;
  look: LookMessage;
  parts: EffectMessage[];
  grid?: HeadsMessage;
}

/** There is nothing to tell. */
export interface Nothing {}

/** A head at token `at` that looks at token `key` with `weight`. */
export interface LookStep {
  layer: number;
  head: number;
  at: number;
  key: number;
  weight: number;
}

/** The same head with token `id`, `piece`, at `position` instead: its two scores. */
export interface OtherToken {
  position: number;
  id: number;
  piece: string;
  score: number;
  rival_score: number;
}

/**
 * What made a head's score of a key higher than of its `rival`, another token of the text.
 *
 * `asked`, `told` and `rival_told` are how what is matched came there, the last step first. The others are as in
 * model.analysis.matching.Matching.
 */
export interface MatchingDetail {
  rival: number;
  score: number;
  rival_score: number;
  asked: LookStep[];
  told: LookStep[];
  rival_told: LookStep[] | null;
  term: number;
  rival_term: number;
  from_asked: number;
  rival_from_asked: number;
  n_terms: number;
  other: OtherToken | null;
}

/**
 * The same of the first `head` that matches a word with itself, of those that look at the token that the answer is
 * brought from, `key`; with the `other` token in the text it prefers the rival.
 */
export interface ToldApartDetail {
  rival: number;
  score: number;
  rival_score: number;
  asked: LookStep[];
  told: LookStep[];
  rival_told: LookStep[] | null;
  term: number;
  rival_term: number;
  from_asked: number;
  rival_from_asked: number;
  n_terms: number;
  other: OtherToken | null;
  layer: number;
  head: number;
  weight: number;
  adds: number;
  missed: number;
  key: number;
}

/** Mean surprisal of held-out `documents`, in nats a token: the middle one and the largest. */
export interface UsualSurprisal {
  documents: number;
  middle: number;
  most: number;
}

/**
 * What is strange in a prompt of `words` words: `places` of words that the corpus never has, [first token, end].
 *
 * `surprisal` is the mean over the first `tokens` tokens, in nats. `odd`: the words are known, the text is not.
 * `misplaced`: the answer is the place of which the prompt says otherwise. `doubt` is the probability of the
 * prompt's answer, with nothing changed, where all other tokens together have more; `unsure`: that is so of it or
 * of the run's own answer. `example` is a sentence that the model knows.
 */
export interface OutsideDetail {
  words: number;
  places: [number, number][];
  tokens: number;
  surprisal: number | null;
  usual: UsualSurprisal | null;
  odd: boolean;
  misplaced: boolean;
  doubt: number | null;
  unsure: boolean;
  example: string;
}

/**
 * `text` is the prompt with `word`, from character `start` on, replaced by `other`; `answer` (its `piece`) follows
 * then, with `probability`.
 */
export interface SwapMessage {
  start: number;
  word: string;
  other: string;
  text: string;
  answer: number;
  piece: string;
  probability: number;
}

/**
 * Words of `text` to change. It has `tokens` tokens; two texts are compared part by part up to `limit`, and mapped
 * place by place up to `map_limit`.
 */
export interface WordsDetail {
  swaps: SwapMessage[];
  text: string;
  tokens: number;
  limit: number;
  map_limit: number;
}

/** A remark on a model, a config or a GPU, in each language of the page. */
export interface Remark {
  en: string;
  zh: string;
}

/** Why there is no answer to one part of a question: as in a Notice. */
export interface Refused {
  code: string;
  params: Record<string, unknown>;
}

/** Something that a reader should know about a figure: a code of the page's texts, English text, particulars. */
export interface NoteMessage {
  code: string;
  text: string;
  params: Record<string, unknown>;
}

/** What each token of a sequence adds up to token `until`, null in the last phase. */
export interface GrowthPhase {
  until: number | null;
  terms: Product[];
}

/** What one more token adds before and after a window ("sliding" or "chunked") is full. */
export interface Growth {
  kind: string;
  phases: GrowthPhase[];
}

/**
 * A KV cache's bytes: the sum and its products; of one token; of one GPU among `gpus`, which are `tp` × `pp`; and
 * remarks. The sum is `copies` times the cache, which some ranks keep whole. `stage_layers` are the layers of each
 * pipeline stage. `growth` is null where every token adds the same.
 */
export interface Breakdown {
  model: string;
  tokens: number;
  batch: number;
  dtype: string;
  bytes: string;
  copies: number;
  per_token: string;
  growth: Growth | null;
  gpus: number;
  tp: number;
  pp: number;
  stage_layers: number[];
  per_gpu: string;
  terms: TermMessage[];
  notes: NoteMessage[];
}

/**
 * A model's shape as far as its cache depends on it, its parameters as counted and as published, where that was
 * read, and which options mean something for it.
 *
 * `max_context`, `window` and `chunk` are in tokens. `latent` are the widths that MLA caches, [latent, RoPE key].
 * `d_model` is 0, and `parameters` null, where a config does not state them. `also` are models of the same shape.
 */
export interface Card {
  name: string;
  family: string;
  kind: "MHA" | "GQA" | "MQA" | "MLA" | "none";
  n_layers: number;
  d_model: number;
  n_heads: number;
  n_kv_heads: number;
  head_dim: number;
  group_size: number;
  max_context: number | null;
  window: number | null;
  chunk: number | null;
  latent: number[] | null;
  parameters: number | null;
  published: PublishedCount | null;
  source: Remark[];
  not_verified: Remark[];
  notes: Remark[];
  options: string[];
  also: string[];
}

/** A card, and what a pasted config calls itself. */
export interface CalledCard {
  name: string;
  family: string;
  kind: "MHA" | "GQA" | "MQA" | "MLA" | "none";
  n_layers: number;
  d_model: number;
  n_heads: number;
  n_kv_heads: number;
  head_dim: number;
  group_size: number;
  max_context: number | null;
  window: number | null;
  chunk: number | null;
  latent: number[] | null;
  parameters: number | null;
  published: PublishedCount | null;
  source: Remark[];
  not_verified: Remark[];
  notes: Remark[];
  options: string[];
  also: string[];
  called: string | null;
}

/** A number format; `engine` is the program whose it is, "" for a plain number type. */
export interface FormatMessage {
  name: string;
  engine: string;
  about: string;
}

/** The formats of K and of V where they are two, and the name that settings and requests have for both. */
export interface PairMessage {
  name: string;
  k: string;
  v: string;
}

/**
 * Every model of the catalogue, every format, every two that K and V may have apart, and every model_type whose
 * config.json is read.
 */
export interface KvModelsAnswer {
  models: Card[];
  formats: FormatMessage[];
  pairs: PairMessage[];
  families: string[];
}

/**
 * One shape under one kind of attention: bytes and products, or why it has none (`refused`).
 *
 * `head_dim` is how wide its values are, and but in MLA its keys, which are rebuilt `key_width` wide. `own` marks
 * the model's own kind. `latent` as on a card, `assumed` where it is not the model's own.
 */
export interface KindRow {
  kind: "MHA" | "GQA" | "MQA" | "MLA" | "none";
  own: boolean;
  n_kv_heads: number;
  head_dim: number;
  key_width: number;
  latent: number[] | null;
  assumed: boolean;
  bytes?: string;
  per_token?: string;
  terms?: TermMessage[];
  refused?: Refused;
}

/** A model's cache, and the same shape as MHA, GQA, MQA and MLA. */
export interface KvAnswer {
  model: string;
  tokens: number;
  batch: number;
  dtype: string;
  bytes: string;
  copies: number;
  per_token: string;
  growth: Growth | null;
  gpus: number;
  tp: number;
  pp: number;
  stage_layers: number[];
  per_gpu: string;
  terms: TermMessage[];
  notes: NoteMessage[];
  card: CalledCard;
  kinds: KindRow[];
}

/**
 * What a run's cache holds after `tokens` tokens: bytes as measured and by the `formula`, and the length of each
 * token's K and V rows, (L, T) float32. `kinds` are at one token.
 */
export interface LiveCacheDetail {
  tokens: number;
  bytes: number;
  formula: string;
  dtype: string;
  k_norm: Packed;
  v_norm: Packed;
  kinds: KindRow[];
}

/** How plotly strokes a trace's line. */
export interface CacheLine {
  color: string;
  width: number;
  dash: "solid" | "dash" | "dot" | "dashdot" | "longdash" | "longdashdot";
}

/** How plotly strokes the edge of a mark. */
export interface CacheEdge {
  color: string;
  width: number;
}

/** Plotly's pattern over a bar's own colour. */
export interface CachePattern {
  shape: "" | "/" | "x";
  fillmode: string;
  fgcolor: string;
}

/** How plotly fills a bar, or a mark of `size` pixels. */
export interface CacheMarker {
  color: string;
  size?: number;
  line?: CacheEdge;
  pattern?: CachePattern;
}

/** The points of a trace: their models, tokens and exact bytes, and the models as plotly writes them. */
export interface CachePoints {
  models: string[];
  tokens: number[];
  bytes: string[];
  hovertext: string[];
}

/**
 * A trace of plotly's, whose heights the page works out. Those with a `name` are in the legend.
 *
 * `contexts` are the models' own contexts, null where the bar is not beyond it.
 */
export interface CacheTrace {
  models: string[];
  tokens: number[];
  bytes: string[];
  hovertext: string[];
  type: "scatter" | "bar";
  x: number[] | string[][];
  name?: string;
  mode?: string;
  line?: CacheLine;
  marker?: CacheMarker;
  contexts?: (number | null)[];
  hovertemplate?: string | string[];
  hoverinfo?: string;
}

/** A chart of bytes as PlotlyFigure says; `unit` is how many bytes one is on the axis. */
export interface CacheChart {
  data: CacheTrace[];
  layout: Record<string, unknown>;
  unit: number;
}

/** A model that is not drawn, and why. */
export interface Excluded {
  model: string;
  refused: Refused;
}

/**
 * A chart, the models that its settings do not fit, and of how many sequences, in which format, on how many
 * tensor-parallel ranks, pipeline stages and ranks that split the tokens it is.
 */
export interface KvChartAnswer {
  figure: CacheChart;
  excluded: Excluded[];
  batch: number;
  dtype: string;
  tp: number;
  pp: number;
  dcp: number;
}

/**
 * A GPU: bytes of memory, bytes a second, and where that was read; `reported` is its memory in MiB as nvidia-smi
 * has it, 0 where no report is known, and `reported_in` names the report. `stated` is the datasheet's memory, "0"
 * of the reader's own GPU; it counts where nothing is reported. `interface`: CUDA, ROCm or Metal; "" of the
 * reader's own GPU. `step_tokens`: those of a step by default.
 */
export interface GpuMessage {
  name: string;
  memory: string;
  bandwidth: string;
  source: Remark;
  reported: number;
  reported_in: string;
  reporter: string;
  stated: string;
  interface: string;
  step_tokens: number;
}

/**
 * `count` whole blocks of `size` tokens and `each` bytes, `rest` bytes too few for one more; `needed` for all
 * sequences, each `per_sequence`.
 */
export interface VllmBlocks {
  size: number;
  size_from: "set" | "usual" | "latent";
  each: string;
  count: number;
  rest: string;
  per_sequence: number;
  needed: number;
}

/**
 * vLLM's own rule: `room` bytes of the share for the cache once weights, activations, context and CUDA `graphs` are
 * taken out, and what is `free` of them; `blocks` is null where they are not counted. `uncounted` is why not, or
 * that there is no "room" for them.
 */
export interface VllmMessage {
  free: string;
  graphs: string;
  room: string;
  blocks: VllmBlocks | null;
  uncounted: "" | "room" | "kinds" | "context" | "draft" | "shared" | "reserved";
}

/** Bytes that are `free` of `percent` of a GPU's memory by vLLM's rule; below 0, so many are lacking. */
export interface DefaultShare {
  percent: number;
  free: string;
}

/**
 * Of `gpus` GPUs the one that decides what fits: what its weights and its cache take, and what is free of what is
 * `usable`.
 *
 * `stated_free` is free of the memory that the datasheet states, null where that is what counts; `vllm` is its own
 * rule for the share, `vllm_default` the same for the share that vLLM takes by default, null where the question has
 * a share or vLLM does not run on the GPU. `share` is `percent` of its memory. `by` "share", it is usable; by
 * "lines", less each line of BesideMessage; by "vllm", less activations, context and CUDA graphs, and `free` is
 * that rule's. `all_weights` and `all_cache` are of all GPUs; `all_weights` as counted, null where the config does
 * not say enough, `measured` as the files have them. `weights_in` is the weights' format, "" where they are not
 * counted, `stored` a remark on it; `format_unknown`: no source says how the model's files are stored, and no
 * format was chosen. `output_in` is that of the output matrix by `output_source`, "" where the embeddings have the
 * same. `without_mtp`: what the model's MTP layers take, where they are not counted, else null. `lacks_bf16`: K and
 * V are to be in bf16, which the GPU does not have.
 */
export interface UseMessage {
  gpu: GpuMessage;
  gpus: number;
  tp: number;
  pp: number;
  by: "lines" | "share" | "vllm";
  percent: number;
  share: string;
  usable: string;
  weights: string;
  cache: string;
  free: string;
  stated_free: string | null;
  vllm: VllmMessage;
  vllm_default: DefaultShare | null;
  fits: boolean;
  all_weights: string | null;
  measured: string | null;
  without_mtp: string | null;
  all_cache: string;
  weights_in: string;
  output_in: string;
  output_source: string;
  stored: Remark[];
  format_unknown: boolean;
  lacks_bf16: boolean;
  weight_terms: Product[];
}

/**
 * The largest batch or context; `next` is what one more would take on the fullest GPU: weights and cache, by lines
 * these too. Where vLLM's whole blocks decide, it is with `next_blocks` of them, else null.
 */
export interface LargestMessage {
  value: number;
  unlimited: boolean;
  per_gpu: string;
  next: string | null;
  next_blocks: number | null;
  max_context: number | null;
}

/**
 * The least time of a decoding step, (weights + cache / micro_batches) / (ranks × bandwidth), in `milliseconds`,
 * and the tokens a second of `each` sequence and of `all`. "spread": with as many experts as tokens can choose.
 */
export interface BoundMessage {
  weights: string;
  cache: string;
  micro_batches: number;
  ranks: number;
  bandwidth: string;
  milliseconds: number;
  spread_weights: string;
  spread_milliseconds: number;
  each: number;
  all: number;
  batch: number;
}

/** A part of a question that has no answer, so that the others still stand. */
export interface Unanswered {
  refused: Refused;
}

/**
 * What the memory that weights and cache may not take, `kept_back`, is for on the fullest GPU: the activations of a
 * step of `step_tokens`, the GPU's own `context`, and what is `left` for fragmentation. By lines that is what was
 * set; by a share it is the rest, and below 0 so much is lacking. `lacking` are fields without which not all
 * activations are counted.
 */
export interface BesideMessage {
  kept_back: string;
  step_tokens: number;
  activations: Product[];
  activation_bytes: string;
  context: string;
  left: string;
  lacking: string[];
}

/**
 * Weights and cache on a GPU, what stands beside them, the largest batch and context there, and the bound on
 * decoding.
 */
export interface KvFitAnswer {
  use: UseMessage;
  beside: BesideMessage;
  batch: LargestMessage | Unanswered;
  context: LargestMessage | Unanswered;
  bound: BoundMessage | Unanswered;
}

/** How a load lies on GPUs: tensor-parallel ranks × pipeline stages, and decode-context ranks. */
export interface Layout {
  gpus: number;
  tp: number;
  pp: number;
  dcp: number;
}

/**
 * How many GPUs of one kind a load needs: `at_least` by bytes alone, over the bytes that weights and cache may take
 * of one, its `room`, null where the lines beside them take all of it; the `layout` that fits, null where none
 * does; `one_server` the fewest without stages. `memory`: bytes of one, of which `percent` may be taken; whose
 * figure it is as in GpuMessage. `room` is of one among `room_tp` that share each layer, and so the activations.
 * `alone`: those of them that weights and cache may take where it is the only one. `own`: the reader's own
 * figures.
 */
export interface GpuNeedMessage {
  name: string;
  own: boolean;
  memory: string;
  percent: number;
  reported: number;
  reported_in: string;
  reporter: string;
  source: Remark;
  room: string;
  room_tp: number;
  alone: string;
  at_least: number | null;
  layout: Layout | null;
  one_server: number | null;
  per_gpu?: string;
}

/** What `users` with `tokens` tokens each take, and how many GPUs of each kind. `by` as in UseMessage. */
export interface KvNeedsAnswer {
  by: "lines" | "share" | "vllm";
  users: number;
  tokens: number;
  weights: string;
  cache: string;
  total: string;
  gpus: GpuNeedMessage[];
  notes: NoteMessage[];
}

/** The GPUs and the weights' formats to choose from. */
export interface KvGpusAnswer {
  gpus: string[];
  weights: FormatMessage[];
}

/** The answer at one place of a slider. */
export interface PlaceData {
  data: unknown;
}

/** Why there is none at this one. */
export interface PlaceNotice {
  message: Notice;
}

/**
 * The answers along a slider: the first whole, each as what changes in it: null nothing, [value] in its place, else
 * the changes by key or index.
 */
export interface KvPlacesAnswer {
  first: PlaceData | PlaceNotice;
  changes: unknown[];
}

/**
 * One token written with and without a cache after `tokens` tokens: seconds and multiply–adds of each way, and
 * whether both chose the same.
 */
export interface RaceStep {
  tokens: number;
  token_id: number;
  cached_seconds: number;
  full_seconds: number;
  cached_work: number;
  full_work: number;
  same: boolean;
}

/** A few tokens of the race. */
export interface KvRaceAnswer {
  steps: RaceStep[];
}

/** A value as the log has it, a code for what it is, and the number of its line, from 1. */
export interface LogFact {
  code: string;
  value: string;
  line: number;
}

/** Where a log ends within a number, which is not read: the line, from 1, and how it ends. */
export interface LogCut {
  line: number;
  end: string;
}

/**
 * A figure as a decimal text, and the arithmetic that it comes from, or how the log prints it; "" for neither.
 *
 * `worked_out`: it stands in the log's column, but on no line of it.
 */
export interface LogCell {
  value: string;
  how: string;
  worked_out: boolean;
}

/**
 * A quantity by the formula, as the engine reserves it, and as the log has it; null where one of them has none.
 *
 * `differs`: the log's is not what the engine would print of what it reserves.
 */
export interface LogRow {
  quantity: string;
  formula: LogCell | null;
  reserved: LogCell | null;
  logged: LogCell | null;
  differs: boolean;
}

/** Where it was read what an engine does; `address` may be "". */
export interface LogSource {
  text: string;
  address: string;
}

/** One step from the formula to the log: `bytes` more, null for a remark. `of`: the pool, or one request. */
export interface LogDifference {
  code: string;
  of: "pool" | "request";
  bytes: string | null;
  params: Record<string, unknown>;
  source: LogSource | null;
}

/**
 * What line `line` says (`one`), and what contradicts it: line `other_line`, or the model that is compared, whose
 * figure `other` then is, and whose parameters where `one` is a name with a "size"; of a "name" `other` is what the
 * list calls it. "beyond": `one` is what the tokens of a line take by the model that is compared, more than the
 * other line has for them. "row": `one` is the line's figure of `quantity`, `other` what the engine would print of
 * the other lines. "format": the line names the format `one`, and the bytes are those of `other`. "part": the
 * line's figure of K or of V is `one`, and `other` what it would be by the tokens.
 */
export interface LogConflict {
  code: "lines" | "model" | "size" | "name" | "beyond" | "row" | "format" | "part";
  one: string;
  line: number;
  other: string;
  other_line: number;
  quantity: string;
}

/**
 * What line `line` says of the weights, and what is `counted` in `dtype`, null where no product counts that; all in
 * bytes. `stated`: the log says the format. `computed` is the number type of computing that it says instead.
 * `whole`: of the model's file, else of one GPU. `measured`: by the memory in use before and after. `slack`: half
 * of the last digit that is printed; `more`: the log's less the count.
 */
export interface LogWeights {
  counted: string | null;
  dtype: string;
  stated: boolean;
  computed: string;
  logged: string;
  text: string;
  slack: string;
  more: string | null;
  line: number;
  whole: boolean;
  measured: boolean;
}

/**
 * An engine's log beside the formula, on one of `ranks` ranks.
 *
 * `model` is what the formula is of: the log's own, by the file's "metadata" or by what the engine "printed" of its
 * shape; one of the catalogue that the log "named", `instead_of` the calculator's; or the calculator's ("chosen");
 * `config` describes the log's own to the calculator, "" where it does not. `agrees`: the log's name, its layers or
 * its bytes are that model's. `another` is a model of the catalogue that the log is rather of, `another_by` its
 * "name" or its "bytes", of which `another_params` tells. `unread` says why metadata in the log could not be read.
 * `named` is what the log calls its model, "" where it does not, `listed` what the catalogue calls that, "" for
 * none; `alike`: its cache is the one of `model`. `dtype` is the format of K, `dtype_v` that of V. `dtype_from`:
 * stated by the log; what the "engine" stores under the name `stated`; the calculator's, since the log states one
 * that is not known ("unknown", in the engine's words `stated`); found as the one with which the sum is what the
 * log prints ("fits"); or the calculator's. `fitting` are all with which it is. `weights` is what the log says of
 * their size, `beside` are its buffers beside weights and cache.
 */
export interface KvLogAnswer {
  engine: "llama.cpp" | "vLLM" | "SGLang" | "TensorRT-LLM" | "Ollama";
  model: string;
  model_from: "metadata" | "printed" | "named" | "chosen";
  config: string;
  instead_of: string;
  unread: string;
  named: string;
  listed: string;
  alike: boolean;
  dtype: string;
  dtype_v: string;
  dtype_from: "log" | "engine" | "unknown" | "fits" | "chosen";
  stated: string;
  fitting: string[];
  ranks: number;
  facts: LogFact[];
  cut: LogCut | null;
  agrees: boolean;
  another: string;
  another_by: "" | "name" | "bytes" | "layers";
  another_params: Record<string, unknown>;
  conflicts: LogConflict[];
  rows: LogRow[];
  differences: LogDifference[];
  weights: LogWeights | null;
  beside: LogFact[];
}

/** Tensors of one format: their products, whose labels are the tensors' names, and their sum. */
export interface DtypeMessage {
  dtype: string;
  bytes: string;
  tensors: number;
  products: Product[];
}

/** A reason why the files hold more than is counted, in `bytes`, signed; see model/kv_math/from_files.py. */
export interface WeightDifference {
  code: string;
  bytes: string;
  dtypes: string[];
}

/**
 * What the files hold beside what is `counted` from the parameters in the format `weights_in`, null and "" where
 * the config does not say enough for that.
 *
 * `output` says whether the files have an output matrix of their own, null where no tensor is named.
 */
export interface KvWeightsAnswer {
  bytes: string;
  tensors: number;
  counted: string | null;
  weights_in: string;
  output: boolean | null;
  dtypes: DtypeMessage[];
  differences: WeightDifference[];
}

/** What a norm reads, `before` (T, d), or (1, d) of one token; its `gamma` and `beta` (d,), float32. */
export interface NormVectorsDetail {
  before: Packed;
  gamma: Packed;
  beta: Packed | null;
}

/**
 * The K channels of the residual stream with the largest magnitudes: `values` (L + 1, T, K), and `median` (L + 1,
 * T) of the magnitudes of all d channels, float32.
 */
export interface NormDepthDetail {
  channels: number[];
  values: Packed;
  median: Packed;
}

/**
 * For several norms on one run: what a norm reads at some of its T tokens, `before` (n, d) from token `first` on.
 *
 * `mean` and `variance` (d,) are each channel's over all T tokens, as BatchNorm takes them. `branch` (n, d) is what
 * the sub-layer adds that reads this norm, null after the last layer; `alpha` is DeepNorm's for the network's
 * depth. All float32.
 */
export interface NormKindsDetail {
  first: number;
  before: Packed;
  mean: Packed;
  variance: Packed;
  branch: Packed | null;
  alpha: number;
}

/** Microseconds of one call: the median, and what a quarter of the rounds were below and above. */
export interface Timed {
  median: number;
  low: number;
  high: number;
}

/**
 * How long LayerNorm and RMSNorm took on a norm's input (T, d), as torch offers them (`fused`) and `written` out.
 *
 * `rounds` of each; `bytes_layer` and `bytes_rms` are read and written at the least.
 */
export interface NormTimesDetail {
  layer_fused: Timed;
  rms_fused: Timed;
  layer_written: Timed;
  rms_written: Timed;
  rounds: number;
  threads: number;
  bytes_layer: number;
  bytes_rms: number;
}

/**
 * What was added to a run's stream, at n of its tokens from token `first` on (model/replaced/norm_placement.py).
 *
 * `layers` and `parts` (S) name each branch; a part is "attn", "cross", "ffn" or "both". `lengths` (n, S + 1),
 * `mean` (n,) and `products` (n, P) are float32. `decoder_layers` is there for an encoder, whose α depends on it.
 */
export interface NormPlacementDetail {
  first: number;
  layers: number[];
  parts: string[];
  lengths: Packed;
  mean: Packed;
  products: Packed;
  decoder_layers: number | null;
}

/** A run as a link describes it, and its message. `generated` are the ids of the tokens after its prompt. */
export interface RunOfFile {
  prompt: string;
  model: string;
  generated: number[];
  changes: Changes;
  message: RunMessage;
}

/**
 * The code of a run's `layers`, alike in all of them: by number, among the file's excerpts.
 *
 * `tensors`: which excerpt makes each, and in which line of its file. `panels`: what a panel shows besides.
 */
export interface CodeOfLayers {
  run: string;
  layers: number[];
  tensors: Record<string, [number, number]>;
  panels: Record<string, number[]>;
}

/** What "Show the code" shows; each of the `excerpts` once, without what it makes. */
export interface FileCode {
  excerpts: CodeExcerpt[];
  layers: CodeOfLayers[];
}

/**
 * The runs of a file, the one that it opens with first, and every layer of theirs.
 *
 * `neurons` are of every token of a layer, for as many layers as there is room for. `details` are answers to
 * app/chapters' DETAILS and `calculations` to CALCULATORS, by what was asked (keyOf in
 * visuals/static/one-file/server.js); `code` is the code of every panel. `hash` is the address of the view to open;
 * `lesson` what is presented, as visuals/static/lessons/lesson.js reads it, or null.
 */
export interface FileContents {
  hash: string;
  offers: Offer[];
  runs: RunOfFile[];
  layers: LayerMessage[];
  neurons: NeuronsMessage[];
  details: Record<string, unknown>;
  calculations: Record<string, unknown>;
  code: FileCode;
  lesson: unknown;
}

/** Runs as the text of one HTML file. */
export interface FileMessage {
  kind: "file";
  html: string;
}

/** Each token's final choice: `ids` (T,) int32, `logit` and `probability` (T,) float32; `pieces` are their texts. */
export interface FinalChoice {
  ids: Packed;
  pieces: string[];
  logit: Packed;
  probability: Packed;
}

/**
 * Euclidean norms along the residual stream, float32: `resid` (L + 1, T), those inside the layers (L, T) each,
 * `final_normed` (T,). The cosines (L, T) are between what a part writes and the stream that it reads.
 *
 * A site that the network does not have is left out. `best` is null where nothing is chosen, in an encoder.
 */
export interface StreamDetail {
  resid: Packed;
  attn_normed: Packed;
  attn_out: Packed;
  resid_mid?: Packed;
  ffn_normed?: Packed;
  ffn_out: Packed;
  final_normed: Packed;
  attn_cosine: Packed;
  ffn_cosine: Packed;
  resid_cross?: Packed;
  cross_normed?: Packed;
  cross_out?: Packed;
  cross_cosine?: Packed;
  best: FinalChoice | null;
}

/**
 * One token's vector (d,) float32 at every site that a layer has, and what each of its norms has learned: γ (gain)
 * and β (bias, null where there is none), (d,) float32.
 */
export interface StageDetail {
  resid_in?: Packed;
  attn_normed?: Packed;
  attn_out?: Packed;
  resid_cross?: Packed;
  cross_normed?: Packed;
  cross_out?: Packed;
  resid_mid?: Packed;
  ffn_normed?: Packed;
  ffn_out?: Packed;
  resid_out?: Packed;
  attn_gain?: Packed;
  attn_bias?: Packed | null;
  cross_gain?: Packed;
  cross_bias?: Packed | null;
  ffn_gain?: Packed;
  ffn_bias?: Packed | null;
}

/** Logits float32 with the ids int32 of their tokens: of a large vocabulary the highest of each stretch of ids. */
export interface PeakLogits {
  ids: Packed;
  values: Packed;
}

/**
 * One token's vector (d,) float32 before the first layer, after the last and after the final norm, with that norm's
 * γ and β; and its logits.
 *
 * `logits_norm` is the Euclidean norm of all logits, `log_z` their logsumexp; all three are missing, `logits` as
 * null, in an encoder.
 */
export interface EndsDetail {
  embedding: Packed;
  final: Packed;
  final_normed: Packed;
  final_gain: Packed;
  final_bias: Packed | null;
  logits: PeakLogits | null;
  logits_norm?: number;
  log_z?: number;
}

/** A chart as plotly's JSON. Colours are custom properties, and what begins with "text:" is a key of the texts. */
export interface PlotlyFigure {
  data: Record<string, unknown>[];
  layout: Record<string, unknown>;
}

/** How plotly strokes a line. */
export interface LineStyle {
  color: string;
  width: number;
  dash: "solid" | "dash" | "dot";
}

/** A skill's line in a chart of plotly's: the share `y` of right answers after `x` million tokens. */
export interface SkillLine {
  type: "scatter";
  mode: "lines";
  name: string;
  x: number[];
  y: number[];
  line: LineStyle;
  hovertemplate: string;
  showlegend: boolean;
}

/** A chart as PlotlyFigure says, of a line each skill. */
export interface SkillsFigure {
  data: SkillLine[];
  layout: Record<string, unknown>;
}

/** A stage of the training, the `number`th from 1, which begins after `tokens` tokens. */
export interface TrainingStage {
  number: number;
  name: string;
  tokens: number;
}

/** `right` of `cases` of a skill in a language, and the share that is aimed at (`bar`). */
export interface MeasuredSkill {
  name: string;
  language: string;
  right: number;
  cases: number;
  bar: number;
}

/** What was logged while a checkpoint was trained, against tokens. Null where there is no such log. */
export interface TrainingCharts {
  loss: PlotlyFigure | null;
  answers: SkillsFigure | null;
}

/**
 * How a checkpoint was trained. Its charts are over millions of tokens, and once more over ten thousands of them,
 * which Chinese counts in.
 *
 * A line of `log` is [stage, tokens, loss, held-out loss], both in nats a token.
 */
export interface TrainingDetail {
  loss: PlotlyFigure | null;
  answers: SkillsFigure | null;
  in_ten_thousands: TrainingCharts;
  stages: TrainingStage[];
  log: [string, number, number, number][];
  measured: MeasuredSkill[];
}

/**
 * The panels that a chapter shows, those of them that lie folded until they are opened, and the address of its
 * styles where it has any.
 */
export interface ChapterConfig {
  panels: string[];
  onDemand: string[];
  style: string | null;
}

/**
 * What the page's script is told first.
 *
 * Addresses of texts, of those of panels that open on demand, and of lessons, by language; the chapters; in which
 * chapter's folder each panel's module is; which panels name code of their own (visuals/source_code.py); which
 * modules the workbench begins with; which text each of gradio's labels shows; and the prompt to begin with by
 * language, or `firstOf` a model that has one of its own. `files` is there in an HTML file that holds the page
 * (app/one_file): the address of each of its parts, by where it else is beside the page's script.
 */
export interface PageConfig {
  texts: Record<string, string>;
  textsOnDemand: Record<string, string>;
  chapters: Record<string, ChapterConfig>;
  homes: Record<string, string>;
  coded: string[];
  benchModules: string[];
  plotly: string;
  labels: Record<string, Record<string, string>>;
  lessons: Record<string, string[]>;
  firstPrompts: Record<string, string>;
  firstOf: Record<string, string>;
  files?: Record<string, string>;
}

/**
 * A model on offer: how many parameters it has, and where it comes from, null for an operator's own.
 *
 * `examples`: which of the page's are its own, those of the small world or those of English at large; null:
 * neither.
 */
export interface Offer {
  name: string;
  parameters: number;
  kind: "bundled" | "real" | "small" | null;
  family: string;
  examples: "world" | "english" | null;
}

/**
 * The real LLaMA: whether its weights are there, the `command` that fetches them, and whether a page may.
 *
 * While it is fetched, `bytes` of `total` have come; `failed` says why the last download did not end well.
 */
export interface RealModelState {
  name: string;
  state: "there" | "fetching" | "absent";
  command: string;
  mayFetch: boolean;
  bytes: number;
  total: number;
  failed: "network" | "hash" | "disk" | "cancelled" | "other" | null;
}

/** The real LLaMA, null where the page is not to offer it, and all models on offer now. */
export interface RealModelAnswer {
  real: RealModelState | null;
  offers: Offer[];
}

/**
 * How far the weights of a network are that are read at its first use: `done` of `total` numbers, each counted once
 * for each step that it goes through.
 */
export interface LoadingState {
  done: number;
  total: number;
}

/** How far a network's weights are; null where they are there, or where nobody can tell. */
export interface LoadingAnswer {
  loading: LoadingState | null;
}

/** A captured tensor: its dimensions by name and size, and the line of the repository that makes it. */
export interface TensorPlace {
  dims: string[];
  shape: number[];
  file: string;
  line: number;
}

/** A QR code of `version`: `size` modules along a side, quiet zone included; the dark ones as an SVG path. */
export interface QrAnswer {
  size: number;
  path: string;
  version: number;
}

/**
 * A model's frequencies under one method: `inv_freq` (pairs,) float32, radians per token, and what cos and sin are
 * multiplied by.
 */
export interface ScaledFrequencies {
  name: string;
  inv_freq: Packed;
  attention_scaling: number;
}

/** The methods in order, the model's own first; `original` is the context that they stretch, in tokens. */
export interface RopeScalingsDetail {
  original: number;
  methods: ScaledFrequencies[];
}

/**
 * Where a head's q and k are normalised (Qwen 3): both before that norm (T, head_dim), its factors (head_dim,), all
 * float32, and its ε.
 */
export interface HeadNormMessage {
  q: Packed;
  k: Packed;
  q_gamma: Packed;
  k_gamma: Packed;
  eps: number;
}

/**
 * What sinusoidal positions add to a head's `q` and `k`, (T, head_dim) float32, before the `norm` where there is
 * one.
 */
export interface AddedMessage {
  q: Packed;
  k: Packed;
  norm: HeadNormMessage | null;
}

/**
 * What the decoder of `model`, a T5, has learned to add to scores: `bias` (n_heads, T) float32 by the distance from
 * query to key, and the `bucket` (T,) uint16 that each distance falls in.
 */
export interface LearnedBiasMessage {
  model: string;
  bias: Packed;
  bucket: Packed;
}

/**
 * What positions of other kinds would do in a head of this run. `added` is null under MLA, where keys are rebuilt
 * from a latent; `learned` where the network has learned biases itself, and where no T5 is on offer.
 */
export interface PositionKindsDetail {
  added: AddedMessage | null;
  learned: LearnedBiasMessage | null;
}

/**
 * Something that the reader is told, a refusal for one: in the reader's language, by the text "message.<code>".
 *
 * `params` fill the text's placeholders. `sent` numbers what goes over the bus.
 */
export interface Notice {
  kind: "message";
  level: "error" | "info";
  code: string;
  params: Record<string, unknown>;
  sent?: number;
}

/**
 * How RoPE turns a query or key: from channel `first` on, in pairs (i, i + pairs) or `interleaved` (2i, 2i + 1).
 *
 * `inv_freq` (pairs,) float32, radians per token; cos and sin are multiplied by `attention_scaling`.
 */
export interface RotaryMessage {
  inv_freq: Packed;
  attention_scaling: number;
  first: number;
  interleaved: boolean;
}

/**
 * Which of a head's learned numbers its scores get, by distance, (T,) uint16 each: for keys `before` the query, and
 * for those `after` it where it sees them.
 */
export interface BucketsMessage {
  before: Packed;
  after: Packed | null;
}

/** Widths under MLA: the latent's, of a head's key the rebuilt part and the shared rotated one, its values'. */
export interface LatentWidths {
  rank: number;
  nope: number;
  rope: number;
  value: number;
}

/**
 * A layer's feed-forward. A neuron is `activation`(gate)·up, or `activation`(up) where it is not `gated`.
 *
 * `neurons` counts all of them, `width` those of one expert. With `experts`, a token goes to `top_k` of them, and
 * the last `shared` neurons read every token. The fields from `scoring` on say how the router chooses
 * (model.moe.Routing).
 */
export interface Ffn {
  activation: string;
  gated: boolean;
  neurons: number;
  width: number;
  experts: number;
  top_k: number;
  shared: number;
  scoring: string | null;
  normalised: boolean;
  scaling: number;
  groups: number;
  kept_groups: number;
  group_best: number;
  balanced: boolean;
}

/**
 * What a network is made of as it reads a run's tokens, null where it has no such part (model/layer_metadata.py).
 *
 * `stack` says which of two stacks it is. A query sees the last `window` keys up to itself. `sinusoidal`: positions
 * are added to the embedding. `norms` gives each norm of a layer with the tap that it reads. `bias` (n_heads, T)
 * float32 is added to a score by the distance from query to key, `bias_after` for keys after the query; with
 * `no_position` it is 0 at any distance. `scale` multiplies q·k, and `cross_scale` that of a decoder's look at its
 * source. `ffn` is by layer.
 */
export interface PartsMessage {
  stack: "encoder" | "decoder" | null;
  causal: boolean;
  prefix: number | null;
  window: number | null;
  sinusoidal: boolean;
  norm_kind: "layer" | "rms";
  norms: Record<string, string>;
  embed_norm: boolean;
  rotary: RotaryMessage | null;
  bias: Packed | null;
  bias_after: Packed | null;
  no_position: boolean;
  buckets: BucketsMessage | null;
  scale: number;
  cross_scale: number | null;
  latent: LatentWidths | null;
  ffn: Ffn[];
}

/** How RoPE is stretched beyond the context of pre-training: model.config.RopeScaling, which says what each is. */
export interface RopeScalingMessage {
  kind: "linear" | "dynamic" | "yarn" | "llama3";
  factor: number;
  original_max_context: number;
  low_freq_factor: number | null;
  high_freq_factor: number | null;
  attention_factor: number | null;
  beta_fast: number;
  beta_slow: number;
  mscale: number | null;
  mscale_all_dim: number | null;
  truncate: boolean;
}

/** What weights of 8 bits change in the answers: model.weight_error.WeightError, which says what each is. */
export interface Int8Message {
  tokens: number;
  logit_rms: number;
  logit_max: number;
  kl: number;
  same: number;
}

/**
 * The model as it runs: its shape, the `device` and `dtype` in use as text ("CPU", "float32"), and its parts.
 *
 * `max_context` is in tokens. `rope_theta` is null where nothing is rotated, `int8` where no weights have 8 bits.
 */
export interface ModelMessage {
  name: string;
  n_layers: number;
  d_model: number;
  n_heads: number;
  n_kv_heads: number;
  head_dim: number;
  ffn_hidden: number;
  vocab_size: number;
  norm_eps: number;
  max_context: number;
  rope_theta: number | null;
  eos_ids: number[];
  n_parameters: number;
  device: string;
  dtype: string;
  int8: Int8Message | null;
  rope_scaling: RopeScalingMessage | null;
  parts: PartsMessage;
}

/** A run's T tokens: their ids, and the text of each by itself. */
export interface TokensMessage {
  ids: number[];
  pieces: string[];
}

/**
 * A figure of every norm, float32: (L, T) of the norms inside the layers, (T,) of the final one; null where the
 * network has no such norm, or the norm no such figure.
 */
export interface NormFigures {
  attn: Packed | null;
  cross: Packed | null;
  ffn: Packed | null;
  final: Packed | null;
}

/**
 * The K candidates for the next token, most probable first.
 *
 * `logits` (K,) float32; exp(logit − `log_z`) is a candidate's probability, and `tail` that of all other tokens
 * together.
 */
export interface NextMessage {
  ids: number[];
  pieces: string[];
  logits: Packed;
  log_z: number;
  vocab_size: number;
  tail: number;
}

/**
 * How a token was drawn, with which seed, and after how many draws with it. temperature 0 takes the most probable,
 * top_k 0 and top_p 1 leave every token in.
 */
export interface DrawnWith {
  temperature: number;
  top_k: number;
  top_p: number;
  seed: number;
  draws: number;
}

/**
 * One written token, the one at `index` after the prompt.
 *
 * `probability` is the model's own, `drawn_probability` the one after temperature, top-k and top-p. `cache_bytes`
 * and `cache_tokens` are what the KV cache held when it was chosen. `stop` says why nothing follows. `next` is what
 * it was chosen from, where that is sent. `own`: it was chosen with the changes of the run that it is of.
 */
export interface StepMessage {
  index: number;
  id: number;
  piece: string;
  probability: number;
  drawn_probability: number;
  cache_bytes: number;
  cache_tokens: number;
  seconds: number;
  stop: "end_of_text" | "max_context" | "max_new_tokens" | null;
  sampling: DrawnWith;
  next: NextMessage | null;
  own: boolean;
}

/** The last tokens written after the run `run`, the newest last. */
export interface StepsMessage {
  kind: "step";
  run: string;
  steps: StepMessage[];
  sent?: number;
}

/**
 * What neurons read, before activation, and what their output is multiplied by, float32 of one shape.
 *
 * `gate` is null where the feed-forward has none, `weight` where it has no experts. NaN where the token does not go
 * to the neuron's expert.
 */
export interface NeuronArrays {
  gate: Packed | null;
  up: Packed;
  weight: Packed | null;
}

/** The K neurons of each token with the largest activations, strongest first: (T, K) each, `neuron` integers. */
export interface TopNeuronsMessage {
  gate: Packed | null;
  up: Packed;
  weight: Packed | null;
  neuron: Packed;
}

/** Every neuron of a layer: (N,) at one token, (T, N) where `token` is null. */
export interface NeuronsMessage {
  gate: Packed | null;
  up: Packed;
  weight: Packed | null;
  kind: "neurons";
  run: string;
  layer: number;
  token: number | null;
}

/**
 * A decoder's second attention: queries `q` (n_heads, T, head_dim), the source's keys `k` (n_heads, S, head_dim),
 * float32.
 */
export interface CrossMessage {
  q: Packed;
  k: Packed;
}

/**
 * One layer of a run: `q` (n_heads, T, head_dim) and `k` (n_kv_heads, T, head_dim), float32, before RoPE.
 *
 * Where keys are rebuilt from a latent, `k` is null and `k_rot` has them, (n_heads, T, head_dim), after RoPE. `top`
 * is of every token, `neurons` of one.
 */
export interface LayerMessage {
  kind: "layer";
  run: string;
  layer: number;
  q: Packed;
  k: Packed | null;
  k_rot: Packed | null;
  cross: CrossMessage | null;
  top: TopNeuronsMessage;
  neurons: NeuronsMessage;
}

/** Several layers of a run, in the order in which they were asked for. */
export interface LayersMessage {
  kind: "layers";
  run: string;
  layers: LayerMessage[];
}

/**
 * What a page asked to be changed in a run: what is switched off, as [layer, head] or [layer, neuron] or by layer.
 *
 * `prefix`: how many tokens at the start all see each other. `patches`: [layer, token] where the stream is that of
 * the run `source`. What begins with "encoder_" is in the encoder. `parts` stand in place of the network's own,
 * each as "field:value" of model.replaced.parts.Parts.
 */
export interface Changes {
  heads?: number[][];
  cross?: number[][];
  neurons?: number[][];
  attention?: number[];
  ffn?: number[];
  prefix?: number[];
  parts?: string[];
  patches?: number[][];
  source?: string;
  encoder_heads?: number[][];
  encoder_neurons?: number[][];
  encoder_attention?: number[];
  encoder_ffn?: number[];
}

/** What ran, its tokens, and what its norms divide by (`rms`) and subtract (`mean`). */
export interface TraceMessage {
  model: ModelMessage;
  tokens: TokensMessage;
  rms: NormFigures;
  mean: NormFigures;
}

/** What an encoder made of a run's prompt: a run without a choice, since nothing is written after it. */
export interface SourceMessage {
  model: ModelMessage;
  tokens: TokensMessage;
  rms: NormFigures;
  mean: NormFigures;
  id: string;
  changes: Changes;
}

/**
 * Where to look first: the head that the answer misses most, at the token that it looks at most. No `key` of a head
 * that looks at a source text; no `query` either where nothing was measured.
 */
export interface Start {
  layer: number;
  head: number;
  query?: number;
  key?: number;
}

/**
 * A whole run: what is small for all layers, and one layer. The first `n_prompt` tokens are the prompt's.
 *
 * `encoder` is what an encoder read, null without one: then the tokens are the decoder's. `next` is the choice
 * after the last token, `steps` the tokens from n_prompt on as far as it is known how they were chosen. `seconds`
 * is how long the forward pass and its recording took; of a run that grew, the pass that it grew from. `sinks` are
 * the positions of tokens whose stream spikes, where heads park (model/analysis/sinks.py). `generating`: more is
 * being written. `start` is where to look first, where the page left that open. `note` is what is to be said of a
 * run that is not all that was asked for.
 */
export interface RunMessage {
  model: ModelMessage;
  tokens: TokensMessage;
  rms: NormFigures;
  mean: NormFigures;
  kind: "run";
  id: string;
  prompt: string;
  n_prompt: number;
  encoder: SourceMessage | null;
  next: NextMessage;
  layer: LayerMessage;
  steps: StepMessage[];
  seconds: number;
  sinks: number[];
  changes: Changes;
  generating?: boolean;
  start?: Start;
  note?: Notice;
  sent?: number;
}

/** Arithmetic with words in it: a code of the page's texts, and its particulars. */
export interface HowMessage {
  code: string;
  params: Record<string, string>;
}

/**
 * A number of a product: a code for what it counts, with particulars, and how it came about, "" where that takes no
 * arithmetic.
 */
export interface FactorMessage {
  value: number;
  code: string;
  params: Record<string, string | number>;
  how: string | HowMessage;
}

/** One product of a sum, and its value in bytes. */
export interface Product {
  label: string;
  factors: FactorMessage[];
  bytes: string;
}

/** One product of a cache's sum, over so many layers. */
export interface TermMessage {
  label: string;
  factors: FactorMessage[];
  bytes: string;
  layers: number;
}

/** Parameters as the vendor states them; `exact` where every digit is given. */
export interface PublishedCount {
  total: number;
  exact: boolean;
  active: number | null;
}

/**
 * How a token was made: its single symbols, the merges in order, and what is left, all by token id.
 *
 * A merge is [at, rank, left, right, into]: the symbols at places `at` and `at + 1` became one.
 */
export interface ReplayMessage {
  base: number[];
  merges: number[][];
  tokens: number[];
}

/** A character whose bytes lie in several tokens: those at positions `first` to `last`. */
export interface SplitCharacter {
  character: string;
  first: number;
  last: number;
}

/**
 * How a run's tokens were made. `made`, `bytes` and `pieces` go by token id.
 *
 * `kind` is tokenizer.json's name for its model and `merges` counts its merges: 0 where it has none, and then
 * `made` is empty. `whole_words`: a word of the vocabulary is looked up before any merge. `bytes` is a token's
 * UTF-8, null for a special token.
 */
export interface MergesDetail {
  kind: string;
  merges: number;
  whole_words: boolean;
  made: Record<string, ReplayMessage>;
  bytes: Record<string, number[] | null>;
  pieces: Record<string, string>;
  split: SplitCharacter[];
}

/** What comes over the bus. */
export type BusMessage = RunMessage | StepsMessage | Notice;
