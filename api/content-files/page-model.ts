/** An answer as the browsable page shows it: links that keep the query, a form of the filters, a numbered pager. */

import { STATUS_CODES } from 'node:http'
import type { Coded } from '../../query/content/listing-index.ts'
import { type Answer, indented, parsed } from './answer.ts'
import type { BrowsablePage, FilterField, FilterForm } from './browsable-page.ts'
import { filterNames } from './filters.ts'
import { allowedMethods, description, names, optionsAnswer } from './options.ts'
import { createPager } from './pager.ts'
import type { Paging } from './paging.ts'
import type { Query } from './query-string.ts'
import { listPath } from './requested-path.ts'

export interface Shown {
  kind: 'list' | 'file'
  method: string
  /** As it was sent. */
  url: string
  query: Query
  answer: Answer
  /** For the form of the filters; without it there is none. */
  choices: { units: readonly Coded[]; platforms: readonly Coded[] } | undefined
  /** Of an answer that is a part of the list. */
  part: { paging: Paging; count: number } | undefined
}

const jsonIndent = 4
const headers: BrowsablePage['headers'] = [
  ['Allow', allowedMethods.join(', ')],
  ['Content-Type', 'application/json'],
  ['Vary', 'Accept'],
]

export function createPage({ kind, method, url, query, answer, choices, part }: Shown): BrowsablePage {
  const [path = listPath] = url.split('?')
  const options = optionsAnswer(kind)
  return {
    title: names[kind],
    description,
    breadcrumb: kind === 'list' ? [here('list')] : [{ name: names.list, href: '../' }, here('file')],
    method,
    path: url,
    statusLine: statusLine(answer),
    headers,
    json: indented(answer, jsonIndent),
    get: {
      href: `?${query.write()}`,
      formats: (['json', 'api'] as const).map(name => ({ name, href: `?${query.write({ format: name })}` })),
    },
    options: {
      requestLine: `OPTIONS ${path}`,
      statusLine: statusLine(options),
      headers,
      json: indented(options, jsonIndent),
    },
    filters: kind === 'list' && choices !== undefined ? createForm(query, choices, answer) : undefined,
    pager: part && createPager(query, part.paging, part.count),
  }
}

function here(kind: keyof typeof names): BrowsablePage['breadcrumb'][number] {
  return { name: names[kind], href: undefined }
}

function statusLine({ status }: Answer): string {
  return `HTTP ${status} ${STATUS_CODES[status] ?? ''}`
}

const labels = {
  run_id: 'Run id',
  resource_id: 'Resource id',
  content_feature_type: 'Content feature type',
  edx_module_id: 'edX module id',
  offered_by: 'Offered by',
  platform: 'Platform',
} satisfies Record<(typeof filterNames)[number], string>

function createForm(query: Query, choices: NonNullable<Shown['choices']>, answer: Answer): FilterForm {
  const isFilter = (name: string) => (filterNames as readonly string[]).includes(name)
  const errors = answer.status === 400 ? (parsed(answer.json) as Record<string, unknown>) : {}
  const fields = filterNames.map((name): FilterField => {
    const [message] = Array.isArray(errors[name]) ? errors[name] : []
    const field = { name, label: labels[name], error: typeof message === 'string' ? message : undefined }
    const values = query.values(name)
    if (name === 'offered_by') return { ...field, ...choicesOf(choices.units, values) }
    if (name === 'platform') return { ...field, ...choicesOf(choices.platforms, values) }
    const kind = name === 'run_id' || name === 'resource_id' ? 'numbers' : 'texts'
    return { ...field, kind, values: values.filter(value => value.trim() !== '') }
  })
  // Another selection begins at its first file.
  return { action: '?', hidden: query.all.filter(({ name }) => name !== 'offset' && !isFilter(name)), fields }
}

function choicesOf(coded: readonly Coded[], values: readonly string[]) {
  const chosen = new Set(values.flatMap(value => value.split(',')))
  const choices = coded.map(({ code, name }) => ({ value: code, name, isChosen: chosen.has(code) }))
  return { kind: 'choices' as const, choices }
}
