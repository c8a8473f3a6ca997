"""Newton, the fits of all levels, and the laws people hold."""
