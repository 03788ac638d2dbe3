"""Evaluation: models on a benchmark, and the report of a run."""
