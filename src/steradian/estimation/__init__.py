"""How large a gap is: intervals, bias, bootstraps and the choice of order."""
