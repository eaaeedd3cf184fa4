"""One subject of the comparison in a process of its own: ``python -m ci.scripts.gpu.worker JSON``.

The argument says which engine, network, batch and precision. It prepares, prints ``ready`` and then
answers each line on its input by a line with seconds: the median of a few calls from arrays of the
host to arrays of the host.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from ci.scripts.gpu.networks import HEADS, HIDDEN, INNER, LAYERS, TOKENS, WORDS, inputs

__all__ = ["main"]

Call = Callable[[], Any]


def main(argument: str) -> None:
    """Prepare, then measure when asked."""
    subject: dict[str, Any] = json.loads(argument)
    begin = time.perf_counter()
    call, facts = (_drystone if subject["engine"] == "drystone" else _torch)(subject)
    for _ in range(3):
        answer = np.asarray(call())
    facts |= {"prepared": time.perf_counter() - begin, "finite": bool(np.isfinite(answer).all()),
              "shape": list(answer.shape)}  # fmt: skip
    print(json.dumps({"ready": facts}), flush=True)
    for _ in sys.stdin:
        print(json.dumps({"seconds": _median(call)}), flush=True)


def _median(call: Call, least: int = 7, seconds: float = 0.25) -> float:
    found: list[float] = []
    until = time.perf_counter() + seconds
    while len(found) < least or time.perf_counter() < until:
        begin = time.perf_counter()
        call()
        found.append(time.perf_counter() - begin)
    return float(np.median(found))


def _drystone(subject: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
    import drystone_base as ds
    from ci.scripts.gpu.networks import NETWORKS, Network
    from drystone_subgraph import executables

    network, batch = Network(subject["precision"]), subject["batch"]
    end = NETWORKS[subject["network"]](network, batch)
    end = network.cast(end, subject["precision"], "float32")
    end = network.op("Identity", end, T=ds.as_dtype("float32"))
    feeds = inputs(subject["network"], batch)
    config = ds.SessionConfig(subgraphs="gpu", device_count={"GPU": 0})
    session = ds.Session(network.graph, config)
    prepared = session.make_callable([f"{end[0].name}:0"], [f"{name}:0" for name in feeds])
    arrays = list(feeds.values())
    prepared(*arrays)
    states = executables(session)
    return lambda: prepared(*arrays)[0], {
        "regions": len(states), "ready": sum(s.state == "ready" for s in states),
        "compile": sum(s.seconds for s in states),
        "reasons": [s.reason for s in states if s.reason],
    }  # fmt: skip


def _torch(subject: dict[str, Any]) -> tuple[Call, dict[str, Any]]:
    import torch

    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cudnn.benchmark = True
    dtype = getattr(torch, subject["precision"])
    pictures = subject["network"] != "bert-base"
    module = (_pictures if pictures else _bert)(subject["network"]).eval().cuda().to(dtype)
    if pictures:
        module = module.to(memory_format=torch.channels_last)
    if subject["engine"] == "torch-compiled":
        module = torch.compile(module, mode="reduce-overhead", dynamic=False)
    feeds = inputs(subject["network"], subject["batch"])
    torch.set_num_threads(len(os.sched_getaffinity(0)))  # to copy with, as our pool does
    staged = [torch.from_numpy(array).pin_memory() for array in feeds.values()]
    arrays = list(feeds.values())

    def call() -> Any:
        """From arrays in ordinary memory, through pinned memory, as the backend does."""
        for to, array in zip(staged, arrays, strict=True):
            to.copy_(torch.from_numpy(array))
        given = [s.to("cuda", non_blocking=True) for s in staged]
        if pictures:
            x = given[0].permute(0, 3, 1, 2)  # NHWC in memory, as channels_last has it
            return module(x.to(dtype)).float().cpu().numpy()
        found = module(input_ids=given[0], attention_mask=given[1])
        return found.last_hidden_state.float().cpu().numpy()

    def inference() -> Any:
        with torch.inference_mode():
            return call()

    return inference, {"torch": torch.__version__}


def _pictures(name: str) -> Any:
    import torchvision

    return {"resnet50": torchvision.models.resnet50,
            "mobilenetv2": torchvision.models.mobilenet_v2}[name](weights=None)  # fmt: skip


def _bert(name: str) -> Any:
    import transformers

    del name
    config = transformers.BertConfig(
        vocab_size=WORDS, hidden_size=HIDDEN, num_hidden_layers=LAYERS, num_attention_heads=HEADS,
        intermediate_size=INNER, max_position_embeddings=TOKENS,
    )  # fmt: skip
    return transformers.BertModel(config, add_pooling_layer=False)


if __name__ == "__main__":
    main(sys.argv[1])
