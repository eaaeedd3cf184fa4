"""drystone on Ray: models over datasets, training by groups of actors, Serve deployments."""

from __future__ import annotations

from typing import TYPE_CHECKING

try:
    from drystone_base.core.lazy_names import lazy_names
except ImportError as error:
    from drystone_ray._missing import named

    raise named(error) from None

if TYPE_CHECKING:
    from drystone_ray.actors import SessionActor as SessionActor
    from drystone_ray.actors import session_actor as session_actor
    from drystone_ray.prediction import RayPredictor as RayPredictor
    from drystone_ray.prediction import predict as predict
    from drystone_ray.serving import deployment as deployment
    from drystone_ray.training import Trained as Trained
    from drystone_ray.training import train as train
    from drystone_ray.worker import Worker as Worker

__version__ = "0.1.0"

_HOME = {
    "RayPredictor": ".prediction",
    "SessionActor": ".actors",
    "Trained": ".training",
    "Worker": ".worker",
    "deployment": ".serving",
    "predict": ".prediction",
    "session_actor": ".actors",
    "train": ".training",
}

__all__ = [
    "RayPredictor",
    "SessionActor",
    "Trained",
    "Worker",
    "__version__",
    "deployment",
    "predict",
    "session_actor",
    "train",
]

__getattr__, __dir__ = lazy_names(__name__, _HOME, __all__)
