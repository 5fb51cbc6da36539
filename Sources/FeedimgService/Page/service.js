// Requests to the service, with its token. The token stays in this tab.

const tokenKey = 'feedimg-token'

/** An error response, with the members of its problem document (RFC 9457). */
export class ServiceError extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `status ${status}`)
    this.status = status
    this.type = problem.type ?? ''
  }
}

/** Moves the token from the URL to the storage of the tab, so that no bookmark contains it. */
export function takeTokenFromURL() {
  const found = /^#token=([\x21-\x7e]+)$/.exec(location.hash)
  if (!found) return
  storeToken(found[1])
  history.replaceState(null, '', location.pathname)
}

/** Stores the token until the tab is closed. */
export function storeToken(token) {
  sessionStorage.setItem(tokenKey, token)
}

export function hasToken() {
  return sessionStorage.getItem(tokenKey) !== null
}

/** Sends a request. Throws a `ServiceError` for an error response. */
export async function send(target, options = {}) {
  const headers = new Headers(options.headers)
  const token = sessionStorage.getItem(tokenKey)
  if (token) headers.set('Authorization', `Bearer ${token}`)
  // `Cache-Control` of the responses keeps them out of the browser's cache. The cache mode `no-store` would add
  // `Cache-Control: no-cache` to the request, and the service would then fetch cached images again.
  const response = await fetch(target, { ...options, headers, redirect: 'error' })
  if (response.ok) return response
  throw new ServiceError(response.status, await response.json().catch(() => ({})))
}

/** Requests a JSON value. */
export async function getJSON(target) {
  return (await send(target)).json()
}

/** The longest body of a request that the service accepts, in bytes. */
const maximumBody = 1 << 20

/** The decisions about items, in their order. `query` has the simulated facts. */
export async function resolve(items, query) {
  const headers = { 'Content-Type': 'application/x-ndjson' }
  let text = ''
  for (const body of bodies(items)) {
    const response = await send(`/v1/resolve${query}`, { method: 'POST', headers, body })
    text += await response.text()
  }
  return text.trim().split('\n').map((line) => JSON.parse(line))
}

/** The items as JSON lines, in bodies that the service accepts. */
function bodies(items) {
  const bodies = []
  let length = maximumBody
  for (const item of items) {
    const line = `${JSON.stringify(item)}\n`
    const { size } = new Blob([line])
    length += size
    if (length > maximumBody) {
      bodies.push('')
      length = size
    }
    bodies[bodies.length - 1] += line
  }
  return bodies
}

/** Loads the image that the policy chooses for an item. */
export async function loadImage(item, query, signal, urgency = 3) {
  const start = performance.now()
  const headers = { 'Content-Type': 'application/json', Priority: `u=${urgency}` }
  const response = await send(`/v1/image${query}`, { method: 'POST', headers, signal, body: JSON.stringify(item) })
  const blob = await response.blob()
  const status = response.headers.get('Cache-Status') ?? ''
  return {
    blob,
    role: response.headers.get('Feedimg-Image') ?? 'original',
    source: status.includes('hit') ? 'cache' : 'network',
    milliseconds: performance.now() - start,
    query,
  }
}

/** Loads an image from the cache alone. */
export function loadCachedImage(item, signal) {
  return loadImage(item, '?network=offline&policy=default', signal, 5)
}

/**
 * Receives events until the page is closed. After an interruption it resumes with the next event.
 *
 * `EventSource` cannot send the token.
 */
export async function receiveEvents(onEvent, onConnectionChange) {
  let [last, delay] = ['', 1000]
  for (;;) {
    try {
      const response = await send('/v1/events', { headers: last ? { 'Last-Event-ID': last } : {} })
      onConnectionChange(true)
      delay = 1000
      for await (const event of events(response.body)) {
        last = event.id || last
        if (event.event) onEvent(event.event, JSON.parse(event.data))
      }
    } catch (error) {
      if (error instanceof ServiceError && error.status === 401) return location.reload()
    }
    onConnectionChange(false)
    await new Promise((done) => setTimeout(done, delay))
    delay = Math.min(delay * 2, 15000)
  }
}

/** The events of a stream (HTML Living Standard, server-sent events). */
async function* events(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader()
  let rest = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const blocks = (rest + value).split('\n\n')
    rest = blocks.pop()
    for (const block of blocks) yield parseEvent(block)
  }
}

function parseEvent(block) {
  const fields = { id: '', event: '', data: '' }
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '')
  }
  return fields
}
