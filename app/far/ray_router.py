"""By which Ray Serve sends a call to a replica: to the one that has the run; where that is full, to the next.

Serve's proxies import it. It needs Ray (requirements-ray.txt).
"""

from ray.serve.request_router import PendingRequest, RequestRouter, RunningReplica  # pyright: ignore[reportMissingImports]

from .placement import by_preference


class StickyRouter(RequestRouter):
    """Orders replicas by what Serve calls a request's multiplexed model id, which is a place here."""

    # A replica on a busy machine says late how much waits there. To ask another means to run its runs once more.
    queue_len_response_deadline_s = 1.0
    max_queue_len_response_deadline_s = 5.0

    async def choose_replicas(
        self, candidate_replicas: list[RunningReplica], pending_request: PendingRequest | None = None
    ) -> list[list[RunningReplica]]:
        """Each replica by itself, the best first."""
        place = pending_request.metadata.multiplexed_model_id if pending_request else ""
        replicas = {replica.replica_id.unique_id: replica for replica in candidate_replicas}
        return [[replicas[name]] for name in by_preference(place, replicas)]
