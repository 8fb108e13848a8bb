"""What is asked of a page in a browser."""

WIDTHS = (375, 1280)
SCHEMES = ("light", "dark")

_CONTRAST = r"""() => {
  const parsed = text => {
    const part = (text.match(/[\d.]+/g) || []).map(Number);
    return text === "none" || part.length < 3 ? [0, 0, 0, 0] : [...part.slice(0, 3), part.length > 3 ? part[3] : 1];
  };
  const over = (top, under) => under.map((value, at) => at === 3 ? 1 : top[3] * top[at] + (1 - top[3]) * value);
  const luminance = color => {
    const [r, g, b] = color.map(value => value / 255).map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = element => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.push(parsed(getComputedStyle(at).backgroundColor));
    return layers.reduceRight((under, top) => over(top, under), [255, 255, 255, 1]);
  };
  const shapes = new Map();  // of each drawing, in the order in which they are painted
  const shapesOf = drawing => {
    if (!shapes.has(drawing)) {
      const paths = [...drawing.querySelectorAll("path")].filter(path => !path.closest("defs"));
      shapes.set(drawing, paths.map(path => [path, path.getBoundingClientRect()]));
    }
    return shapes.get(drawing);
  };
  const painted = (text, under) => {  // what of the drawing lies below a word
    const box = text.getBoundingClientRect(), x = box.x + box.width / 2, y = box.y + box.height / 2;
    for (const [shape, at] of shapesOf(text.ownerSVGElement)) {
      if (x < at.x || x > at.right || y < at.y || y > at.bottom) continue;
      if (!(shape.compareDocumentPosition(text) & Node.DOCUMENT_POSITION_FOLLOWING)) break;
      const style = getComputedStyle(shape), fill = parsed(style.fill);
      under = over([...fill.slice(0, 3), fill[3] * style.fillOpacity * style.opacity], under);
    }
    return under;
  };
  const found = [];
  for (const element of document.body.querySelectorAll("*")) {
    const words = [...element.childNodes].filter(n => n.nodeType === 3).map(n => n.textContent.trim()).join("");
    if (!words || !element.checkVisibility() || element.tagName === "STYLE") continue;
    const box = element.getBoundingClientRect(), style = getComputedStyle(element);
    if (box.width < 2 || box.height < 2) continue;
    const drawn = element instanceof SVGElement;
    const under = drawn ? painted(element, ground(element.closest("div"))) : ground(element);
    const own = parsed(drawn ? style.fill : style.color);
    const ink = over([...own.slice(0, 3), own[3] * style.opacity * (drawn ? style.fillOpacity : 1)], under);
    const [low, high] = [luminance(ink), luminance(under)].sort((a, b) => a - b);
    found.push([words.slice(0, 40), (high + 0.05) / (low + 0.05), drawn]);
  }
  return found;
}"""


def contrasts(page):
    """Of each word that is seen its text, its contrast with what lies below it, and whether it is in a drawing."""
    return page.evaluate(_CONTRAST)


def overflow(page):
    """By how many pixels the page is wider than its window."""
    return page.evaluate("document.scrollingElement.scrollWidth - document.scrollingElement.clientWidth")


def unreached(page, which):
    """How many of what a selector names the Tab key does not come to, in themselves or in what holds them."""
    page.evaluate(
        """() => { window.reached = [];
        document.addEventListener("focusin", event => window.reached.push(event.target)); }"""
    )
    for _ in range(page.locator("[tabindex]").count() + 2):
        page.keyboard.press("Tab")
    return page.evaluate(
        "which => [...document.querySelectorAll(which)].filter(e => !window.reached.some(r => r.contains(e))).length",
        which,
    )


def lies_outside(page, which):
    """The texts of what a selector names that are not seen, or lie partly outside of the window's width."""
    return page.evaluate(
        """which => [...document.querySelectorAll(which)].filter(element => {
          const box = element.getBoundingClientRect();
          return !element.checkVisibility() || box.width < 1 || box.left < 0 || box.right > innerWidth;
        }).map(element => element.textContent)""",
        which,
    )


def told(page):
    """What the browser tells a screen reader: (role, name) of all that it does not leave out."""
    nodes = page.context.new_cdp_session(page).send("Accessibility.getFullAXTree")["nodes"]
    return [(node["role"]["value"], node.get("name", {}).get("value", "")) for node in nodes if not node["ignored"]]
