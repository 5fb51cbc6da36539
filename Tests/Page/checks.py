"""Checks the accessibility of the page: names, headings, contrast, sizes (WCAG 2.2: 1.1.1, 1.3.1, 1.4.3, 2.5.8, 4.1.2)."""

LOW_CONTRAST = """
  (() => {
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a } }
    const luminance = ({ r, g, b }) => {
      const [x, y, z] = [r, g, b].map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      return 0.2126 * x + 0.7152 * y + 0.0722 * z
    }
    const background = (node) => {
      for (; node; node = node.parentElement) {
        const style = getComputedStyle(node)
        const color = parse(style.backgroundColor)
        // A translucent label over an image counts with its own background colour.
        if (color.a > 0.75) return color
      }
      return parse('rgb(255, 255, 255)')
    }
    const problems = new Set()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement
      if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest('noscript, option')) continue
      const style = getComputedStyle(node)
      if (style.visibility === 'hidden') continue
      const [one, other] = [luminance(parse(style.color)), luminance(background(node))]
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
      const isLarge = parseFloat(style.fontSize) >= 24
      if (contrast < (isLarge ? 3 : 4.5)) problems.add(`${node.className || node.tagName} has a contrast of ${contrast.toFixed(2)}`)
    }
    return [...problems]
  })()"""

STRUCTURE = """
  (() => {
    const problems = []
    const ids = [...document.querySelectorAll('[id]')].map((node) => node.id)
    for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) problems.push(`two elements have the id ${id}`)
    for (const node of document.querySelectorAll('img:not([alt]), svg[role=img]:not([aria-label])')) problems.push(`${node.outerHTML.slice(0, 60)} has no description`)
    for (const name of ['aria-labelledby', 'for'])
      for (const node of document.querySelectorAll(`[${name}]`))
        for (const id of node.getAttribute(name).split(' ')) if (!document.getElementById(id)) problems.push(`${name} ${id} names no element`)
    let level = 0
    for (const head of document.querySelectorAll('h1, h2, h3')) {
      const next = Number(head.tagName[1])
      if (next > level + 1) problems.push(`${head.innerText} skips a level`)
      level = next
    }
    if (!document.documentElement.lang) problems.push('no language')
    if (!document.title) problems.push('no title')
    if (document.querySelectorAll('main').length !== 1) problems.push('not exactly one main element')
    for (const node of document.querySelectorAll('button, select, .choices span')) {
      const { width, height } = node.getBoundingClientRect()
      if (node.checkVisibility() && (width < 24 || height < 24)) problems.push(`${node.innerText || node.id} is only ${width} by ${height} pixels`)
    }
    return problems
  })()"""

ROLES_WITH_NAME = {"button", "link", "textbox", "combobox", "radio", "image", "progressbar", "meter", "dialog", "table", "region"}


def find(browser):
    """Returns the problems of the current page."""
    return browser.run(STRUCTURE) + find_unnamed(browser) + find_low_contrast(browser)


def find_low_contrast(browser):
    return browser.run(LOW_CONTRAST)


def find_unnamed(browser):
    """Returns the elements without an accessible name."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [
        f"a {node['role']['value']} has no name"
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in ROLES_WITH_NAME - {"table", "image"}
        and not node.get("name", {}).get("value", "").strip()
    ]
