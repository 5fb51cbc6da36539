// Quantities and elements, as all parts of the page write them.

/** Three digits, such as `1.25 MB`, as the command writes it. */
export function size(bytes) {
  let [value, unit] = [bytes, 'B']
  for (const larger of ['kB', 'MB', 'GB', 'TB']) {
    if (value < 999.5) break
    ;[value, unit] = [value / 1000, larger]
  }
  const digits = unit === 'B' || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`
}

/** Such as `3 pictures`. */
export function count(number, word) {
  return `${number} ${word}${number === 1 ? '' : 's'}`
}

/** How long ago, from a moment as RFC 3339 spells it. */
export function ago(moment) {
  const seconds = Math.max(0, (Date.now() - Date.parse(moment)) / 1000)
  for (const [length, word] of [[86400, 'day'], [3600, 'hour'], [60, 'minute']]) {
    if (seconds >= length) return `${count(Math.floor(seconds / length), word)} ago`
  }
  return 'just now'
}

/** The end of an address, which people know pictures by. */
export function name(address) {
  try {
    const { pathname, host } = new URL(address)
    return decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? host)
  } catch {
    return address
  }
}

/** An element with attributes and children; text is never taken for markup. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children)
}

/** The same for SVG. */
export function drawing(tag, attributes = {}, ...children) {
  return fill(document.createElementNS('http://www.w3.org/2000/svg', tag), attributes, children)
}

function fill(node, attributes, children) {
  for (const [key, value] of Object.entries(attributes)) {
    if (value === true) node.setAttribute(key, '')
    else if (value !== false && value != null) node.setAttribute(key, value)
  }
  node.append(...children.filter((child) => child != null))
  return node
}
