"""Whether a fit exists: verdicts, certificates, margins, and their words."""
