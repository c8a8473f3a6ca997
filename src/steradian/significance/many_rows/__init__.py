"""Tests of very many rows by passes over blocks of them."""
