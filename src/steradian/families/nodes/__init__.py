"""Any features of any space, integrated on the nodes of its rules."""
