// One picture of the feed: what was chosen for it, why, and the picture.

import { Refusal, cachedImage, image } from './service.js'
import { element, name, size } from './words.js'

const rank = { placeholder: 0, thumbnail: 1, original: 2 }

export class Cell {
  /** In view, or about to be. */
  isNear = false
  isVisible = false
  resolution = null
  #item
  #shown = null
  #address = ''
  #loading = null
  #parts
  #tell

  /** `explain` is called when a person wants to know why, and `tell` when something else is shown. */
  constructor(item, explain, tell) {
    this.#item = item
    this.#tell = tell
    const picture = element('img', { alt: item.alt ?? '', decoding: 'async', hidden: true })
    const parts = {
      picture,
      frame: element('div', { class: 'frame' }, picture),
      badge: element('span', { class: 'badge' }),
      source: element('span', { class: 'source' }),
      bar: element('progress', { 'aria-label': `Loading ${this.title}`, max: 1, hidden: true }),
      reason: element('span', { class: 'reason' }),
      why: element('button', { type: 'button', class: 'why', 'aria-haspopup': 'dialog' }),
    }
    parts.frame.append(element('p', { class: 'labels' }, parts.badge, parts.source), parts.bar)
    parts.why.append(element('span', { class: 'title' }, this.title), parts.reason)
    parts.why.addEventListener('click', () => explain(this))
    const color = item.placeholder?.color
    if (/^#[0-9a-f]{6}$/i.test(color ?? '')) parts.frame.style.backgroundColor = color
    this.#parts = parts
    this.node = element('li', { class: 'cell' }, parts.frame, parts.why)
  }

  get item() {
    return this.#item
  }

  get title() {
    const item = this.#item
    const variant = item.variants?.[0]?.url
    return item.alt || item.id || name(item.originalImage ?? item.thumbnailImage ?? variant ?? '')
  }

  /** What the picture is, or would be. */
  get kind() {
    return this.#shown?.role ?? 'placeholder'
  }

  get shown() {
    return this.#shown
  }

  /** Takes a decision, and follows it where the picture is seen. */
  decide(resolution, query, isDue) {
    this.resolution = resolution
    const { image: wanted } = resolution
    if (this.#loading && this.#loading.wanted !== wanted) this.#stop()
    this.#describe()
    const isBetter = rank[wanted] > rank[this.kind]
    if (this.isNear && isBetter && !this.#loading && (!this.#shown || resolution.load === 'nothing' || isDue(this.#shown))) {
      this.#load(query)
    }
  }

  /** Shows how far a transfer of the picture has come. */
  follow(transfers) {
    const found = this.#loading && transfers.find((transfer) => transfer.url === this.resolution?.url)
    const { bar } = this.#parts
    if (found?.total) bar.value = found.received / found.total
    else bar.removeAttribute('value')
  }

  /** Lets go of the picture, which is far from view; it is cached. */
  release() {
    this.#stop()
    if (!this.#shown) return
    this.#shown = null
    this.#setPicture('')
    this.#describe()
  }

  async #load(query) {
    const stop = new AbortController()
    const { image: wanted, show, url } = this.resolution
    this.#loading = { wanted, stop }
    this.#parts.bar.hidden = false
    this.node.setAttribute('aria-busy', 'true')
    try {
      // What is cached is seen while the better one comes.
      if (show === 'thumbnail' && wanted === 'original' && !this.#shown) {
        await this.#show(await cachedImage(this.#only('thumbnail'), stop.signal), stop.signal)
      }
      await this.#show(await image(this.#item, query, stop.signal, this.isVisible ? 2 : 4), stop.signal)
      this.fault = ''
    } catch (error) {
      if (stop.signal.aborted) return
      // That there is only the placeholder is no fault.
      this.fault = error instanceof Refusal && error.kind.endsWith(':nothing-to-show') ? '' : `${name(url ?? '')}: ${error.message}`
    }
    if (this.#loading?.stop !== stop) return
    this.#loading = null
    this.#parts.bar.hidden = true
    this.node.removeAttribute('aria-busy')
    this.#describe()
  }

  async #show(found, signal) {
    signal.throwIfAborted()
    if (this.#shown && rank[found.role] < rank[this.#shown.role]) return
    const address = URL.createObjectURL(found.blob)
    const trial = new Image()
    trial.src = address
    try {
      await trial.decode()
      signal.throwIfAborted()
    } catch (error) {
      URL.revokeObjectURL(address)
      throw error
    }
    this.#shown = { role: found.role, source: found.source, bytes: found.blob.size, milliseconds: found.milliseconds, upgrade: this.resolution.upgrade }
    this.#setPicture(address)
    this.#describe()
  }

  #setPicture(address) {
    const { picture } = this.#parts
    if (this.#address) URL.revokeObjectURL(this.#address)
    this.#address = address
    picture.hidden = !address
    if (address) picture.src = address
    else picture.removeAttribute('src')
  }

  #stop() {
    this.#loading?.stop.abort()
    this.#loading = null
    this.#parts.bar.hidden = true
    this.node.removeAttribute('aria-busy')
  }

  #only(role) {
    const { variants, originalImage, thumbnailImage, ...rest } = this.#item
    if (variants) return { ...rest, variants: variants.filter((variant) => variant.role === role) }
    return role === 'original' ? { ...rest, originalImage } : { ...rest, thumbnailImage }
  }

  #describe() {
    const { badge, source, reason } = this.#parts
    const shown = this.#shown
    this.node.dataset.shown = this.kind
    badge.textContent = this.kind
    source.textContent = shown ? `${shown.source === 'cache' ? 'cache' : 'network'}, ${size(shown.bytes)}` : ''
    source.hidden = !shown
    const { rule, why } = this.resolution ?? {}
    reason.textContent = this.fault || (rule ? `rule ${rule}: ${why}` : '')
    reason.classList.toggle('fault', Boolean(this.fault))
    this.#tell()
  }
}
