// Puts the page together, and keeps it as the service is.

import { Feed } from './feed.js'
import { Shelf, drawNetwork, drawTransfers, drawUsage } from './overview.js'
import { Refusal, follow, keepToken, resolve, takeToken, value } from './service.js'
import { Situation } from './situation.js'
import { DecisionTable } from './table.js'

const part = (id) => document.getElementById(id)
const feedName = 'feedimg-feed'

const table = new DecisionTable(part('table'))
const situation = new Situation(part('situation'), changed)
const feed = new Feed(
  { list: part('feed'), sum: part('feed-sum'), empty: part('feed-empty'), why: { dialog: part('why'), title: part('why-title'), text: part('why-text') } },
  situation, table, () => {},
)
const shelf = new Shelf({ sum: part('cache-sum'), bars: part('cache-parts'), list: part('cache') })
let [network, simulated, inForce, wasBusy] = [null, null, 'default', false]

// On a phone the pictures come first.
const isNarrow = matchMedia('(max-width: 900px)')
part('what-if').open = !isNarrow.matches
isNarrow.addEventListener('change', () => { part('what-if').open = !isNarrow.matches })
start().catch(refused)

async function start() {
  takeToken()
  part('door-form').addEventListener('submit', (event) => {
    event.preventDefault()
    keepToken(part('token').value.trim())
    location.reload()
  })
  network = await value('/v1/network')
  simulated = network.simulated
  part('house').hidden = false
  drawNetwork(part('network'), network, simulated, situation.given)
  drawTransfers(part('transfers'), { transfers: [], count: 0 })
  await drawPolicy()
  await Promise.all([feed.setItems(await firstItems()), refresh()])
  follow(happened, (isThere) => {
    part('connection').textContent = isThere ? 'connected' : 'no answer, trying again'
    part('connection').classList.toggle('there', isThere)
    if (isThere) feed.updateSoon()
  })
}

function refused(error) {
  if (!(error instanceof Refusal) || error.status !== 401) {
    part('connection').textContent = error.message
    return
  }
  part('connection').textContent = 'locked'
  part('door').hidden = false
  part('token').focus()
  if (sessionStorage.getItem('feedimg-token')) part('door-word').textContent = 'That is not the token of this service.'
}

// What happens.

function happened(kind, data) {
  if (kind === 'network') {
    network = data
    drawNetwork(part('network'), network, simulated, situation.given)
  }
  if (kind === 'policy') {
    inForce = data.policy
    drawPolicy().then(() => feed.updateSoon(), () => {})
  } else if (kind === 'progress') {
    drawTransfers(part('transfers'), data)
    feed.follow(data.transfers)
    // What came is kept and counted by now.
    if (wasBusy && data.count === 0) refresh().then(settled, () => {})
    wasBusy = data.count > 0
  } else {
    feed.updateSoon()
  }
}

async function settled() {
  // What other programs load is something to show.
  if (feed.cells.length) feed.updateSoon()
  else await feed.setItems(await firstItems())
}

async function changed() {
  drawNetwork(part('network'), network, simulated, situation.given)
  try {
    await drawPolicy()
    await feed.update()
  } catch (error) {
    part('feed-sum').textContent = error.message
  }
}

async function drawPolicy() {
  const name = situation.policy
  const [list, policy] = await Promise.all([value('/v1/policies'), value(`/v1/policy${name && `?name=${encodeURIComponent(name)}`}`)])
  if (name !== situation.policy) return
  situation.setPolicies(list, inForce)
  const entry = list.find((entry) => entry.policy === (name || inForce))
  part('table-name').textContent = [policy.policy, entry?.summary.split('. ')[0]].filter(Boolean).join(': ')
  table.draw(policy)
}

async function refresh() {
  const [usage, cache] = await Promise.all([value('/v1/usage?days=30'), value('/v1/cache?images=24')])
  drawUsage(part('usage'), part('usage-sum'), usage)
  shelf.draw(cache)
}

// Which pictures.

async function firstItems() {
  const kept = sessionStorage.getItem(feedName)
  if (kept) return JSON.parse(kept)
  const items = await value('/v1/items')
  if (items.length) return items
  const { images } = await value('/v1/cache?images=60')
  return images.map(({ role, url }) => ({ variants: [{ role, url }] }))
}

/** The items of a text: JSON of any form that the service takes, or addresses, one a line. */
function items(text) {
  const trimmed = text.trim()
  if (/^[[{]/.test(trimmed)) {
    try {
      const whole = JSON.parse(trimmed)
      return Array.isArray(whole) ? whole : [whole]
    } catch {
      return lines(trimmed).map((line) => JSON.parse(line))
    }
  }
  return lines(trimmed).map((line) => ({ originalImage: new URL(line).href }))
}

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean)

async function show(text) {
  const found = items(text)
  if (!found.length) throw new Error('There is nothing in it.')
  // What is wrong with it is told while the others still stand.
  await resolve(found, '')
  await feed.setItems(found)
  try {
    sessionStorage.setItem(feedName, JSON.stringify(found))
  } catch {
    // A long feed is there until the page is left.
  }
}

const form = { dialog: part('open'), text: part('open-text'), file: part('open-file'), word: part('open-word') }
part('feed-open').addEventListener('click', () => {
  form.word.textContent = ''
  form.dialog.showModal()
})
part('open-form').addEventListener('submit', (event) => {
  if (event.submitter?.value !== 'show') return
  event.preventDefault()
  const file = form.file.files[0]
  Promise.resolve(file ? file.text() : form.text.value).then(show).then(() => form.dialog.close(), (error) => {
    form.word.textContent = error.message
  })
})
part('open-reset').addEventListener('click', async () => {
  sessionStorage.removeItem(feedName)
  form.dialog.close()
  await feed.setItems(await firstItems())
})
addEventListener('dragover', (event) => event.preventDefault())
addEventListener('drop', async (event) => {
  event.preventDefault()
  const file = event.dataTransfer.files[0]
  const text = file ? await file.text() : event.dataTransfer.getData('text/plain')
  show(text).catch((error) => {
    form.text.value = file ? '' : text
    form.word.textContent = error.message
    form.dialog.showModal()
  })
})
