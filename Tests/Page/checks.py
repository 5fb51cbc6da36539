"""Checks the accessibility of the page: names, order, contrast (WCAG 2.2: 1.1.1, 1.3.1, 1.4.3, 2.5.8, 4.1.2)."""

FAINT = """
  (() => {
    const parse = (text) => { const [r, g, b, a = 1] = text.match(/[\\d.]+/g).map(Number); return { r, g, b, a } }
    const light = ({ r, g, b }) => {
      const [x, y, z] = [r, g, b].map((part) => (part /= 255) <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4)
      return 0.2126 * x + 0.7152 * y + 0.0722 * z
    }
    const ground = (node) => {
      for (; node; node = node.parentElement) {
        const style = getComputedStyle(node)
        const color = parse(style.backgroundColor)
        // What lies over a picture is judged on its own ground, over the lightest and the darkest picture alike.
        if (color.a > 0.75) return color
      }
      return parse('rgb(255, 255, 255)')
    }
    const faults = new Set()
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
    while (walker.nextNode()) {
      const node = walker.currentNode.parentElement
      if (!walker.currentNode.data.trim() || !node.checkVisibility() || node.closest('noscript, option')) continue
      const style = getComputedStyle(node)
      if (style.visibility === 'hidden') continue
      const [one, other] = [light(parse(style.color)), light(ground(node))]
      const contrast = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
      const isLarge = parseFloat(style.fontSize) >= 24
      if (contrast < (isLarge ? 3 : 4.5)) faults.add(`${node.className || node.tagName} has a contrast of ${contrast.toFixed(2)}`)
    }
    return [...faults]
  })()"""

STRUCTURE = """
  (() => {
    const faults = []
    const ids = [...document.querySelectorAll('[id]')].map((node) => node.id)
    for (const id of new Set(ids.filter((id, index) => ids.indexOf(id) !== index))) faults.push(`two elements are called ${id}`)
    for (const node of document.querySelectorAll('img:not([alt]), svg[role=img]:not([aria-label])')) faults.push(`${node.outerHTML.slice(0, 60)} says nothing`)
    for (const name of ['aria-labelledby', 'for'])
      for (const node of document.querySelectorAll(`[${name}]`))
        for (const id of node.getAttribute(name).split(' ')) if (!document.getElementById(id)) faults.push(`${name} ${id} leads nowhere`)
    let level = 0
    for (const head of document.querySelectorAll('h1, h2, h3')) {
      const next = Number(head.tagName[1])
      if (next > level + 1) faults.push(`${head.innerText} skips a level`)
      level = next
    }
    if (!document.documentElement.lang) faults.push('no language')
    if (!document.title) faults.push('no title')
    if (document.querySelectorAll('main').length !== 1) faults.push('not one main part')
    for (const node of document.querySelectorAll('button, select, .choices span')) {
      const { width, height } = node.getBoundingClientRect()
      if (node.checkVisibility() && (width < 24 || height < 24)) faults.push(`${node.innerText || node.id} is only ${width} by ${height} pixels`)
    }
    return faults
  })()"""

NEED_A_NAME = {"button", "link", "textbox", "combobox", "radio", "image", "progressbar", "meter", "dialog", "table", "region"}


def find(browser):
    """The faults of the current page, one per line."""
    return browser.run(STRUCTURE) + find_nameless(browser) + find_faint_text(browser)


def find_faint_text(browser):
    return browser.run(FAINT)


def find_nameless(browser):
    """The elements without an accessible name."""
    nodes = browser.call("Accessibility.getFullAXTree")["nodes"]
    return [
        f"a {node['role']['value']} has no name"
        for node in nodes
        if not node.get("ignored") and node.get("role", {}).get("value") in NEED_A_NAME - {"table", "image"}
        and not node.get("name", {}).get("value", "").strip()
    ]
