"""What a SavedModel's object graph says beside its signatures: objects, variables, functions."""

from drystone_base.restored.function import RestoredFunction
from drystone_base.restored.objects import ModelObject, ObjectGraph

__all__ = ["ModelObject", "ObjectGraph", "RestoredFunction"]
