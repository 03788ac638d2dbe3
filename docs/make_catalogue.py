"""Writes docs/catalogue.md: `python docs/make_catalogue.py`. A test keeps the page current."""

from pathlib import Path

from familytool.catalogue import tables


def catalogue_page() -> str:
    """The page: each domain with its clusters, what a cluster confuses, and its tools."""
    described = {d["function"]["name"]: d["function"]["description"] for _, documents in tables.builtin_documents() for d in documents}
    domains: dict[str, list[dict]] = {}
    for cluster in tables.clusters():
        domains.setdefault(cluster["domain"], []).append(cluster)
    lines = [
        "# The embedded catalogue",
        "",
        f"{len(described)} tools in {len(domains)} domains, {len(tables.clusters())} clusters of tools that are easy to confuse.",
        "",
    ]
    for domain, clusters in domains.items():
        lines += [f"## {domain}", "", "| cluster | what it confuses | tools |", "|---|---|---|"]
        lines += [f"| {c['name']} | {c['confuses']} | {', '.join(f'`{name}`' for name in c['tools'])} |" for c in clusters]
        lines.append("")
    return "\n".join(lines)


if __name__ == "__main__":
    Path(__file__).with_name("catalogue.md").write_text(catalogue_page(), encoding="utf-8")
