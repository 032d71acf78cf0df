"""Models that run in another process: the page's side of it, the models' side, and how they are joined.

`engine.py` is what the page asks, `host.py` what answers beside the models; `process.py` joins the two on one machine.
On a cluster `ray_serve.py` is the page's end and `http_host.py` the models', which `ray_replica.py` makes a deployment
of; `placement.py` and `ray_router.py` say which replica is asked. Only modules that the cluster imports need Ray.
"""
