// The feed: its images, and the decision about each.

import { Cell } from './cell.js'
import { element, formatCount, formatSize } from './formatting.js'
import { resolve } from './service.js'

const maximumCount = 500
/** An item that is not cached. The table highlights its rule if the feed is empty. */
const example = { originalImage: 'http://feed.invalid/a.jpg', thumbnailImage: 'http://feed.invalid/b.jpg' }

export class Feed {
  #cells = []
  #parts
  #simulation
  #table
  #observer
  #updateNumber = 0
  /** The URLs of better images that the service has reported since the latest update. */
  #dueURLs = new Set()
  /** Whether such reports may have been missed. */
  #mayMissReports = false
  #updateTimer = null
  #summaryTimer = null

  constructor(parts, simulation, table) {
    this.#parts = parts
    this.#simulation = simulation
    this.#table = table
    // Rows below the screen load in advance. Distant images are released.
    this.#observer = new IntersectionObserver((entries) => this.#intersectionsChanged(entries), { rootMargin: '300px 0px' })
  }

  get isEmpty() {
    return this.#cells.length === 0
  }

  /** Replaces the items. */
  setItems(items) {
    this.#observer.disconnect()
    for (const cell of this.#cells) cell.release()
    const onChange = () => this.#updateSummarySoon()
    this.#cells = items.slice(0, maximumCount).map((item) => new Cell(item, (cell) => this.#explain(cell), onChange))
    this.#parts.list.replaceChildren(...this.#cells.map((cell) => cell.node))
    this.#parts.empty.hidden = items.length > 0
    for (const cell of this.#cells) {
      cell.node.cell = cell
      this.#observer.observe(cell.node)
    }
    return this.update()
  }

  /** Requests new decisions for all items. */
  async update() {
    const number = ++this.#updateNumber
    const { query } = this.#simulation
    const cells = this.#cells
    const due = new Set(this.#dueURLs)
    // The service reports nothing about simulations.
    const isAllDue = query !== '' || this.#mayMissReports
    const resolutions = await resolve(cells.length ? cells.map((cell) => cell.item) : [example], query)
    if (number !== this.#updateNumber) return
    due.forEach((url) => this.#dueURLs.delete(url))
    this.#mayMissReports = false
    // The reason why the feed is empty stays.
    if (cells.length > 0) this.#parts.error.textContent = ''
    cells.forEach((cell, index) => {
      cell.setResolution(resolutions[index], query, isAllDue || due.has(resolutions[index].url))
    })
    this.#table.highlight(resolutions.map((resolution) => resolution.rule), cells.length > 0)
    this.#updateSummarySoon()
  }

  /** Updates once for several changes. */
  updateSoon() {
    clearTimeout(this.#updateTimer)
    this.#updateTimer = setTimeout(() => this.update().catch(() => {}), 60)
  }

  /** Loads better images, because reports of the service may have been missed. */
  connected() {
    this.#mayMissReports = true
    this.updateSoon()
  }

  /** Loads a better image that the service has reported. */
  upgrade(url) {
    this.#dueURLs.add(url)
    this.updateSoon()
  }

  /** Shows the progress of running downloads. */
  showProgress(transfers) {
    for (const cell of this.#cells) cell.showProgress(transfers)
  }

  #intersectionsChanged(entries) {
    let hasNew = false
    for (const { target, isIntersecting, intersectionRect } of entries) {
      target.cell.isNear = isIntersecting
      target.cell.isVisible = intersectionRect.bottom > 0 && intersectionRect.top < innerHeight
      if (isIntersecting) hasNew = true
      else target.cell.release()
    }
    if (hasNew) this.updateSoon()
  }

  /** Updates the summary once for several changes, because screen readers read it out. */
  #updateSummarySoon() {
    clearTimeout(this.#summaryTimer)
    this.#summaryTimer = setTimeout(() => this.#updateSummary(), 100)
  }

  #updateSummary() {
    const near = this.#cells.filter((cell) => cell.isNear)
    const text = ['original', 'thumbnail', 'placeholder']
      .map((role) => [near.filter((cell) => cell.role === role).length, role])
      .filter(([count]) => count > 0)
      .map(([count, role]) => formatCount(count, role))
      .join(', ')
    if (this.#parts.summary.textContent !== text) this.#parts.summary.textContent = text
  }

  #explain(cell) {
    const { dialog, title, text } = this.#parts.explanation
    const { resolution, shown } = cell
    if (!resolution) return
    title.textContent = cell.title
    const rows = Object.entries(resolution.facts).map(([fact, { value, source }]) =>
      element('tr', {}, element('th', { scope: 'row' }, fact), element('td', {}, value), element('td', {}, source)),
    )
    const origin = `(${resolution.policy}, rule ${resolution.rule}, ${resolution.place})`
    text.replaceChildren(
      element('p', {}, `Decision: ${resolution.image}. Reason: ${resolution.why} `, element('span', { class: 'secondary' }, origin)),
      element('p', {}, shown
        ? `Shown: ${shown.role}, ${formatSize(shown.bytes)} from the ${shown.source} in ${Math.round(shown.milliseconds)} ms.`
        : 'Shown: placeholder.'),
      resolution.url && element('p', { class: 'url' }, resolution.url),
      element('div', { class: 'scroll' }, element('table', { class: 'facts' },
        element('thead', {}, element('tr', {}, ...['fact', 'value', 'source'].map((head) => element('th', { scope: 'col' }, head)))),
        element('tbody', {}, ...rows))),
    )
    dialog.showModal()
  }
}
