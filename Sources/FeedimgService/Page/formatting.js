// Formats quantities and names, and makes elements.

/** Formats a size with three digits, as the command does, such as `1.25 MB`. */
export function formatSize(bytes) {
  let [value, unit] = [bytes, 'B']
  for (const larger of ['kB', 'MB', 'GB', 'TB']) {
    if (value < 999.5) break
    ;[value, unit] = [value / 1000, larger]
  }
  const digits = unit === 'B' || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2
  return `${value.toFixed(digits)} ${unit}`
}

/** Formats a number of things, such as `3 images`. */
export function formatCount(number, noun) {
  return `${number} ${noun}${number === 1 ? '' : 's'}`
}

/** Formats the time since an RFC 3339 time, such as `3 hours ago`. */
export function formatAge(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000)
  for (const [length, noun] of [[86400, 'day'], [3600, 'hour'], [60, 'minute']]) {
    if (seconds >= length) return `${formatCount(Math.floor(seconds / length), noun)} ago`
  }
  return 'just now'
}

/** The file name in a URL, or else its host. */
export function fileName(url) {
  try {
    const { pathname, host } = new URL(url)
    return decodeURIComponent(pathname.split('/').filter(Boolean).at(-1) ?? host)
  } catch {
    return url
  }
}

/** Makes an HTML element. Strings among the children become text, never markup. */
export function element(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children)
}

/** Makes an SVG element. */
export function svgElement(tag, attributes = {}, ...children) {
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
