"""What the README and docs/speed.md show of benchmarks/results/latest.json: tables, and a picture. Nothing is typed in.

python -m benchmarks.shown
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from html import escape
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
PICTURE = "docs/pictures/speed.svg"
BEGIN, END = "<!-- from benchmarks/results/latest.json -->\n", "<!-- to here -->\n"

Row = Mapping[str, Any]

COLOURS = {"kernel, one thread": "#1f6f8b", "minicheck": "#c9b037", "python": "#8a8a8a"}
SPIN = "#b5523b"


def rate(row: Row) -> float:
    """States a second of CPU time: other programs on the machine change that least."""
    return float(row["states"]) / float(row["cpu_seconds"])


def search(row: Row) -> str:
    return "reduced" if row["reduced"] else "full"


def every_row(rows: Iterable[Row]) -> str:
    """The table of docs/speed.md."""
    lines = [
        "| world | tool | search | states | s | CPU s | M states a CPU s | prepared, s | peak MB | bytes a state |",
        "|---|---|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    for r in rows:
        lines.append(
            f"| {r['world']} | {r['tool']} | {search(r)} | {r['states']:,} | {r['seconds']:.2f} | "
            f"{r['cpu_seconds']:.2f} | {rate(r) / 1e6:.3f} | {r['prepared_seconds']:.2f} | "
            f"{r['peak_mb']:.0f} | {r['bytes_a_state']:.0f} |"
        )
    return "\n".join(lines) + "\n"


def shortened(rows: Iterable[Row]) -> str:
    """The table of the README: for each world, what time of one processor the tools take to the same end."""
    lines = [
        "| world | states | SPIN, CPU s | compiled search, CPU s | states up to renaming | CPU s |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    known = list(rows)
    for world in dict.fromkeys(r["world"] for r in known):
        here = {(r["tool"], r["reduced"]): r for r in known if r["world"] == world}
        full, reduced = (here["kernel, one thread", which] for which in (False, True))
        spin = here.get(("spin", False))
        of_spin = f"{spin['cpu_seconds']:.2f}" if spin else ""
        lines.append(
            f"| `{world}` | {full['states']:,} | {of_spin} | {full['cpu_seconds']:.2f} | {reduced['states']:,} | "
            f"{reduced['cpu_seconds']:.2f} |"
        )
    return "\n".join(lines) + "\n"


# ------------------------------------------------------------------------------------------------ the picture
WIDTH, LEFT, BAR, GAP = 860, 250, 14, 10
LOWEST, HIGHEST = 4, 7  # powers of ten, states a second


def drawn(rows: Iterable[Row]) -> list[Row]:
    """The rows of full searches on one processor."""
    return [r for r in rows if not r["reduced"] and r["tool"] != "kernel"]


def picture(rows: Iterable[Row]) -> str:
    """States a second of one processor, of each tool in each world, as bars on a logarithmic scale (SVG)."""
    parts: list[str] = []
    y, shown = 44.0, drawn(rows)
    for world in dict.fromkeys(r["world"] for r in shown):
        here = sorted((r for r in shown if r["world"] == world), key=rate, reverse=True)
        parts.append(f'<text x="8" y="{y + 11:g}" font-weight="bold">{escape(world)}</text>')
        parts.append(f'<text x="8" y="{y + 27:g}" fill="#666">{here[0]["states"]:,} states</text>')
        for row in here:
            parts += _bar(row, y)
            y += BAR + 3
        y += GAP + max(0, 2 - len(here)) * (BAR + 3)
    height = y + 10
    scale = [_line(power, height) for power in range(LOWEST, HIGHEST + 1)]
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height:g}" width="{WIDTH}" height="{height:g}" '
        'font-family="system-ui, sans-serif" font-size="12" role="img">'
    )
    title = "<title>States a second of one processor, of each tool, without reductions</title>"
    return (
        "\n".join([head, title, f'<rect width="{WIDTH}" height="{height:g}" fill="#fff"/>', *scale, *parts, "</svg>"])
        + "\n"
    )


def _x(states_a_second: float) -> float:
    share = (math.log10(max(states_a_second, 10**LOWEST)) - LOWEST) / (HIGHEST - LOWEST)
    return LEFT + share * (WIDTH - LEFT - 60)


def _bar(row: Row, y: float) -> list[str]:
    tool = row["tool"]
    name, colour = tool.replace("kernel, one thread", "compiled search"), COLOURS.get(tool, SPIN)
    end = _x(rate(row))
    return [
        f'<text x="{LEFT - 6}" y="{y + 11:g}" text-anchor="end">{escape(name)}</text>',
        f'<rect x="{LEFT}" y="{y:g}" width="{max(1.0, end - LEFT):.1f}" height="{BAR}" fill="{colour}"/>',
        f'<text x="{end + 4:.1f}" y="{y + 11:g}" fill="#444">{rate(row) / 1e6:.2f} M</text>',
    ]


def _line(power: int, height: float) -> str:
    x = _x(10.0**power)
    said = {4: "10,000 states/s", 5: "100,000", 6: "1,000,000", 7: "10,000,000"}[power]
    return (
        f'<line x1="{x:.1f}" y1="30" x2="{x:.1f}" y2="{height:g}" stroke="#ddd"/>'
        f'<text x="{x:.1f}" y="22" text-anchor="middle" fill="#666">{said}</text>'
    )


# ------------------------------------------------------------------------------------------------ into the files
def within(text: str, table: str) -> str:
    """The text with the table in place of the one between the two marks."""
    before, found, rest = text.partition(BEGIN)
    _, ended, after = rest.partition(END)
    assert found and ended, "there are no marks for the table"
    return f"{before}{BEGIN}{table}{END}{after}"


def wanted(root: Path, document: Mapping[str, Any]) -> dict[Path, str]:
    """What each file must contain, by its path."""
    rows = document["rows"]
    readme, speed = root / "README.md", root / "docs" / "speed.md"
    said = "\n".join(f"* {s}" for s in document["said"])
    return {
        readme: within(readme.read_text(encoding="utf-8"), shortened(rows)),
        speed: within(speed.read_text(encoding="utf-8"), f"{every_row(rows)}\n{said}\n"),
        root / PICTURE: picture(rows),
    }


def show(root: Path, document: Mapping[str, Any]) -> None:
    for path, text in wanted(root, document).items():
        path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    show(HERE.parent, json.loads((HERE / "results" / "latest.json").read_text(encoding="utf-8")))
