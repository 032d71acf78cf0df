"""What deploy/ray/ says, as Ray reads it, whether the files say the same, and what a replica is; without a cluster."""

import asyncio
import re
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
import yaml

from app.command import arguments
from app.far.ray_serve import url_of
from app.far.sealed import FEWEST, KEY
from model import LanguageModel
from tests.page import ROOT

pytestmark = pytest.mark.ray
schema = pytest.importorskip("ray.serve.schema", reason="Ray is not installed: make test-ray")

FOLDER = ROOT / "deploy" / "ray"
SERVE = yaml.safe_load((FOLDER / "serve.yaml").read_text(encoding="utf-8"))
COMPOSE = yaml.safe_load((FOLDER / "compose.yaml").read_text(encoding="utf-8"))
KINDS = {one["kind"]: one for one in yaml.safe_load_all((FOLDER / "rayservice.yaml").read_text(encoding="utf-8"))}
CLUSTER = KINDS["RayService"]["spec"]["rayClusterConfig"]
APPLICATION = SERVE["applications"][0]


@pytest.mark.parametrize("config", [SERVE, yaml.safe_load(KINDS["RayService"]["spec"]["serveConfigV2"])])
def test_serve_reads_what_it_is_to_deploy(config: dict[str, Any]) -> None:
    from ray._common.utils import import_attr
    from ray.serve._private.api import call_user_app_builder_with_args_if_necessary

    (read,) = schema.ServeDeploySchema.parse_obj(config).applications
    assert (read.import_path, read.route_prefix, read.args) == tuple(
        APPLICATION[name] for name in ("import_path", "route_prefix", "args")
    )
    built = call_user_app_builder_with_args_if_necessary(import_attr(read.import_path), read.args)
    options = built._bound_deployment
    scaling = options._deployment_config.autoscaling_config
    assert (scaling.min_replicas, scaling.max_replicas) == (read.args["replicas"], read.args["most_replicas"])
    assert options.ray_actor_options == {"num_cpus": read.args["cpus"], "num_gpus": read.args["gpus"]}
    with pytest.raises(ValueError, match="replica"):
        call_user_app_builder_with_args_if_necessary(import_attr(read.import_path), {"replica": 2})


def test_four_replicas_that_take_a_quarter_each_share_a_gpu() -> None:
    from ray.serve._private.api import call_user_app_builder_with_args_if_necessary

    from app.far.ray_replica import models

    built = call_user_app_builder_with_args_if_necessary(models, {"gpus": 0.25, "cpus": "0.5"})
    options = built._bound_deployment
    assert options.ray_actor_options == {"num_cpus": 0.5, "num_gpus": 0.25}
    assert options._replica_config.resource_dict == {"CPU": 0.5, "GPU": 0.25}  # by which Ray places each


def test_a_replica_whose_model_no_longer_runs_is_not_healthy(checkpoint: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from app.far import ray_replica

    name = SimpleNamespace(replica_id=SimpleNamespace(unique_id="one"))
    monkeypatch.setattr(ray_replica.serve, "get_replica_context", lambda: name)
    monkeypatch.setattr(ray_replica, "tune", lambda: None)  # of all of the process
    monkeypatch.setenv(KEY, "k" * FEWEST)
    replica = ray_replica.Replica((str(checkpoint),), "cpu", "float32", 4)
    asyncio.run(replica.check_health())
    (lm,) = replica._engine._models.values()
    assert isinstance(lm, LanguageModel)

    def fail(*_: object) -> None:
        raise RuntimeError("the device has failed")

    lm.net.register_forward_pre_hook(fail)
    with pytest.raises(RuntimeError, match="has failed"):
        asyncio.run(replica.check_health())


def reached(engine: str) -> tuple[str | None, int | None, str]:
    """The machine, the port and the application that an address of a page's means."""
    parts = urlsplit(url_of(engine))
    return parts.hostname, parts.port, parts.path


def test_the_pages_ask_where_the_models_are() -> None:
    port = SERVE["http_options"]["port"]
    page = COMPOSE["services"]["page"]
    assert reached(arguments(page["command"]).engine) == ("head", port, APPLICATION["route_prefix"])
    pod = KINDS["Deployment"]["spec"]["template"]["spec"]["containers"][0]
    service = f"{KINDS['RayService']['metadata']['name']}-serve-svc"  # as KubeRay names it
    assert reached(arguments(pod["args"]).engine) == (service, port, APPLICATION["route_prefix"])


def test_all_have_the_key_and_visitors_reach_the_page_alone() -> None:
    services = COMPOSE["services"]
    assert all(KEY in one["environment"] for one in services.values())
    assert [name for name, one in services.items() if "ports" in one] == ["page"]
    assert [name for name, one in services.items() if "outside" in one["networks"]] == ["page"]
    assert COMPOSE["networks"]["inside"] == {"internal": True}
    groups = [CLUSTER["headGroupSpec"], *CLUSTER["workerGroupSpecs"]]
    pods = [one["template"] for one in (*groups, KINDS["Deployment"]["spec"])]
    assert all(pod["spec"]["containers"][0]["env"][0]["name"] == KEY for pod in pods)
    policy = KINDS["NetworkPolicy"]["spec"]
    assert [pod["metadata"]["labels"] for pod in pods[:-1]] == [policy["podSelector"]["matchLabels"]] * len(groups)
    assert all(one["from"] for one in policy["ingress"])  # an empty list would let everybody in


def test_all_name_one_version_of_ray() -> None:
    pinned = re.search(r"ray\[serve\]==(\S+)", (ROOT / "requirements-ray.txt").read_text(encoding="utf-8"))
    assert pinned
    assert pinned[1] == CLUSTER["rayVersion"]
