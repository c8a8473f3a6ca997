"""Functions of the height along an axis, in any dimension."""
