// The feed: which pictures there are, and what is decided about each.

import { Cell } from './cell.js'
import { resolve } from './service.js'
import { count, element, size } from './words.js'

/** More are not drawn. */
const greatestCount = 500

export class Feed {
  #cells = []
  #parts
  #situation
  #table
  #tell
  #watcher
  #turn = 0
  #pending = null
  #summary = null

  constructor(parts, situation, table, tell) {
    this.#parts = parts
    this.#situation = situation
    this.#table = table
    this.#tell = tell
    // A row below the screen is loaded ahead; what is far away is let go of.
    this.#watcher = new IntersectionObserver((entries) => this.#see(entries), { rootMargin: '300px 0px' })
  }

  get cells() {
    return this.#cells
  }

  /** Shows these items in place of those before. */
  setItems(items) {
    this.#watcher.disconnect()
    for (const cell of this.#cells) cell.release()
    this.#cells = items.slice(0, greatestCount).map((item) => new Cell(item, (cell) => this.#explain(cell), () => this.#summariseSoon()))
    this.#parts.list.replaceChildren(...this.#cells.map((cell) => cell.node))
    this.#parts.empty.hidden = items.length > 0
    for (const cell of this.#cells) {
      cell.node.cell = cell
      this.#watcher.observe(cell.node)
    }
    return this.update()
  }

  /** Has everything decided anew, as something has changed. */
  async update() {
    const turn = ++this.#turn
    const { query } = this.#situation
    const asked = this.#cells
    // With no picture at hand the table shows what would become of one that is not cached.
    const example = { originalImage: 'http://feed.invalid/a.jpg', thumbnailImage: 'http://feed.invalid/b.jpg' }
    const resolutions = await resolve(asked.length ? asked.map((cell) => cell.item) : [example], query)
    if (turn !== this.#turn) return
    asked.forEach((cell, index) => cell.decide(resolutions[index], query, (shown) => this.#isDue(shown, resolutions[index])))
    this.#table.light(resolutions.map((resolution) => resolution.rule), asked.length > 0)
    this.#summariseSoon()
    this.#tell(resolutions[0])
  }

  /** Shows how far transfers have come. */
  follow(transfers) {
    for (const cell of this.#cells) cell.follow(transfers)
  }

  /** Once more, when what happens has settled. */
  updateSoon() {
    clearTimeout(this.#pending)
    this.#pending = setTimeout(() => this.update().catch(() => {}), 60)
  }

  #see(entries) {
    let isNew = false
    for (const { target, isIntersecting, intersectionRect } of entries) {
      target.cell.isNear = isIntersecting
      target.cell.isVisible = intersectionRect.bottom > 0 && intersectionRect.top < innerHeight
      if (isIntersecting) isNew = true
      else target.cell.release()
    }
    if (isNew) this.updateSoon()
  }

  /** Whether what a picture waited for has happened, as its policy has it. */
  #isDue(shown, resolution) {
    if (!this.#table.namesUpgradeEvents) return true
    const fact = (name) => resolution.facts[name]?.value
    const isOnline = fact('network') !== 'offline'
    switch (shown.upgrade) {
      case 'online': return isOnline
      case 'wifi': return ['wifi', 'ethernet'].includes(fact('network'))
      case 'unmetered': return isOnline && fact('metered') === 'no'
      case 'home': return isOnline && fact('roaming') === 'no'
      default: return false
    }
  }

  /** Once for many changes, so that it is read out once. */
  #summariseSoon() {
    clearTimeout(this.#summary)
    this.#summary = setTimeout(() => this.#summarise(), 100)
  }

  #summarise() {
    const near = this.#cells.filter((cell) => cell.isNear)
    const parts = ['original', 'thumbnail', 'placeholder']
      .map((kind) => [near.filter((cell) => cell.kind === kind).length, kind])
      .filter(([number]) => number > 0)
      .map(([number, kind]) => count(number, kind))
    const text = parts.join(', ')
    if (this.#parts.sum.textContent !== text) this.#parts.sum.textContent = text
  }

  #explain(cell) {
    const { dialog, title, text } = this.#parts.why
    const resolution = cell.resolution
    if (!resolution) return
    title.textContent = cell.title
    const shown = cell.shown
    const rows = Object.entries(resolution.facts).map(([fact, { value, source }]) =>
      element('tr', {}, element('th', { scope: 'row' }, fact), element('td', {}, value), element('td', {}, source)),
    )
    text.replaceChildren(
      element('p', {}, `Decided: ${resolution.image}. ${resolution.why} `, element('span', { class: 'faint' }, `(${resolution.policy}, rule ${resolution.rule}, ${resolution.place})`)),
      element('p', {}, shown ? `Shown: ${shown.role}, ${size(shown.bytes)} from the ${shown.source} in ${Math.round(shown.milliseconds)} ms.` : 'Shown: the placeholder.'),
      resolution.url && element('p', { class: 'address' }, resolution.url),
      element('div', { class: 'scroll' }, element('table', { class: 'facts' },
        element('thead', {}, element('tr', {}, ...['fact', 'value', 'who says so'].map((head) => element('th', { scope: 'col' }, head)))),
        element('tbody', {}, ...rows))),
    )
    dialog.showModal()
  }
}
