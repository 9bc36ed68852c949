/** What the browsable page is made of: its links, its form and what it shows of the answer. */

import { test } from 'tap'
import { answerOf } from '../../../api/content-files/answer.ts'
import { errorAnswer, invalidFilters, methodNotAllowed } from '../../../api/content-files/errors.ts'
import { createPage, type Shown } from '../../../api/content-files/page-model.ts'
import { Query } from '../../../api/content-files/query-string.ts'

const path = '/api/v1/contentfiles/'
const choices = {
  units: [
    { code: 'mitx', name: 'MITx' },
    { code: 'ocw', name: 'MIT OpenCourseWare' },
  ],
  platforms: [{ code: 'edx', name: 'edX' }],
}

function shown(query: string, more: Partial<Shown> = {}): Shown {
  return {
    kind: 'list',
    method: 'GET',
    url: `${path}${query === '' ? '' : `?${query}`}`,
    query: new Query(query),
    answer: answerOf(200, { count: 0 }),
    choices,
    part: undefined,
    ...more,
  }
}

const headers = [
  ['Allow', 'GET, HEAD, OPTIONS'],
  ['Content-Type', 'application/json'],
  ['Vary', 'Accept'],
]
const optionsJson = (name: string) =>
  JSON.stringify(
    {
      name,
      description: 'Viewset for ContentFiles',
      renders: ['application/json', 'text/html'],
      parses: ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data'],
    },
    null,
    4,
  )

test('the page of a list, whole', async t => {
  const query = 'offered_by=ocw,x&x=%2A&format=api&limit=2&offset=2&run_id=5&run_id=&edx_module_id=%3Cb%3E'
  const part = { paging: { limit: 2, offset: 2n }, count: 5 }
  const kept = 'edx_module_id=%3Cb%3E&format=FORMAT&limit=2&offered_by=ocw%2CxOFFSET&run_id=5&run_id=&x=%2A'
  const at = (offset: number, format = 'api') =>
    `?${kept.replace('FORMAT', format).replace('OFFSET', offset === 0 ? '' : `&offset=${offset}`)}`
  t.strictSame(createPage(shown(query, { part })), {
    title: 'Content File List',
    description: 'Viewset for ContentFiles',
    breadcrumb: [{ name: 'Content File List', href: undefined }],
    method: 'GET',
    path: `${path}?${query}`,
    statusLine: 'HTTP 200 OK',
    headers,
    json: '{\n    "count": 0\n}',
    get: {
      href: at(2),
      formats: [
        { name: 'json', href: at(2, 'json') },
        { name: 'api', href: at(2) },
      ],
    },
    options: {
      requestLine: `OPTIONS ${path}`,
      statusLine: 'HTTP 200 OK',
      headers,
      json: optionsJson('Content File List'),
    },
    filters: {
      action: '?',
      hidden: [
        { name: 'x', value: '*' },
        { name: 'format', value: 'api' },
        { name: 'limit', value: '2' },
      ],
      fields: [
        { name: 'run_id', label: 'Run id', error: undefined, kind: 'numbers', values: ['5'] },
        { name: 'resource_id', label: 'Resource id', error: undefined, kind: 'numbers', values: [] },
        { name: 'content_feature_type', label: 'Content feature type', error: undefined, kind: 'texts', values: [] },
        { name: 'edx_module_id', label: 'edX module id', error: undefined, kind: 'texts', values: ['<b>'] },
        {
          name: 'offered_by',
          label: 'Offered by',
          error: undefined,
          kind: 'choices',
          choices: [
            { value: 'mitx', name: 'MITx', isChosen: false },
            { value: 'ocw', name: 'MIT OpenCourseWare', isChosen: true },
          ],
        },
        {
          name: 'platform',
          label: 'Platform',
          error: undefined,
          kind: 'choices',
          choices: [{ value: 'edx', name: 'edX', isChosen: false }],
        },
      ],
    },
    pager: {
      previous: at(0),
      next: at(4),
      pages: [0, 2, 4].map((offset, i) => ({ number: i + 1, href: at(offset), isCurrent: offset === 2 })),
    },
  })
})

test('a file has no form and no pager, and a way up', async t => {
  const page = createPage(shown('', { kind: 'file', url: `${path}7/`, answer: errorAnswer('FILE_UNKNOWN') }))
  t.match(page, {
    title: 'Content File Instance',
    breadcrumb: [{ name: 'Content File List', href: '../' }, { name: 'Content File Instance' }],
    statusLine: 'HTTP 404 Not Found',
    options: { requestLine: `OPTIONS ${path}7/`, json: optionsJson('Content File Instance') },
  })
  t.equal(page.filters, undefined)
  t.equal(page.pager, undefined)
  t.strictSame(page.get, {
    href: '?',
    formats: [
      { name: 'json', href: '?format=json' },
      { name: 'api', href: '?format=api' },
    ],
  })
})

test('wrong filters are told beside their fields', async t => {
  const answer = invalidFilters({ run_id: ['Enter a number.'], platform: ['Select a valid choice.'] })
  const { filters, statusLine } = createPage(shown('run_id=x&platform=y', { answer }))
  t.equal(statusLine, 'HTTP 400 Bad Request')
  const errors = filters?.fields.flatMap(({ name, error }) => (error === undefined ? [] : [[name, error]]))
  t.strictSame(errors, [
    ['run_id', 'Enter a number.'],
    ['platform', 'Select a valid choice.'],
  ])
})

test('without the codes there is no form', async t => {
  const page = createPage(shown('', { method: 'POST', answer: methodNotAllowed('POST'), choices: undefined }))
  t.equal(page.filters, undefined)
  t.equal(page.method, 'POST')
  t.equal(page.statusLine, 'HTTP 405 Method Not Allowed')
})
