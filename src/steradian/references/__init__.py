"""What information is relative to: densities, masks, maps and samples in place of uniform."""
