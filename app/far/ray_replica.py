"""A host as a deployment of Ray Serve's: `serve run app.far.ray_replica:models replicas=2`. It needs Ray.

`@serve.batch` is nowhere. Those who generate share their steps inside a replica (app/scheduler.py), where texts join
and leave between any two. A batch of Serve's would hold all of them until its longest one is done.
"""

import asyncio

from pydantic import BaseModel, ConfigDict
from ray import serve  # pyright: ignore[reportMissingImports]
from ray.serve.config import AutoscalingConfig, RequestRouterConfig  # pyright: ignore[reportMissingImports]
from starlette.requests import Request
from starlette.responses import Response

from ..models import Wanted, load_here
from ..tuning import tune
from .host import Host
from .http_host import HttpHost
from .ray_router import StickyRouter
from .sealed import key_from_environment

AT_ONCE = 64  # calls of a replica; those that are more go to the next one
PROBE = [0]  # tokens of the run by which a replica's health is known


class Replica:
    """A host of Serve's: Serve hands it the pages' requests, asks for its health, and replaces it where it dies."""

    def __init__(self, models: tuple[str, ...], device: str, dtype: str, at_once: int):
        """Raises ValueError for what cannot be loaded, and where there is no key."""
        tune()
        key, name = key_from_environment(), serve.get_replica_context().replica_id.unique_id
        self._engine = load_here(Wanted(models, device, dtype))
        self._http = HttpHost(Host(self._engine, place=name), key, at_once)

    async def __call__(self, request: Request) -> Response:
        return await self._http.answer(request)

    async def check_health(self) -> None:
        """Raises what a run of the first model raises: so a device that has failed is found."""
        probe = (self._engine.trace, self._engine.names[0], PROBE)
        await asyncio.get_running_loop().run_in_executor(None, *probe)


class Given(BaseModel):
    """The arguments of `models`, as `serve run` or a file for `serve deploy` gives them."""

    model_config = ConfigDict(extra="forbid")

    model: list[str] | str = []
    """Directories, files or Hub ids, as app.py's --model; without any, the models that come along."""
    device: str = "auto"
    dtype: str = "auto"
    cpus: float = 1.0
    """Of each replica: a model works on one core at a time."""
    gpus: float = 0.0
    """Of each replica; 0.25 puts four on one GPU. Ray only counts: what each takes of the memory is theirs to share."""
    replicas: int = 1
    """As many at least."""
    most_replicas: int = 0
    """As many at most, where more calls are under way than `busy`; 0 for as many as `replicas`."""
    busy: float = 4.0
    """Calls under way at a replica, on average, above which there is to be another."""
    at_once: int = AT_ONCE


def models(given: Given) -> serve.Application:
    """The application: as many replicas of the models as are wanted, sticky by run and by visitor."""
    named = [given.model] if isinstance(given.model, str) else given.model
    scaling = AutoscalingConfig(
        min_replicas=given.replicas,
        max_replicas=max(given.replicas, given.most_replicas),
        target_ongoing_requests=given.busy,
        upscale_delay_s=10,
        downscale_delay_s=300,  # a replica that goes takes runs along, which are run again
    )
    deployment = serve.deployment(
        name="models",
        autoscaling_config=scaling,
        max_ongoing_requests=given.at_once,
        request_router_config=RequestRouterConfig(request_router_class=StickyRouter),
        ray_actor_options={"num_cpus": given.cpus, "num_gpus": given.gpus},
        health_check_period_s=10,
        health_check_timeout_s=60,
        graceful_shutdown_timeout_s=20,
        logging_config={"log_level": "WARNING"},  # a line for each call is at INFO
    )
    return deployment(Replica).bind(tuple(named), given.device, given.dtype, given.at_once)
