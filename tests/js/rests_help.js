// What an answer rests on, as the page has it: four tokens, the first a sink.

export const found = {
  ...{
    target: 7,
    piece: " Paris",
    position: 3,
    probability: 0.5,
    form: "recalled",
    fetched: 2,
    from_answer: 0,
    from_hidden: 0,
  },
  ...{ tokens: [2], sinks: [0], parked: [5], places: [] },
  lost: { shape: [4], data: Float32Array.of(9, -1, 2, 8) },
};
