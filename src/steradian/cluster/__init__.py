"""The same sums on many machines: parts are measured where they are, and pooled in a tree."""

from steradian.cluster.parts import collection_parts, file_parts, is_collection
from steradian.cluster.reduction import summed_on_cluster, working_on

__all__ = ["collection_parts", "file_parts", "is_collection", "summed_on_cluster", "working_on"]
