"""How far a profile can be trusted."""
