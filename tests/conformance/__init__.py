"""Objects that keep and break their contracts."""
