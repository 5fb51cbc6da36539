// One item of the feed: its image and the decision about it.

import { element, fileName, formatSize } from './formatting.js'
import { ServiceError, loadCachedImage, loadImage } from './service.js'

const rank = { placeholder: 0, thumbnail: 1, original: 2 }

export class Cell {
  /** Whether the cell is visible or close to the visible part. */
  isNear = false
  isVisible = false
  resolution = null
  #item
  #shown = null
  #error = ''
  #objectURL = ''
  #loading = null
  #parts
  #onChange

  /** Calls `onExplain` when the user clicks the description, and `onChange` when the shown image changes. */
  constructor(item, onExplain, onChange) {
    this.#item = item
    this.#onChange = onChange
    const picture = element('img', { alt: item.alt ?? '', decoding: 'async', hidden: true })
    const parts = {
      picture,
      frame: element('div', { class: 'frame' }, picture),
      badge: element('span', { class: 'badge' }),
      source: element('span', { class: 'source' }),
      bar: element('progress', { 'aria-label': `Loading ${this.title}`, max: 1, hidden: true }),
      reason: element('span', { class: 'reason' }),
      description: element('button', { type: 'button', class: 'description', 'aria-haspopup': 'dialog' }),
    }
    parts.frame.append(element('p', { class: 'labels' }, parts.badge, parts.source), parts.bar)
    parts.description.append(element('span', { class: 'title' }, this.title), parts.reason)
    parts.description.addEventListener('click', () => onExplain(this))
    const color = item.placeholder?.color
    if (/^#[0-9a-f]{6}$/i.test(color ?? '')) parts.frame.style.backgroundColor = color
    this.#parts = parts
    this.node = element('li', { class: 'cell' }, parts.frame, parts.description)
  }

  get item() {
    return this.#item
  }

  get title() {
    const item = this.#item
    const variant = item.variants?.[0]?.url
    return item.alt || item.id || fileName(item.originalImage ?? item.thumbnailImage ?? variant ?? '')
  }

  /** The role of the shown image, or `placeholder`. */
  get role() {
    return this.#shown?.role ?? 'placeholder'
  }

  get shown() {
    return this.#shown
  }

  /**
   * Stores a decision, and loads the image if the cell is near and the image is better.
   *
   * `isDue` tells whether the service has reported the better image. An image of another simulation is replaced at once.
   */
  setResolution(resolution, query, isDue) {
    this.resolution = resolution
    if (this.#loading && this.#loading.role !== resolution.image) this.#cancel()
    this.#describe()
    if (!this.isNear || this.#loading || rank[resolution.image] <= rank[this.role]) return
    if (isDue || resolution.load === 'nothing' || this.#shown?.query !== query) this.#load(query)
  }

  /** Shows the progress of the download of this image. */
  showProgress(transfers) {
    const found = this.#loading && transfers.find((transfer) => transfer.url === this.resolution?.url)
    const { bar } = this.#parts
    if (found?.total) bar.value = found.received / found.total
    else bar.removeAttribute('value')
  }

  /** Frees the memory of the image. The service still has it in its cache. */
  release() {
    this.#cancel()
    if (!this.#shown) return
    this.#shown = null
    this.#setPicture('')
    this.#describe()
  }

  async #load(query) {
    const controller = new AbortController()
    const { signal } = controller
    const { image: role, show, url } = this.resolution
    this.#loading = { role, controller }
    this.#parts.bar.hidden = false
    this.node.setAttribute('aria-busy', 'true')
    try {
      // Show the cached thumbnail while the original loads. If that fails, the original loads all the same.
      if (show === 'thumbnail' && role === 'original' && !this.#shown) {
        await loadCachedImage(this.#thumbnailItem, signal).then((image) => this.#show(image, signal)).catch(() => {})
      }
      await this.#show(await loadImage(this.#item, query, signal, this.isVisible ? 2 : 4), signal)
      this.#error = ''
    } catch (error) {
      if (signal.aborted) return
      // If only the placeholder can be shown, that is not an error.
      const isPlaceholder = error instanceof ServiceError && error.type.endsWith(':nothing-to-show')
      this.#error = isPlaceholder ? '' : `${fileName(url ?? '')}: ${error.message}`
    }
    if (this.#loading?.controller !== controller) return
    this.#endLoading()
    this.#describe()
  }

  async #show(image, signal) {
    signal.throwIfAborted()
    if (this.#shown && rank[image.role] < rank[this.#shown.role]) return
    const objectURL = URL.createObjectURL(image.blob)
    const decoded = new Image()
    decoded.src = objectURL
    try {
      await decoded.decode()
      signal.throwIfAborted()
    } catch (error) {
      URL.revokeObjectURL(objectURL)
      throw error
    }
    const { role, source, blob, milliseconds, query } = image
    this.#shown = { role, source, bytes: blob.size, milliseconds, query }
    this.#setPicture(objectURL)
    this.#describe()
  }

  #setPicture(objectURL) {
    const { picture } = this.#parts
    if (this.#objectURL) URL.revokeObjectURL(this.#objectURL)
    this.#objectURL = objectURL
    picture.hidden = !objectURL
    if (objectURL) picture.src = objectURL
    else picture.removeAttribute('src')
  }

  #cancel() {
    this.#loading?.controller.abort()
    this.#endLoading()
  }

  #endLoading() {
    this.#loading = null
    this.#parts.bar.hidden = true
    this.node.removeAttribute('aria-busy')
  }

  /** The item without its original. An empty list of variants counts as absent. */
  get #thumbnailItem() {
    const { variants, originalImage, ...rest } = this.#item
    return { ...rest, variants: variants?.filter(({ role }) => role === 'thumbnail') }
  }

  #describe() {
    const { badge, source, reason } = this.#parts
    const shown = this.#shown
    this.node.dataset.shown = this.role
    badge.textContent = this.role
    source.textContent = shown ? `${shown.source}, ${formatSize(shown.bytes)}` : ''
    source.hidden = !shown
    const { rule, why } = this.resolution ?? {}
    reason.textContent = this.#error || (rule ? `rule ${rule}: ${why}` : '')
    reason.classList.toggle('error', Boolean(this.#error))
    this.#onChange()
  }
}
