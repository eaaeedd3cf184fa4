"""What a SavedModel's object graph says beside its signatures: objects, variables, functions."""

from drystone_base.api.restored.function import RestoredFunction
from drystone_base.api.restored.objects import ModelObject, ObjectGraph

__all__ = ["ModelObject", "ObjectGraph", "RestoredFunction"]
