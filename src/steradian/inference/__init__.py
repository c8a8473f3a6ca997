"""What a sample tells about the law it came from: tests, intervals, bootstraps, the order."""
