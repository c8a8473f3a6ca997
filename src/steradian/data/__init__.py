"""What people hand over: directions, the sums of their features, and stacks of those."""
