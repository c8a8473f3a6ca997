"""A record of results: what the library answers to three hundred samples, and forty of its texts.

``make golden`` compares what is computed now with what is recorded, ``make golden-update`` records
anew and tells what changed by how much. Samples are made here, so that no sampler moves them.
"""
