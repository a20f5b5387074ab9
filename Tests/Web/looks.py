"""How a page looks: in both sizes, light and dark."""

WIDTHS = (320, 1280)
# What axe looks at: the rules that go by colours and by size are in it once each.
CHECKED = (("light", 1280), ("dark", 320))


def looks(page, name, screenshots):
    """Goes through them, in each of which nothing may stick out at the side; with a folder, each has a picture there."""
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)
        for width in WIDTHS:
            page.set_viewport_size({"width": width, "height": 800})
            wide = page.evaluate("document.documentElement.scrollWidth")
            if wide > width:
                raise AssertionError(f"{name}: {wide} pixels wide at {width}")
            if screenshots:
                page.screenshot(path=screenshots / f"{name}-{width}-{scheme}.png", full_page=True)
            yield scheme, width
