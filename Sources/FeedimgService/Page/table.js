// The decision table. It highlights the rows that decided.

import { element } from './formatting.js'

export class DecisionTable {
  #table
  #rows = []
  #counts = []

  constructor(table) {
    this.#table = table
  }

  /** Draws the rules of a policy. */
  draw(policy) {
    const columns = [...new Set(policy.rules.flatMap((rule) => Object.keys(rule.when)))]
    const outcome = (rule, name) => rule[name] ?? defaults[name] ?? '–'
    const names = [...new Set(policy.rules.flatMap((rule) => Object.keys(rule)))].filter((name) => !['when', 'image'].includes(name))
    const outcomes = names.filter((name) => policy.rules.some((rule) => outcome(rule, name) !== (defaults[name] ?? '–')))
    const heads = ['rule', ...columns, '→ image', ...outcomes, 'decisions']
    this.#counts = policy.rules.map(() => element('td', { class: 'count' }))
    this.#rows = policy.rules.map((rule, index) => element('tr', {},
      element('th', { scope: 'row' }, String(index + 1)),
      ...columns.map((column) => element('td', {}, formatCondition(rule.when[column]))),
      element('td', { class: 'outcome' }, rule.image),
      ...outcomes.map((name) => element('td', {}, outcome(rule, name))),
      this.#counts[index],
    ))
    this.#table.replaceChildren(
      element('thead', {}, element('tr', {}, ...heads.map((head) => element('th', { scope: 'col' }, head)))),
      element('tbody', {}, ...this.#rows),
    )
  }

  /**
   * Highlights the rows that decided, and shows for how many images.
   *
   * Without images in the feed, `rules` has the rule for an image that is not cached.
   */
  highlight(rules, hasImages) {
    this.#rows.forEach((row, index) => {
      const count = rules.filter((rule) => rule === index + 1).length
      row.classList.toggle('decided', count > 0)
      this.#counts[index].textContent = count === 0 ? '' : hasImages ? String(count) : 'new images'
    })
  }
}

const defaults = { upgrade: 'never', priority: 'now' }

/** Formats a condition as in the Markdown table. */
function formatCondition(condition) {
  if (condition === undefined) return '–'
  if (Array.isArray(condition)) return condition.join(', ')
  if (typeof condition === 'object') return `not ${formatCondition(condition.not)}`
  return condition
}
