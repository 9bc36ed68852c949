/** The form of the filters: choices to tick, and one field a value with room for another. */

import { type Html, html } from '../../http/html.ts'
import type { Choice, FilterField, FilterForm } from '../browsable-page.ts'

type ValuesField = Extract<FilterField, { values: unknown }>

export function filterForm({ action, hidden, fields }: FilterForm): Html {
  const kept = hidden.map(({ name, value }) => html`<input type="hidden" name="${name}" value="${value}">\n`)
  return html`<form id="filter" method="get" action="${action}">
${kept}${fields.map(fieldset)}</form>
<form id="clear" method="get" action="${action}">
${kept}</form>
<p class="buttons"><button class="button" form="clear">Clear all</button>
<button class="button strong" form="filter">Apply</button></p>`
}

/** How many values narrow the list now. */
export function filtersCount({ fields }: FilterForm): number {
  const counts = fields.map(field =>
    field.kind === 'choices'
      ? field.choices.filter(choice => choice.isChosen).length
      : field.values.filter(value => value !== '').length,
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

export const hasErrors = ({ fields }: FilterForm): boolean => fields.some(field => field.error !== undefined)

function fieldset(field: FilterField): Html {
  const { name, label, error } = field
  const errorId = `${name}-error`
  return html`<fieldset${error === undefined ? undefined : html` class="wrong" aria-describedby="${errorId}"`}>
<legend>${label} <code>${name}</code></legend>
${error === undefined ? undefined : html`<p class="error" id="${errorId}">${error}</p>\n`}<div class="${field.kind}">
${field.kind === 'choices' ? field.choices.map(choice => checkbox(name, choice)) : inputs(field)}</div></fieldset>
`
}

function checkbox(name: string, { value, name: title, isChosen }: Choice): Html {
  const checked = isChosen ? html` checked` : undefined
  return html`<label><input type="checkbox" name="${name}" value="${value}"${checked}> ${title}</label>\n`
}

function inputs({ kind, name, label, values, error }: ValuesField): Html[] {
  const inputMode = kind === 'numbers' ? html` inputmode="numeric"` : undefined
  const invalid = error === undefined ? undefined : html` aria-invalid="true"`
  return [...values.filter(value => value !== ''), ''].map((value, index) => {
    const more = index > 0 && value === '' ? html` placeholder="or another"` : undefined
    const title = `${label} ${index + 1}`
    const attributes = html`${inputMode}${invalid}${more}`
    return html`<input type="text" name="${name}" value="${value}" aria-label="${title}"${attributes}>\n`
  })
}
