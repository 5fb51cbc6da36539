// The service, as the page asks it: with the token of this tab, which no other site and no other port can see.

const tokenName = 'feedimg-token'

/** A refusal, in the words of the problem document. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail ?? `status ${status}`)
    this.status = status
    this.kind = problem.type ?? ''
    this.resolution = problem.resolution
  }
}

/** Takes the token out of the address, so that it is neither seen nor kept in a bookmark. */
export function takeToken() {
  const found = /^#token=([\x21-\x7e]+)$/.exec(location.hash)
  if (!found) return
  keepToken(found[1])
  history.replaceState(null, '', location.pathname)
}

/** Keeps the token for as long as the tab is open. */
export function keepToken(token) {
  sessionStorage.setItem(tokenName, token)
}

/** Asks; what is refused is thrown as a `Refusal`. */
export async function ask(target, options = {}) {
  const headers = new Headers(options.headers)
  const token = sessionStorage.getItem(tokenName)
  if (token) headers.set('Authorization', `Bearer ${token}`)
  // The responses themselves forbid the browser to keep them. The cache mode `no-store` would make it send
  // `Cache-Control: no-cache`, and the service would then reload cached images.
  const answer = await fetch(target, { ...options, headers, redirect: 'error' })
  if (answer.ok) return answer
  throw new Refusal(answer.status, await answer.json().catch(() => ({})))
}

/** Asks for a JSON value. */
export async function value(target, options) {
  return (await ask(target, options)).json()
}

/** What is decided about items, in order; `query` gives another situation. */
export async function resolve(items, query) {
  const lines = items.map((item) => JSON.stringify(item)).join('\n')
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const answer = await ask(`/v1/resolve${query}`, { method: 'POST', headers, body: lines })
  return (await answer.text()).trim().split('\n').map((line) => JSON.parse(line))
}

/** The image of an item, with what was done to get it. */
export async function image(item, query, signal, urgency = 3) {
  const start = performance.now()
  const headers = { 'Content-Type': 'application/json', Priority: `u=${urgency}` }
  const answer = await ask(`/v1/image${query}`, { method: 'POST', headers, signal, body: JSON.stringify(item) })
  const blob = await answer.blob()
  const status = answer.headers.get('Cache-Status') ?? ''
  return {
    blob,
    role: answer.headers.get('Feedimg-Image') ?? 'original',
    source: status.includes('hit') ? 'cache' : 'network',
    milliseconds: performance.now() - start,
  }
}

/** An image that is cached, whatever the network. */
export function cachedImage(item, signal) {
  return image(item, '?network=offline&policy=default', signal, 5)
}

/**
 * Tells of events for as long as the page is open, and goes on where it was after a break.
 *
 * Not by `EventSource`, which cannot bring a token.
 */
export async function follow(tell, tellState) {
  let [last, pause] = ['', 1000]
  for (;;) {
    try {
      const answer = await ask('/v1/events', { headers: last ? { 'Last-Event-ID': last } : {} })
      tellState(true)
      pause = 1000
      for await (const event of events(answer.body)) {
        last = event.id || last
        if (event.event) tell(event.event, JSON.parse(event.data))
      }
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return location.reload()
    }
    tellState(false)
    await new Promise((done) => setTimeout(done, pause))
    pause = Math.min(pause * 2, 15000)
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
    for (const block of blocks) yield event(block)
  }
}

function event(block) {
  const fields = { id: '', event: '', data: '' }
  for (const line of block.split('\n')) {
    const colon = line.indexOf(':')
    if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 1).replace(/^ /, '')
  }
  return fields
}
