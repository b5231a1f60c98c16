"""`onemlir cache`."""
from __future__ import annotations

import datetime

from rich.console import Console
from rich.table import Table

from ..runtime import cache


def run(clear: bool) -> None:
    console = Console()
    place = cache.folder()
    if place is None:
        console.print("The compile cache is off (ONEMLIR_CACHE).")
        return
    if clear:
        console.print(f"Removed {cache.clear()} entries from {place}.", highlight=False)
        return
    found = sorted(cache.entries(), key=lambda entry: entry.used, reverse=True)
    if found:
        console.print(table(found))
    total = sum(entry.size for entry in found)
    console.print(f"{place}: {len(found)} entries, {total / 2**20:.1f} of {cache.limit() / 2**20:.0f} MiB", highlight=False)


def table(entries: list[cache.Entry]) -> Table:
    shown = Table()
    for column, justify in (("key", "left"), ("bytes", "right"), ("last used", "left")):
        shown.add_column(column, justify=justify)
    for entry in entries:
        shown.add_row(entry.path.stem[:16], f"{entry.size:,}", datetime.datetime.fromtimestamp(entry.used).isoformat(" ", "seconds"))
    return shown
