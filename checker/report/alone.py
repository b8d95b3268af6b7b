"""A page that stands alone: one HTML file that needs nothing but itself, for a picture or for a state graph."""

from __future__ import annotations

from html import escape
from importlib.resources import files


def page(title: str, heading: str, body: str, style: str, script: str, made: str) -> str:
    """`body`, `style` and `script` as they stand; `made` is the HTML that says how the page was made."""
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1"><meta name="color-scheme" content="light dark">'
        f'<title>{escape(title)}</title><style>{_asset("alone.css")}{controls()}{style}</style></head><body class="alone"><main>'
        f"<h1>{escape(heading)}</h1>{body}<footer><p>{made}</p></footer></main><script>{script}</script></body></html>"
    )


def controls() -> str:
    """The style of buttons and keys, which pictures and walks have on every page."""
    return _asset("controls.css")


def _asset(name: str) -> str:
    return files(__package__).joinpath(name).read_text()
