"""How far a profile can be trusted: what its fits leave over, and what they hang on."""
