// The facts and the policy that the user simulates. They apply to this page only.

import { element } from './formatting.js'

const facts = [
  {
    name: 'network', title: 'Network',
    choices: [['', 'actual'], ['wifi', 'Wi-Fi'], ['ethernet', 'Ethernet'], ['cellular', 'cellular'], ['other', 'other'], ['offline', 'offline']],
  },
  { name: 'metered', title: 'Metered', choices: [['', 'actual'], ['yes', 'yes'], ['no', 'no'], ['unknown', 'unknown']] },
  { name: 'always original', title: 'Always load originals on cellular', choices: [['', 'as in settings'], ['yes', 'yes'], ['no', 'no']] },
  { name: 'data saver', title: 'Data saver', choices: [['', 'as in settings'], ['on', 'on'], ['off', 'off']] },
]

export class Simulation {
  #form
  #onChange

  constructor(form, onChange) {
    this.#form = form
    this.#onChange = onChange
    form.append(...facts.map(choiceGroup), policyMenu(), element('button', { type: 'reset' }, 'Reset'))
    form.addEventListener('change', () => this.#changed())
    // The browser resets the form after the event.
    form.addEventListener('reset', () => setTimeout(() => this.#changed()))
    form.addEventListener('submit', (event) => event.preventDefault())
    this.#showState()
  }

  /** Fills the menu of policies. `active` is the policy of the service. */
  setPolicies(list, active) {
    const menu = this.#form.elements.policy
    const chosen = menu.value
    menu.replaceChildren(
      element('option', { value: '' }, `${active} (active)`),
      ...list.filter((entry) => entry.rules).map((entry) => element('option', { value: entry.policy }, entry.policy)),
    )
    menu.value = list.some((entry) => entry.policy === chosen) ? chosen : ''
  }

  /** The simulated facts, as pairs of a name and a value. */
  get facts() {
    return facts.map(({ name }) => [name, this.#form.elements[name].value]).filter(([, value]) => value)
  }

  /** The name of the simulated policy; empty for the active one. */
  get policy() {
    return this.#form.elements.policy.value
  }

  /** The query of a request with these facts and this policy; empty without a simulation. */
  get query() {
    const query = new URLSearchParams()
    for (const [name, value] of this.facts) {
      if (name === 'network' || name === 'metered') query.append(name, value)
      else query.append('set', `${name.replace(' ', '-')}=${value}`)
    }
    if (this.policy) query.append('policy', this.policy)
    const text = query.toString()
    return text && `?${text}`
  }

  #changed() {
    this.#showState()
    this.#onChange()
  }

  #showState() {
    this.#form.classList.toggle('active', Boolean(this.query))
  }
}

function choiceGroup({ name, title, choices }) {
  const options = choices.map(([value, text], index) =>
    element('label', {}, element('input', { type: 'radio', name, value, checked: index === 0 }), element('span', {}, text)),
  )
  return element('fieldset', {}, element('legend', {}, title), element('div', { class: 'choices' }, ...options))
}

function policyMenu() {
  return element('p', { class: 'field' }, element('label', { for: 'policy' }, 'Policy'), element('select', { id: 'policy', name: 'policy' }))
}
