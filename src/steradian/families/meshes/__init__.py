"""Sharp laws on pieces of the space that follow them, seen from close by."""
