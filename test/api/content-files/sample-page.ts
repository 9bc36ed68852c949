/** Browsable pages as made by the service, for the tests of their HTML and display. */

import type { BrowsablePage } from '../../../api/content-files/browsable-page.ts'

const headers = [
  ['Allow', 'GET, HEAD, OPTIONS'],
  ['Content-Type', 'application/json'],
  ['Vary', 'Accept'],
] as const

const origin = 'http://127.0.0.1:8080'
const path = '/api/v1/contentfiles/'
const indented = (value: unknown) => JSON.stringify(value, null, 4)

function at(page: number): string {
  return `?format=api&limit=10${page === 1 ? '' : `&offset=${(page - 1) * 10}`}`
}

const file = {
  id: 17400769,
  run_title: 'Fundamentals of Manufacturing Processes',
  departments: [{ department_id: '21M', school: { id: 5, name: 'School', url: 'https://school.example.edu/' } }],
  key: 'asset-v1:MITx+2.008x+1T2022+type@asset+block@4f0c2b7a-7a9e-4a8e-9d6f-5b0b5a0e1f4c-en.srt',
  title: '<script>alert(1)</script><b>bold</b> & "quotes"',
  description: 'A line that wraps on a phone, and once more, because it says a little more than it would have to say.',
  content_feature_type: [],
  require_summaries: false,
}

export const listPage: BrowsablePage = {
  title: 'Content File List',
  description: 'Viewset for ContentFiles',
  breadcrumb: [{ name: 'Content File List', href: undefined }],
  method: 'GET',
  path: `${path}${at(7)}`,
  statusLine: 'HTTP 200 OK',
  headers,
  json: indented({
    count: 550000,
    next: `${origin}${path}${at(8)}`,
    previous: `${origin}${path}${at(6)}`,
    results: [file],
  }),
  get: {
    href: at(7),
    formats: [
      { name: 'json', href: '?format=json&limit=10&offset=60' },
      { name: 'api', href: at(7) },
    ],
  },
  options: {
    requestLine: `OPTIONS ${path}`,
    statusLine: 'HTTP 200 OK',
    headers,
    json: indented({ name: 'Content File List', renders: ['application/json', 'text/html'] }),
  },
  filters: {
    action: path,
    hidden: [
      { name: 'format', value: 'api' },
      { name: 'limit', value: '10' },
    ],
    fields: [
      {
        kind: 'choices',
        name: 'offered_by',
        label: 'Offered by',
        choices: ['mitx', 'ocw', 'xpro'].map(code => ({ value: code, name: code, isChosen: code === 'ocw' })),
      },
      { kind: 'numbers', name: 'run_id', label: 'Run', values: ['5995', '12'] },
      { kind: 'texts', name: 'content_feature_type', label: 'Feature', values: [] },
    ],
  },
  pager: {
    previous: at(6),
    next: at(8),
    pages: [
      { number: 1, href: at(1), isCurrent: false },
      'gap',
      ...[6, 7, 8].map(number => ({ number, href: at(number), isCurrent: number === 7 })),
      'gap',
      { number: 55000, href: at(55000), isCurrent: false },
    ],
  },
}

export const invalidPage: BrowsablePage = {
  ...listPage,
  path: `${path}?format=api&run_id=abc`,
  statusLine: 'HTTP 400 Bad Request',
  json: indented({ run_id: ['Enter a number.'], error_type: 'ValidationError' }),
  filters: {
    action: path,
    hidden: [{ name: 'format', value: 'api' }],
    fields: [{ kind: 'numbers', name: 'run_id', label: 'Run', values: ['abc'], error: 'Enter a number.' }],
  },
  pager: undefined,
}

export const missingPage: BrowsablePage = {
  ...listPage,
  title: 'Content File Instance',
  breadcrumb: [
    { name: 'Content File List', href: `${path}?format=api` },
    { name: 'Content File Instance', href: undefined },
  ],
  path: `${path}1/?format=api`,
  statusLine: 'HTTP 404 Not Found',
  json: indented({ detail: 'No ContentFile matches the given query.', error_type: 'Http404' }),
  filters: undefined,
  pager: undefined,
}
