// The cards beside the feed: network, downloads, data usage and cache.

import { element, fileName, formatAge, formatCount, formatSize, svgElement } from './formatting.js'
import { loadCachedImage } from './service.js'

const networkNames = { wifi: 'Wi-Fi', ethernet: 'Ethernet', cellular: 'cellular', other: 'other network', offline: 'offline' }
const costs = { yes: 'metered', no: 'not metered', unknown: 'may be metered' }
const flags = { tether: 'tethered', vpn: 'VPN', roaming: 'roaming', captive: 'sign-in required' }

/**
 * Draws the state of the network with its reasons, and the facts that the service and the page simulate.
 *
 * `pageFacts` are those of the page, as pairs.
 */
export function drawNetwork(node, network, pageFacts) {
  const devices = [network.device, ...network.via.filter((device) => device !== network.device)].filter(Boolean).join(' over ')
  const details = [
    ['reason', network.reason], ['interface', devices], ['route', network.route],
    ['metered', `${network.metered}: ${network.meteredReason}`],
  ].filter(([, value]) => value)
  const notes = [costs[network.metered], ...Object.keys(flags).filter((flag) => network[flag]).map((flag) => flags[flag])]
  const simulated = [
    ...Object.entries(network.simulated ?? {}).map(([fact, value]) => `The service simulates ${fact} = ${value}`),
    ...pageFacts.map(([fact, value]) => `This page simulates ${fact} = ${value}`),
  ]
  node.replaceChildren(
    element('p', { class: `network ${network.kind}` },
      element('span', { class: 'dot', 'aria-hidden': 'true' }),
      element('strong', {}, networkNames[network.kind] ?? network.kind),
      network.kind === 'offline' ? null : element('span', { class: 'secondary' }, notes.join(', '))),
    element('dl', {}, ...details.flatMap(([term, value]) => [element('dt', {}, term), element('dd', {}, value)])),
    ...simulated.map((text) => element('p', { class: 'simulated' }, text)),
  )
}

/** Draws the running downloads of all programs. */
export function drawDownloads(node, { transfers, count }) {
  const rows = transfers.map((transfer) => {
    const title = fileName(transfer.url)
    const bar = element('progress', { max: 1, 'aria-label': title })
    if (transfer.total) bar.value = transfer.received / transfer.total
    const total = transfer.total ? ` of ${formatSize(transfer.total)}` : ''
    const state = transfer.received ? formatSize(transfer.received) + total : 'waiting'
    return element('li', {},
      element('span', { class: 'title', title: transfer.url }, title),
      element('span', { class: 'secondary' }, [transfer.image, state].filter(Boolean).join(', ')),
      bar)
  })
  if (count > transfers.length) rows.push(element('li', { class: 'secondary' }, `and ${count - transfers.length} more`))
  node.replaceChildren(...(rows.length ? rows : [element('li', { class: 'secondary' }, 'No downloads')]))
}

const kinds = ['cellular', 'other', 'wifi', 'ethernet']

/** Draws the received bytes by day and network. */
export function drawUsage(node, summary, usage) {
  const days = daysBetween(usage.from, usage.to)
  const bytes = (day, kind) =>
    usage.days.filter((entry) => entry.day === day && entry.network === kind).reduce((sum, entry) => sum + entry.bytes, 0)
  const totals = kinds
    .map((kind) => [kind, days.reduce((sum, day) => sum + bytes(day, kind), 0)])
    .filter(([, total]) => total > 0)
    .map(([kind, total]) => [kind, `${networkNames[kind]} ${formatSize(total)}`])
  summary.textContent = `${formatSize(usage.total.bytes)} in ${days.length} days, ${formatCount(usage.total.transfers, 'transfer')}`
  const content = totals.length === 0
    ? [element('p', { class: 'secondary' }, 'No data received yet. Data from this machine is not counted.')]
    : [chart(days, bytes, totals.map(([, text]) => text).join(', ')), legend(totals)]
  const { budget } = usage
  if (budget) {
    const text = `Cellular budget: ${formatSize(budget.left)} of ${formatSize(budget.limit)} left until ${budget.to}`
    content.push(element('p', { class: 'secondary' }, text))
  }
  node.replaceChildren(...content)
}

function chart(days, bytes, description) {
  const [width, height, left, bottom] = [720, 180, 56, 24]
  const top = roundUp(Math.max(1, ...days.map((day) => kinds.reduce((sum, kind) => sum + bytes(day, kind), 0))))
  const y = (value) => 8 + (height - bottom - 8) * (1 - value / top)
  const slot = (width - left) / days.length
  const label = `Data received by day: ${description}`
  const chart = svgElement('svg', { viewBox: `0 0 ${width} ${height}`, class: 'chart', role: 'img', 'aria-label': label })
  for (const fraction of [0, 0.5, 1]) {
    const height = y(top * fraction)
    chart.append(
      svgElement('line', { x1: left, x2: width, y1: height, y2: height }),
      svgElement('text', { x: left - 8, y: height + 4, 'text-anchor': 'end' }, fraction ? formatSize(top * fraction) : '0'))
  }
  days.forEach((day, index) => {
    const x = left + slot * index
    let sum = 0
    for (const kind of kinds) {
      const value = bytes(day, kind)
      if (!value) continue
      const [high, low] = [y(sum + value), y(sum)]
      const shape = { x: x + slot * 0.16, width: slot * 0.68, y: Math.min(high, low - 1), height: Math.max(low - high, 1), rx: 1.5 }
      const title = `${day}, ${networkNames[kind]}: ${formatSize(value)}`
      chart.append(svgElement('rect', { class: kind, ...shape }, svgElement('title', {}, title)))
      sum += value
    }
    const daysLeft = days.length - 1 - index
    if (daysLeft % 7 !== 0) return
    const place = { x: daysLeft ? x + slot / 2 : width, y: height - 6, 'text-anchor': daysLeft ? 'middle' : 'end' }
    chart.append(svgElement('text', place, day.slice(5)))
  })
  return chart
}

function legend(totals) {
  return element('ul', { class: 'legend' }, ...totals.map(([kind, text]) =>
    element('li', {}, element('span', { class: `dot ${kind}`, 'aria-hidden': 'true' }), text)))
}

function daysBetween(from, to) {
  const days = []
  for (let time = Date.parse(from); time <= Date.parse(to); time += 86400e3) days.push(new Date(time).toISOString().slice(0, 10))
  return days
}

/** Rounds up to one of 1, 2, 5, 10, 20, … */
function roundUp(value) {
  const power = 10 ** Math.floor(Math.log10(value))
  return [1, 2, 5, 10].find((factor) => factor * power >= value) * power
}

/** The size and the limits of the cache, and the recently used images. */
export class CacheCard {
  #parts
  #tiles = new Map()

  constructor(parts) {
    this.#parts = parts
  }

  draw(cache) {
    const { summary, limits, list } = this.#parts
    summary.textContent = `${formatCount(cache.count, 'image')}, ${formatSize(cache.bytes)}`
    const limited = ['originals', 'thumbnails', 'pinned'].filter((name) => cache[name]?.limit)
    limits.replaceChildren(...limited.map((name) => limitRow(name, cache[name])))
    const old = this.#tiles
    this.#tiles = new Map(cache.images.map((image) => {
      const known = old.get(image.url)
      const tile = known?.version === versionOf(image) ? known : makeTile(image)
      tile.node.title = `${image.url}\n${image.mediaType}, used ${formatAge(image.usedAt)}`
      return [image.url, tile]
    }))
    for (const [url, tile] of old) if (this.#tiles.get(url) !== tile) tile.release()
    list.replaceChildren(...[...this.#tiles.values()].map((tile) => tile.node))
    list.hidden = cache.images.length === 0
  }
}

function limitRow(name, { count, bytes, limit }) {
  const text = `${formatSize(bytes)} of ${formatSize(limit)}`
  return element('div', { class: 'limit' },
    element('span', {}, name),
    element('meter', { min: 0, max: limit, value: bytes, 'aria-label': `${name}: ${text}` }),
    element('span', { class: 'secondary' }, `${count}, ${text}`))
}

/** Differs if the image of a URL was replaced. */
const versionOf = ({ storedAt, bytes }) => `${storedAt} ${bytes}`

function makeTile(image) {
  const picture = element('img', { alt: '', decoding: 'async' })
  const node = element('li', {},
    picture,
    element('span', { class: 'title' }, fileName(image.url)),
    element('span', { class: 'secondary' }, `${image.role}, ${formatSize(image.bytes)}`))
  const item = { variants: [{ role: image.role, url: image.url }] }
  // An image that was evicted meanwhile stays empty.
  loadCachedImage(item).then(({ blob }) => { picture.src = URL.createObjectURL(blob) }, () => {})
  return { node, version: versionOf(image), release: () => URL.revokeObjectURL(picture.src) }
}
