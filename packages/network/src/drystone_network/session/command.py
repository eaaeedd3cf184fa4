"""``drystone worker``: a task of a cluster, until it is stopped."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from typing import Any

import click

from drystone_base.cli.kit import AnyPath, common_options, note, print_json, wants_json

__all__ = ["worker"]

EPILOG = """\b
Examples:
  drystone worker --job worker --task 0 --cluster cluster.json
  TF_CONFIG='{"cluster": ..., "task": ...}' drystone worker
  DRYSTONE_CLUSTER_TOKEN=SECRET drystone worker --job ps --cluster cluster.json --bind 0.0.0.0
"""


@click.command(epilog=EPILOG)
@click.option("--cluster", type=AnyPath(dir_okay=False), metavar="CLUSTER.JSON",
              help="The tasks of the cluster: {\"worker\": [\"host:port\", ...]}. Without it, "
              "TF_CONFIG says them.")  # fmt: skip
@click.option("--job", default="worker", show_default=True, help="The job of this task.")
@click.option("--task", default=0, show_default=True, type=click.IntRange(min=0),
              help="The number of this task in its job.")  # fmt: skip
@click.option("--bind", default="", metavar="ADDRESS",
              help="Listen at this address of the machine, so that others reach it: needs "
              "DRYSTONE_CLUSTER_TOKEN.")  # fmt: skip
@click.option(
    "--transport",
    default="tcp",
    show_default=True,
    help="What carries values between tasks: tcp, or on one machine unix or shm.",
)
@click.option("--devices", default=1, show_default=True, type=click.IntRange(1, 256),
              help="How many CPU devices this task has.")  # fmt: skip
@click.option("--read", "reads", multiple=True, metavar="PATH",
              help="Graphs may read files there.")  # fmt: skip
@click.option("--write", "writes", multiple=True, metavar="PATH",
              help="Graphs may read and write files there.")  # fmt: skip
@common_options
def worker(
    cluster: Path | None, job: str, task: int, reads: tuple[str, ...], writes: tuple[str, ...],
    **options: Any,
) -> None:  # fmt: skip
    """Run parts of graphs for sessions whose target is a task of the cluster.

    It ends at Ctrl-C or SIGTERM. Graphs reach no files but those of --read and --write, whatever
    the client's session may reach.
    """
    from drystone_base import Access
    from drystone_network.cluster.spec import ClusterSpec
    from drystone_network.session.server import Server

    if cluster is None:
        spec, own = ClusterSpec.from_tf_config()
        job, task = own.job, own.index
    else:
        spec = ClusterSpec.from_json(cluster)
    access = Access.nothing()
    for path in reads:
        access = access.with_read(path)
    for path in writes:
        access = access.with_read(path).with_write(path)
    stop = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: stop.set())
    with Server(spec, job, task, access=access, **options) as server:
        if wants_json():
            print_json({"task": str(server.task), "target": server.target})
        else:
            note(f"{server.task} listens at {server.target}")
        while not stop.wait(3600):
            pass
