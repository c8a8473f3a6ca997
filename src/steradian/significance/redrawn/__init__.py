"""Where a statistic stands among those of samples drawn again."""
