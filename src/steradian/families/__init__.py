"""How the law of one level is integrated, solved and sampled."""
