"""Parts of self-contained HTML pages: text, tables, tiles, and charts and small graphs as inline SVG."""
