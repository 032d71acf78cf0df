"""How the bundled model is made: its stages, the batches, the trainer, its log. Run as `python -m model.train`."""
