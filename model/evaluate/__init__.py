"""The parts of `python -m model.evaluate`: held-out cases, how each is judged, batched writing, and the heads."""
