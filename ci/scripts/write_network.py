"""Write a well-known network with random weights as a SavedModel.

Run from the repository root: `python -m ci.scripts.write_network mobilenetv2 FOLDER`.
"""

from __future__ import annotations

import argparse

import drystone_base as ds
from ci.scripts.gpu.networks import NETWORKS, Network

__all__ = ["main"]


def main(argv: list[str] | None = None) -> int:
    """Write the network that the arguments name, for batches of any size."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("network", choices=sorted(NETWORKS))
    parser.add_argument("folder")
    parser.add_argument("--side", type=int, default=224, help="of pictures")
    arguments = parser.parse_args(argv)
    network = Network("float32", arguments.side)
    node, index = NETWORKS[arguments.network](network, -1)
    fed = [one.name for one in network.graph if one.op == "Placeholder"]
    inputs = {name: f"{name}:0" for name in fed}
    signatures = {"serving_default": (inputs, {"scores": f"{node.name}:{index}"})}
    ds.save(network.graph, arguments.folder, signatures=signatures)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
