"""Laws of a few coordinates of unit vectors, in any dimension."""
