/** Builds the model of the browsable page: links that keep the query, a form of the filters, a numbered pager. */

import { STATUS_CODES } from 'node:http'
import type { Coded } from '../../query/content/listing-index.ts'
import { type Answer, indented, parsed } from './answer.ts'
import type { BrowsablePage, FilterField, FilterForm, Pager } from './browsable-page.ts'
import { filterNames } from './filters.ts'
import { allowedMethods, description, names, optionsAnswer } from './options.ts'
import { type Paging, type Query, queryAt } from './query-string.ts'
import { listPath } from './requested-path.ts'

export interface Shown {
  kind: 'list' | 'file'
  method: string
  /** Address as it was sent. */
  url: string
  query: Query
  answer: Answer
  /** Choices of the filter form. Without them, the page has no form. */
  choices: { units: readonly Coded[]; platforms: readonly Coded[] } | undefined
  /** Present if the answer is a part of the list. */
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
  // A new selection begins at its first file.
  return { action: '?', hidden: query.all.filter(({ name }) => name !== 'offset' && !isFilter(name)), fields }
}

function choicesOf(coded: readonly Coded[], values: readonly string[]) {
  const chosen = new Set(values.flatMap(value => value.split(',')))
  const choices = coded.map(({ code, name }) => ({ value: code, name, isChosen: chosen.has(code) }))
  return { kind: 'choices' as const, choices }
}

/** Undefined if one page shows all files. */
export function createPager(query: Query, { limit, offset }: Paging, count: number): Pager | undefined {
  if (offset === 0n && count <= limit) return undefined
  const size = BigInt(limit)
  // An offset between two multiples of the limit adds a page. An offset beyond the end is shown at the end.
  const isPast = offset >= count
  const before = isPast ? Math.max(Math.ceil(count / limit) - 1, 0) : Math.ceil(Number(offset) / limit)
  const last = isPast ? before + 1 : before + Math.ceil((count - Number(offset)) / limit)
  const current = before + 1
  const href = (at: bigint) => `?${queryAt(query, limit, at)}`
  const offsetOf = (page: number) => (isPast ? BigInt(page - 1) * size : offset + BigInt(page - current) * size)
  return {
    previous: offset === 0n ? undefined : href(offset - size),
    next: offset + size >= count ? undefined : href(offset + size),
    pages: shownPages(current, last).map(page => {
      return page === 'gap'
        ? page
        : { number: page, href: href(page === 1 ? 0n : offsetOf(page)), isCurrent: page === current && !isPast }
    }),
  }
}

/** Shows the first, the last and the current page with its neighbours. Near an end it fills the gap. */
function shownPages(current: number, last: number): (number | 'gap')[] {
  const shown = new Set([1, current - 1, current, current + 1, last])
  if (current <= 4 || last <= 5) shown.add(2).add(3)
  if (current >= last - 3 || last <= 5) shown.add(last - 2).add(last - 1)
  const pages = [...shown].filter(page => page >= 1 && page <= last).sort((a, b) => a - b)
  return pages.flatMap((page, i) => (page - (pages[i - 1] ?? 0) > 1 ? ['gap' as const, page] : [page]))
}
