"""Models that run in another process: the page's side of it, the models' side, and how they are joined.

`engine.py` is what the page asks, `host.py` what answers beside the models; `process.py` joins the two on one machine.
"""
