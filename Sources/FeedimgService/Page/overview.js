// What happens around the feed: the network, transfers, what was received, and what is kept.

import { cachedImage } from './service.js'
import { ago, count, drawing, element, name, size } from './words.js'

const words = { wifi: 'Wi-Fi', ethernet: 'Ethernet', cellular: 'cellular', other: 'a network of no known kind', offline: 'offline' }
const costs = { yes: 'metered', no: 'not metered', unknown: 'may be metered' }

/** The network as it is, with the reasons, and what is given in its place. */
export function drawNetwork(node, network, simulated, given) {
  const way = [network.device, ...network.via.filter((device) => device !== network.device)].filter(Boolean).join(' over ')
  const told = [['because', network.reason], ['through', way], ['route', network.route], ['metered', `${network.metered}: ${network.meteredReason}`]]
  const flags = [['tether', 'tethered'], ['vpn', 'VPN'], ['roaming', 'roaming'], ['captive', 'wants a sign-in']].filter(([flag]) => network[flag]).map(([, word]) => word)
  const instead = [...Object.entries(simulated ?? {}).map(([fact, value]) => `the service was started with ${fact} = ${value}`), ...given.map(([fact, value]) => `this page asks as if ${fact} = ${value}`)]
  node.replaceChildren(
    element('p', { class: `kind ${network.kind}` }, element('span', { class: 'dot', 'aria-hidden': 'true' }), element('strong', {}, words[network.kind] ?? network.kind), network.kind === 'offline' ? null : element('span', { class: 'faint' }, [costs[network.metered], ...flags].join(', '))),
    element('dl', {}, ...told.filter(([, value]) => value).flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)])),
    ...instead.map((text) => element('p', { class: 'instead' }, text)),
  )
}

/** The transfers of all programs. */
export function drawTransfers(node, { transfers, count: total }) {
  const rows = transfers.map((transfer) => {
    const title = name(transfer.url)
    const bar = element('progress', { max: 1, 'aria-label': title })
    if (transfer.total) bar.value = transfer.received / transfer.total
    const words = transfer.received ? `${size(transfer.received)}${transfer.total ? ` of ${size(transfer.total)}` : ''}` : 'waiting'
    return element('li', {}, element('span', { class: 'title', title: transfer.url }, title), element('span', { class: 'faint' }, [transfer.image, words].filter(Boolean).join(', ')), bar)
  })
  if (total > transfers.length) rows.push(element('li', { class: 'faint' }, `and ${total - transfers.length} more`))
  node.replaceChildren(...(rows.length ? rows : [element('li', { class: 'faint' }, 'Nothing is being transferred.')]))
}

const kinds = ['cellular', 'other', 'wifi', 'ethernet']

/** What was received, as bars by day and network. */
export function drawUsage(node, sum, usage) {
  const days = calendar(usage.from, usage.to)
  const bytes = (day, kind) => usage.days.filter((entry) => entry.day === day && entry.network === kind).reduce((all, entry) => all + entry.bytes, 0)
  const totals = kinds.map((kind) => [kind, days.reduce((all, day) => all + bytes(day, kind), 0)]).filter(([, total]) => total > 0)
  sum.textContent = `${size(usage.total.bytes)} in ${days.length} days, ${count(usage.total.transfers, 'transfer')}`
  const [width, height, left, bottom] = [720, 180, 56, 24]
  const top = ceiling(Math.max(1, ...days.map((day) => kinds.reduce((all, kind) => all + bytes(day, kind), 0))))
  const y = (value) => 8 + (height - bottom - 8) * (1 - value / top)
  const slot = (width - left) / days.length
  const chart = drawing('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': `Received by day: ${totals.map(([kind, total]) => `${words[kind]} ${size(total)}`).join(', ') || 'nothing'}` })
  for (const part of [0, 0.5, 1]) {
    chart.append(drawing('line', { x1: left, x2: width, y1: y(top * part), y2: y(top * part) }), drawing('text', { x: left - 8, y: y(top * part) + 4, 'text-anchor': 'end' }, part ? size(top * part) : '0'))
  }
  days.forEach((day, index) => {
    const x = left + slot * index
    let base = 0
    for (const kind of kinds) {
      const value = bytes(day, kind)
      if (!value) continue
      const [high, low] = [y(base + value), y(base)]
      chart.append(drawing('rect', { class: kind, x: x + slot * 0.16, width: slot * 0.68, y: Math.min(high, low - 1), height: Math.max(low - high, 1), rx: 1.5 }, drawing('title', {}, `${day}, ${words[kind]}: ${size(value)}`)))
      base += value
    }
    const fromEnd = days.length - 1 - index
    if (fromEnd % 7 === 0) chart.append(drawing('text', { x: fromEnd ? x + slot / 2 : width, y: height - 6, 'text-anchor': fromEnd ? 'middle' : 'end' }, day.slice(5)))
  })
  const legend = totals.map(([kind, total]) => element('li', {}, element('span', { class: `dot ${kind}`, 'aria-hidden': 'true' }), `${words[kind]} ${size(total)}`))
  const budget = usage.budget && element('p', { class: 'faint' }, `cellular budget: ${size(usage.budget.left)} of ${size(usage.budget.limit)} left until ${usage.budget.to}`)
  node.replaceChildren(...(totals.length ? [chart] : []), totals.length ? element('ul', { class: 'legend' }, ...legend) : element('p', { class: 'faint' }, 'Nothing was received yet; what comes from this machine itself is not counted.'), ...(budget ? [budget] : []))
}

function calendar(from, to) {
  const days = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += 86400e3) days.push(new Date(time).toISOString().slice(0, 10))
  return days
}

/** The next of 1, 2, 5, 10, 20, … */
function ceiling(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].find((factor) => factor * power >= value) * power
}

/** How much is kept of how much, and the images used last. */
export class Shelf {
  #parts
  #known = new Map()

  constructor(parts) {
    this.#parts = parts
  }

  draw(cache) {
    const { sum, bars, list } = this.#parts
    sum.textContent = `${count(cache.count, 'image')}, ${size(cache.bytes)}`
    bars.replaceChildren(...['originals', 'thumbnails', 'pinned'].filter((part) => cache[part]?.limit).map((part) => {
      const { count: number, bytes, limit } = cache[part]
      return element('div', { class: 'part' }, element('span', {}, part), element('meter', { min: 0, max: limit, value: bytes, 'aria-label': `${part}: ${size(bytes)} of ${size(limit)}` }), element('span', { class: 'faint' }, `${number}, ${size(bytes)} of ${size(limit)}`))
    }))
    const old = this.#known
    this.#known = new Map(cache.images.map((image) => [image.url, old.get(image.url) ?? this.#tile(image)]))
    for (const [url, tile] of old) if (!this.#known.has(url)) tile.release()
    list.replaceChildren(...[...this.#known.values()].map((tile) => tile.node))
    list.hidden = cache.images.length === 0
  }

  #tile(image) {
    const picture = element('img', { alt: '', decoding: 'async' })
    const node = element('li', { title: `${image.url}\n${image.mediaType}, used ${ago(image.usedAt)}` }, picture, element('span', { class: 'title' }, name(image.url)), element('span', { class: 'faint' }, `${image.role}, ${size(image.bytes)}`))
    const item = { variants: [{ role: image.role, url: image.url }] }
    // What is gone by now simply stays without its picture.
    cachedImage(item).then(({ blob }) => { picture.src = URL.createObjectURL(blob) }, () => {})
    return { node, release: () => URL.revokeObjectURL(picture.src) }
  }
}
