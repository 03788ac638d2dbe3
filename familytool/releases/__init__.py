"""Releases: a folder of Parquet files by hop, the graph, the tools and a card, which loads with three lines anywhere."""
