// Connects the parts of the page with the events of the service.

import { Feed } from './feed.js'
import { CacheCard, drawDownloads, drawNetwork, drawUsage } from './overview.js'
import { ServiceError, getJSON, hasToken, receiveEvents, resolve, storeToken, takeTokenFromURL } from './service.js'
import { Simulation } from './simulation.js'
import { DecisionTable } from './table.js'

const byID = (id) => document.getElementById(id)
const itemsKey = 'feedimg-feed'

const table = new DecisionTable(byID('table'))
const simulation = new Simulation(byID('simulation-form'), simulationChanged)
const explanation = { dialog: byID('explanation'), title: byID('explanation-title'), text: byID('explanation-text') }
const feedParts = { list: byID('feed'), summary: byID('feed-summary'), error: byID('feed-error'), empty: byID('feed-empty'), explanation }
const feed = new Feed(feedParts, simulation, table)
const cacheCard = new CacheCard({ summary: byID('cache-summary'), limits: byID('cache-limits'), list: byID('cache') })
let [network, activePolicy, wasDownloading] = [null, 'default', false]

// On a narrow screen the simulation is closed, so that the images are visible.
const isNarrow = matchMedia('(max-width: 900px)')
byID('simulation').open = !isNarrow.matches
isNarrow.addEventListener('change', () => { byID('simulation').open = !isNarrow.matches })
start().catch(showError)

async function start() {
  takeTokenFromURL()
  byID('sign-in-form').addEventListener('submit', (event) => {
    event.preventDefault()
    storeToken(byID('token').value.trim())
    location.reload()
  })
  network = await getJSON('/v1/network')
  byID('content').hidden = false
  updateNetwork()
  drawDownloads(byID('downloads'), { transfers: [], count: 0 })
  await Promise.all([updatePolicy(), updateUsageAndCache()])
  await showInitialItems()
  receiveEvents(handleEvent, (isConnected) => {
    byID('connection').textContent = isConnected ? 'connected' : 'disconnected, retrying'
    byID('connection').classList.toggle('connected', isConnected)
    if (isConnected) feed.connected()
    if (isConnected && feed.isEmpty) showInitialItems()
  })
}

function showError(error) {
  if (!(error instanceof ServiceError) || error.status !== 401) {
    byID('connection').textContent = error.message
    return
  }
  byID('connection').textContent = 'not signed in'
  byID('sign-in').hidden = false
  byID('token').focus()
  if (hasToken()) byID('sign-in-error').textContent = 'This is not the token of the service.'
}

// Events.

function handleEvent(name, data) {
  if (name === 'network') {
    network = data
    updateNetwork()
  }
  if (name === 'policy') {
    activePolicy = data.policy
    updatePolicy().then(() => feed.updateSoon(), () => {})
  } else if (name === 'progress') {
    drawDownloads(byID('downloads'), data)
    feed.showProgress(data.transfers)
    // The service has stored and counted the images by now.
    if (wasDownloading && data.count === 0) updateUsageAndCache().then(downloadsEnded).catch(() => {})
    wasDownloading = data.count > 0
  } else if (name === 'upgrade') {
    feed.upgrade(data.url)
  } else {
    feed.updateSoon()
  }
}

async function downloadsEnded() {
  // An empty feed shows the images that other programs have loaded.
  if (feed.isEmpty) await showInitialItems()
  else feed.updateSoon()
}

async function simulationChanged() {
  updateNetwork()
  try {
    await updatePolicy()
    await feed.update()
  } catch (error) {
    byID('feed-summary').textContent = error.message
  }
}

function updateNetwork() {
  drawNetwork(byID('network'), network, simulation.facts)
}

async function updatePolicy() {
  const name = simulation.policy
  const query = name && `?name=${encodeURIComponent(name)}`
  const [list, policy] = await Promise.all([getJSON('/v1/policies'), getJSON(`/v1/policy${query}`)])
  if (name !== simulation.policy) return
  simulation.setPolicies(list, activePolicy)
  const entry = list.find((entry) => entry.policy === (name || activePolicy))
  byID('table-summary').textContent = [policy.policy, entry?.summary.split('. ')[0]].filter(Boolean).join(': ')
  table.draw(policy)
}

async function updateUsageAndCache() {
  const [usage, cache] = await Promise.all([getJSON('/v1/usage?days=30'), getJSON('/v1/cache?images=24')])
  drawUsage(byID('usage'), byID('usage-summary'), usage)
  cacheCard.draw(cache)
}

// Items.

/** Shows the first items, or the reason why they cannot be read. */
async function showInitialItems() {
  try {
    const items = await initialItems()
    byID('feed-error').textContent = ''
    await feed.setItems(items)
  } catch (error) {
    byID('feed-error').textContent = error.message
  }
}

/** The items that the user has opened, or else those of the service, or else the cached images. */
async function initialItems() {
  const stored = sessionStorage.getItem(itemsKey)
  if (stored) return JSON.parse(stored)
  const items = await getJSON('/v1/items')
  if (items.length) return items
  const { images } = await getJSON('/v1/cache?images=60')
  return images.map(({ role, url }) => ({ variants: [{ role, url }] }))
}

/** Parses items as JSON, in each form that the service accepts, or as URLs, one a line. */
function parseItems(text) {
  const trimmed = text.trim()
  if (/^[[{]/.test(trimmed)) {
    try {
      const value = JSON.parse(trimmed)
      return Array.isArray(value) ? value : [value]
    } catch {
      return lines(trimmed).map((line) => JSON.parse(line))
    }
  }
  return lines(trimmed).map((line) => ({ originalImage: new URL(line).href }))
}

const lines = (text) => text.split('\n').map((line) => line.trim()).filter(Boolean)

async function show(text) {
  const items = parseItems(text)
  if (!items.length) throw new Error('No items found. Enter items as JSON, or URLs.')
  // Reports an invalid item before the feed changes.
  await resolve(items, '')
  await feed.setItems(items)
  try {
    sessionStorage.setItem(itemsKey, JSON.stringify(items))
  } catch {
    // A feed beyond the quota of the storage is lost when the page is reloaded.
  }
}

const form = { dialog: byID('open'), text: byID('open-text'), file: byID('open-file'), error: byID('open-error') }
byID('open-button').addEventListener('click', () => {
  form.error.textContent = ''
  form.dialog.showModal()
})
byID('open-form').addEventListener('submit', (event) => {
  if (event.submitter?.value !== 'show') return
  event.preventDefault()
  const file = form.file.files[0]
  Promise.resolve(file ? file.text() : form.text.value).then(show).then(() => form.dialog.close(), (error) => {
    form.error.textContent = error.message
  })
})
byID('open-reset').addEventListener('click', async () => {
  sessionStorage.removeItem(itemsKey)
  form.dialog.close()
  feed.setItems([]).catch(() => {})
  await showInitialItems()
})
addEventListener('dragover', (event) => event.preventDefault())
addEventListener('drop', async (event) => {
  event.preventDefault()
  const file = event.dataTransfer.files[0]
  const text = file ? await file.text() : event.dataTransfer.getData('text/plain')
  show(text).catch((error) => {
    form.text.value = file ? '' : text
    form.error.textContent = error.message
    form.dialog.showModal()
  })
})
