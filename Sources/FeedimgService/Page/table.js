// The table that decides, with the rows lit that did.

import { element } from './words.js'

export class DecisionTable {
  #table
  #rows = []
  #marks = []
  #rules = []

  constructor(table) {
    this.#table = table
  }

  /** Whether any rule says when a picture is to be had better. */
  get namesUpgradeEvents() {
    return this.#rules.some((rule) => rule.upgrade !== 'never')
  }

  /** Draws the rules of a policy in its machine form. */
  draw(policy) {
    this.#rules = policy.rules
    const columns = [...new Set(policy.rules.flatMap((rule) => Object.keys(rule.when)))]
    const said = (rule, name) => rule[name] ?? standard[name]
    const outcomes = ['upgrade', 'priority'].filter((name) => policy.rules.some((rule) => said(rule, name) !== standard[name]))
    const heads = [...columns, '→ image', ...outcomes, 'pictures']
    this.#marks = policy.rules.map(() => element('td', { class: 'mark' }))
    this.#rows = policy.rules.map((rule, index) => element('tr', {},
      element('th', { scope: 'row' }, String(index + 1)),
      ...columns.map((column) => element('td', {}, cell(rule.when[column]))),
      element('td', { class: 'outcome' }, rule.image),
      ...outcomes.map((name) => element('td', {}, said(rule, name))),
      this.#marks[index],
    ))
    this.#table.replaceChildren(
      element('thead', {}, element('tr', {}, element('th', { scope: 'col' }, 'rule'), ...heads.map((head) => element('th', { scope: 'col' }, head)))),
      element('tbody', {}, ...this.#rows),
    )
  }

  /** Lights the rows that decided; `counts` says whether about pictures that are there. */
  light(rules, counts) {
    this.#rows.forEach((row, index) => {
      const number = rules.filter((rule) => rule === index + 1).length
      row.classList.toggle('lit', number > 0)
      this.#marks[index].textContent = number === 0 ? '' : counts ? String(number) : 'a new one'
    })
  }
}

const standard = { upgrade: 'never', priority: 'now' }

/** A condition in the words of the table. */
function cell(condition) {
  if (condition === undefined) return '–'
  if (Array.isArray(condition)) return condition.join(', ')
  if (typeof condition === 'object') return `not ${cell(condition.not)}`
  return condition
}
