// The situation that the page asks about in place of the present one; it is kept nowhere else.

import { element } from './words.js'

const switches = [
  {
    name: 'network', title: 'Network',
    choices: [['', 'as it is'], ['wifi', 'Wi-Fi'], ['ethernet', 'Ethernet'], ['cellular', 'cellular'], ['other', 'other'], ['offline', 'offline']],
  },
  { name: 'metered', title: 'Data costs', choices: [['', 'as it is'], ['yes', 'yes'], ['no', 'no'], ['unknown', 'unknown']] },
  { name: 'always original', title: 'Always load originals on cellular', choices: [['', 'as set'], ['yes', 'yes'], ['no', 'no']] },
  { name: 'data saver', title: 'Save data', choices: [['', 'as set'], ['on', 'on'], ['off', 'off']] },
]

export class Situation {
  #form
  #tell

  constructor(form, tell) {
    this.#form = form
    this.#tell = tell
    form.append(...switches.map(group), policies(), element('button', { type: 'reset' }, 'As it is'))
    form.addEventListener('change', () => this.#changed())
    // The form is reset after the event.
    form.addEventListener('reset', () => setTimeout(() => this.#changed()))
    form.addEventListener('submit', (event) => event.preventDefault())
    this.#mark()
  }

  /** Fills the list of policies; `inForce` decides unless another is chosen. */
  setPolicies(list, inForce) {
    const select = this.#form.elements.policy
    const chosen = select.value
    select.replaceChildren(
      element('option', { value: '' }, `${inForce} (in force)`),
      ...list.filter((entry) => entry.rules).map((entry) => element('option', { value: entry.policy }, entry.policy)),
    )
    select.value = list.some((entry) => entry.policy === chosen) ? chosen : ''
  }

  /** What was chosen by hand, as pairs of a fact and its value. */
  get given() {
    return switches.map(({ name }) => [name, this.#form.elements[name].value]).filter(([, value]) => value)
  }

  /** The name of the policy that was chosen; empty for the one in force. */
  get policy() {
    return this.#form.elements.policy.value
  }

  /** The same as the query of a request; empty where nothing is chosen. */
  get query() {
    const query = new URLSearchParams()
    for (const [name, value] of this.given) {
      if (name === 'network' || name === 'metered') query.append(name, value)
      else query.append('set', `${name.replace(' ', '-')}=${value}`)
    }
    if (this.policy) query.append('policy', this.policy)
    const text = query.toString()
    return text && `?${text}`
  }

  #changed() {
    this.#mark()
    this.#tell()
  }

  #mark() {
    this.#form.classList.toggle('given', Boolean(this.query))
  }
}

function group({ name, title, choices }) {
  const options = choices.map(([value, text], index) =>
    element('label', {}, element('input', { type: 'radio', name, value, checked: index === 0 }), element('span', {}, text)),
  )
  return element('fieldset', {}, element('legend', {}, title), element('div', { class: 'choices' }, ...options))
}

function policies() {
  return element('p', { class: 'field' }, element('label', { for: 'policy' }, 'Policy'), element('select', { id: 'policy', name: 'policy' }))
}
