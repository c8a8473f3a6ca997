"""Laws integrated or held relative to another that is known exactly."""
