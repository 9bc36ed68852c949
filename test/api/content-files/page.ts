/** The browsable page: its model, and its HTML with escaped values and correct links. */

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import fc from 'fast-check'
import t, { test } from 'tap'
import { answerOf, errorAnswer, invalidFilters, methodNotAllowed } from '../../../api/content-files/answer.ts'
import type { BrowsablePage, FilterField, Pager } from '../../../api/content-files/browsable-page.ts'
import { renderPage } from '../../../api/content-files/html/page.ts'
import { contentSecurityPolicy } from '../../../api/content-files/html/style.ts'
import { createPage, type Shown } from '../../../api/content-files/page-model.ts'
import { Query } from '../../../api/content-files/query-string.ts'
import { type HtmlElement, readHtml } from '../../support/html-document.ts'
import { runs } from '../../support/runs.ts'
import { invalidPage, listPage, missingPage } from './sample-page.ts'

const path = '/api/v1/contentfiles/'
const choices = {
  units: [
    { code: 'mitx', name: 'MITx' },
    { code: 'ocw', name: 'MIT OpenCourseWare' },
  ],
  platforms: [{ code: 'edx', name: 'edX' }],
}

function shownOf(query: string, more: Partial<Shown> = {}): Shown {
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
const description = 'Viewset for ContentFiles'
const parses = ['application/json', 'application/x-www-form-urlencoded', 'multipart/form-data']
const optionsJson = (name: string) =>
  JSON.stringify({ name, description, renders: ['application/json', 'text/html'], parses }, null, 4)
const formatsOf = (href: (format: string) => string) => ['json', 'api'].map(name => ({ name, href: href(name) }))

test('the page of a list is complete', async t => {
  const query = 'offered_by=ocw,x&x=%2A&format=api&limit=2&offset=2&run_id=5&run_id=&edx_module_id=%3Cb%3E'
  const part = { paging: { limit: 2, offset: 2n }, count: 5 }
  const kept = 'edx_module_id=%3Cb%3E&format=FORMAT&limit=2&offered_by=ocw%2CxOFFSET&run_id=5&run_id=&x=%2A'
  const at = (offset: number, format = 'api') =>
    `?${kept.replace('FORMAT', format).replace('OFFSET', offset === 0 ? '' : `&offset=${offset}`)}`
  const answer = { statusLine: 'HTTP 200 OK', headers }
  const hidden = Object.entries({ x: '*', format: 'api', limit: '2' }).map(([name, value]) => ({ name, value }))
  const field = (name: string, label: string, more: object) => ({ name, label, error: undefined, ...more })
  const units = [
    { value: 'mitx', name: 'MITx', isChosen: false },
    { value: 'ocw', name: 'MIT OpenCourseWare', isChosen: true },
  ]
  const platforms = [{ value: 'edx', name: 'edX', isChosen: false }]
  const fields = [
    field('run_id', 'Run id', { kind: 'numbers', values: ['5'] }),
    field('resource_id', 'Resource id', { kind: 'numbers', values: [] }),
    field('content_feature_type', 'Content feature type', { kind: 'texts', values: [] }),
    field('edx_module_id', 'edX module id', { kind: 'texts', values: ['<b>'] }),
    field('offered_by', 'Offered by', { kind: 'choices', choices: units }),
    field('platform', 'Platform', { kind: 'choices', choices: platforms }),
  ]
  const pages = [0, 2, 4].map((offset, i) => ({ number: i + 1, href: at(offset), isCurrent: offset === 2 }))
  t.strictSame(createPage(shownOf(query, { part })), {
    ...{ ...answer, title: 'Content File List', description, method: 'GET', path: `${path}?${query}` },
    breadcrumb: [{ name: 'Content File List', href: undefined }],
    json: '{\n    "count": 0\n}',
    get: { href: at(2), formats: formatsOf(format => at(2, format)) },
    options: { ...answer, requestLine: `OPTIONS ${path}`, json: optionsJson('Content File List') },
    filters: { action: '?', hidden, fields },
    pager: { previous: at(0), next: at(4), pages },
  })
})

test('a file has no form and no pager, and a way up', async t => {
  const page = createPage(shownOf('', { kind: 'file', url: `${path}7/`, answer: errorAnswer('FILE_UNKNOWN') }))
  t.match(page, {
    title: 'Content File Instance',
    breadcrumb: [{ name: 'Content File List', href: '../' }, { name: 'Content File Instance' }],
    statusLine: 'HTTP 404 Not Found',
    options: { requestLine: `OPTIONS ${path}7/`, json: optionsJson('Content File Instance') },
  })
  t.equal(page.filters, undefined)
  t.equal(page.pager, undefined)
  t.strictSame(page.get, { href: '?', formats: formatsOf(format => `?format=${format}`) })
})

test('wrong filters have their errors beside their fields', async t => {
  const answer = invalidFilters({ run_id: ['Enter a number.'], platform: ['Select a valid choice.'] })
  const { filters, statusLine } = createPage(shownOf('run_id=x&platform=y', { answer }))
  t.equal(statusLine, 'HTTP 400 Bad Request')
  const errors = filters?.fields.flatMap(({ name, error }) => (error === undefined ? [] : `${name}: ${error}`))
  t.strictSame(errors, ['run_id: Enter a number.', 'platform: Select a valid choice.'])
  const page = createPage(shownOf('', { method: 'POST', answer: methodNotAllowed('POST'), choices: undefined }))
  t.equal(page.filters, undefined)
  t.equal(page.method, 'POST')
  t.equal(page.statusLine, 'HTTP 405 Method Not Allowed')
})

type Elements = readonly HtmlElement[]

const read = (page: BrowsablePage): Elements => readHtml(renderPage(page))
const withClass = (elements: Elements, name: string) => elements.filter(element => element.attributes['class'] === name)
const withTag = (elements: Elements, tag: string) => elements.filter(element => element.tag === tag)
const texts = (elements: Elements) => elements.map(element => element.text)
/** The JSON of the response follows that of the panel OPTIONS. */
const blockOf = (json: string) => withClass(read({ ...missingPage, json }), 'json').at(-1)
const values = (elements: Elements, attribute: string) => elements.map(element => element.attributes[attribute])
const byId = (elements: Elements, id: string) => elements.find(({ attributes }) => attributes['id'] === id)
const popovers = (elements: Elements) =>
  values(
    elements.filter(({ attributes }) => 'popover' in attributes),
    'id',
  )

/** Some pieces have a meaning for a parser of HTML. */
const pieces = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom(...'</ <!-- --> <script> </pre> </style> <svg ]]> " \' ` = > &'.split(' ')),
  fc.constantFrom('&lt;', '&#', '\0', '\r\n', '\n', '\t', '\u2028', '\u202e', 'http://', 'javascript:', ' on='),
)
const hostile = fc.array(pieces, { maxLength: 6 }).map(parts => parts.join(''))

/** HTML cannot contain the null character. */
const shown = (text: string) => text.replaceAll('\0', '\ufffd')

/** A page whose texts all come from the caller. */
function pageOf(text: () => string, value: unknown): BrowsablePage {
  const exchange = { statusLine: `HTTP ${text()}`, headers: [[text(), text()]] as const }
  const json = JSON.stringify(value, null, 4)
  const field = () => ({ name: text(), label: text(), error: text() })
  const fields: FilterField[] = [
    { ...field(), kind: 'choices', choices: [{ value: text(), name: text(), isChosen: true }] },
    { ...field(), kind: 'texts', values: [`v${text()}`] },
  ]
  return {
    ...{ ...exchange, title: text(), description: text(), method: 'GET', path: text(), json },
    breadcrumb: [{ name: text(), href: text() }],
    get: { href: text(), formats: [{ name: 'json', href: text() }] },
    options: { ...exchange, requestLine: `OPTIONS ${text()}`, json },
    filters: { action: text(), hidden: [{ name: text(), value: text() }], fields },
    pager: { previous: text(), next: text(), pages: [{ number: 1, href: text(), isCurrent: true }] },
  }
}

/** The tags with the names of their attributes, without those inside the JSON. */
const skeleton = (elements: Elements) => {
  const inJson = new Set(withClass(elements, 'json').flatMap(element => element.elements))
  const kept = elements.filter(element => !inJson.has(element))
  return kept.map(element => `${element.tag} ${Object.keys(element.attributes).join(' ')}`)
}

t.test('every value is escaped, also in the JSON', async () => {
  fc.assert(
    fc.property(fc.infiniteStream(hostile), fc.jsonValue({ stringUnit: 'binary' }), hostile, (stream, value, title) => {
      const json = { value, [title]: title, url: `https://${title}` }
      const page = pageOf(() => stream.next().value, json)
      const elements = read(page)
      const [field] = page.filters?.fields ?? []
      assert.deepEqual(skeleton(elements), skeleton(read(pageOf(() => 'x', json))))
      assert.deepEqual(texts(withTag(elements, 'h1')), [shown(page.title)])
      assert.equal(withTag(elements, 'input')[0]?.attributes['value'], shown(page.filters?.hidden[0]?.value ?? ''))
      assert.equal(withClass(elements, 'error')[0]?.text, shown(field?.error ?? ''))
      for (const block of withClass(elements, 'json')) {
        assert.equal(block.text, `${page.json}\n`)
        assert.deepEqual(JSON.parse(block.text), JSON.parse(JSON.stringify(json)))
        assert.ok(block.elements.every(({ tag }) => ['span', 'b', 'i', 'a', 'bdi'].includes(tag)))
        assert.ok(withTag(block.elements, 'a').every(link => /^https?:\/\//i.test(link.attributes['href'] ?? '')))
      }
    }),
    runs(100, 1000),
  )
})

t.test('only http and https URLs are links', async t => {
  const links = (text: string, ...expected: string[]) => {
    const found = withTag(blockOf(JSON.stringify(text))?.elements ?? [], 'a')
    t.strictSame([values(found, 'href'), texts(found)], [expected, expected], text)
    t.ok(found.every(link => link.attributes['rel'] === 'noopener nofollow'))
  }
  links('https://a.example/b?c=d&e="f"', 'https://a.example/b?c=d&e=')
  links('HTTP://a.example', 'HTTP://a.example')
  const three = ['https://a.example/b', 'http://c.example', 'https://d.example']
  links('see https://a.example/b, (http://c.example) or "https://d.example".', ...three)
  links('https://a.example/B_(c)', 'https://a.example/B_(c)')
  links("https://a.example/<b>'c'", 'https://a.example/')
  links('https://a.example/\nhttps://b.example/é', 'https://a.example/', 'https://b.example/é')
  links('javascript:alert(1)')
  links('javascript:alert(1)//https://a.example', 'https://a.example')
  links('data:text/html,x ftp://a.example //b.example www.c.example mailto:d@e.example')
  links('https://')
})

t.test('lines of the JSON have their depth, names and kinds of values', async t => {
  const json = JSON.stringify({ a: [{ b: 'c', d: 1.5, e: null }], f: true, g: [], 'h": ': 'i": 2,' }, null, 4)
  const block = blockOf(json)
  const lines = block?.elements.filter(({ tag }) => tag === 'span') ?? []
  t.strictSame(values(lines, 'class').join(' '), 'd0 d1 d2 d3 d3 d3 d2 d1 d1 d1 d1 d0')
  t.strictSame(texts(withTag(block?.elements ?? [], 'b')), ['"a"', '"b"', '"d"', '"e"', '"f"', '"g"', '"h\\": "'])
  t.strictSame(texts(withTag(block?.elements ?? [], 'i')), ['1.5', 'null', 'true'])
  const deep = JSON.stringify([[[[[[[[[['x']]]]]]]]]], null, 4)
  const deepBlock = blockOf(deep)
  t.equal(deepBlock?.text, `${deep}\n`)
  t.ok(deepBlock?.elements.every(({ attributes }) => /^d[0-8]$/.test(attributes['class'] ?? '')))
})

t.test('right-to-left text does not change the direction of its line', async t => {
  const isolated = (text: string) => {
    const block = blockOf(JSON.stringify([text], null, 4))
    return texts(withTag(block?.elements ?? [], 'bdi'))
  }
  t.strictSame(isolated('שלום'), ['"שלום"'])
  t.strictSame(isolated('a\u202eb'), ['"a\u202eb"'])
  t.strictSame(isolated('Grüße, 你好'), [])
})

t.test('the pager shows the numbers, the current page, and the adjacent pages', async t => {
  const shows = (previous: string | undefined, next: string | undefined, pages: Pager['pages'], expected: string) => {
    const navs = withClass(read({ ...listPage, pager: { previous, next, pages } }), 'pager')
    t.equal(new Set(values(navs, 'aria-label')).size, 2, 'above and below, by different names')
    const items = navs.map(nav => withTag(nav.elements, 'li').map(itemText).join(' '))
    t.strictSame(items, [expected, expected])
  }
  const itemText = ({ text, elements }: HtmlElement) => {
    const [link] = withTag(elements, 'a')
    if (link === undefined) return text
    return `${text}(${link.attributes['href']}${link.attributes['aria-current'] === 'page' ? ' here' : ''})`
  }
  const link = (number: number, isCurrent = false) => ({ number, href: `?p=${number}`, isCurrent })
  shows(undefined, '?p=2', [link(1, true), link(2)], '« 1(?p=1 here) 2(?p=2) »(?p=2)')
  shows('?p=1', undefined, [link(1), link(2, true)], '«(?p=1) 1(?p=1) 2(?p=2 here) »')
  // A part after the last one has no number.
  shows('?p=8', undefined, [link(1)], '«(?p=8) 1(?p=1) »')
  const middle = [link(1), 'gap' as const, link(4), link(5, true), link(6), 'gap' as const, link(99)]
  shows('?p=4', '?p=6', middle, '«(?p=4) 1(?p=1) … 4(?p=4) 5(?p=5 here) 6(?p=6) … 99(?p=99) »(?p=6)')
  t.strictSame(withClass(read(missingPage), 'pager'), [], 'none where there is one page')
})

t.test('the form contains the query, with space for more', async t => {
  const elements = read(listPage)
  const form = byId(elements, 'filter')
  const inputs = withTag(form?.elements ?? [], 'input')
  t.match(form?.attributes, { method: 'get', action: '/api/v1/contentfiles/' })
  const textOf = ({ attributes: { type, name, value, checked } }: HtmlElement) =>
    `${type} ${name} ${value}${checked === undefined ? '' : ' checked'}`
  t.strictSame(inputs.map(textOf), [
    ...['hidden format api', 'hidden limit 10'],
    ...['checkbox offered_by mitx', 'checkbox offered_by ocw checked', 'checkbox offered_by xpro'],
    ...['text run_id 5995', 'text run_id 12', 'text run_id ', 'text content_feature_type '],
  ])
  const named = ({ attributes }: HtmlElement) => attributes['aria-label'] !== undefined
  t.ok(inputs.filter(({ attributes }) => attributes['type'] === 'text').every(named), 'every field has a name')
  t.strictSame(texts(withClass(elements, 'count')), ['3'], 'the button says how many filters are at work')
  const kept = withTag(byId(elements, 'clear')?.elements ?? [], 'input')
  t.strictSame(values(kept, 'name'), ['format', 'limit'])
})

t.test('a wrong filter is open in the page, with its error', async t => {
  const elements = read(invalidPage)
  t.strictSame(popovers(elements), ['formats', 'options'])
  const [fieldset] = withTag(elements, 'fieldset')
  const [error] = withClass(elements, 'error')
  t.equal(error?.text, 'Enter a number.')
  t.equal(fieldset?.attributes['aria-describedby'], error?.attributes['id'])
  t.strictSame(values(withTag(fieldset?.elements ?? [], 'input'), 'aria-invalid'), ['true', 'true'])
  t.strictSame(texts(withClass(elements, 'bad')), ['HTTP 400 Bad Request'])
  const sound: FilterField = { kind: 'choices', name: 'offered_by', label: 'Offered by', choices: [] }
  const page = read({ ...listPage, filters: { action: '', hidden: [], fields: [sound] } })
  t.strictSame(values(withTag(page, 'section'), 'id'), ['options', 'filters', undefined])
  t.strictSame(withClass(page, 'count'), [], 'no filter, no number')
})

t.test('the buttons have their targets', async t => {
  const elements = read(listPage)
  const [get] = withClass(withTag(elements, 'a'), 'button strong')
  t.strictSame([get?.text, get?.attributes['href']], ['GET', listPage.get.href])
  const links = withTag(byId(elements, 'formats')?.elements ?? [], 'a')
  const formats = links.map(({ text, attributes }) => ({ name: text, href: attributes['href'] }))
  t.strictSame(formats, listPage.get.formats)
})

t.test('the policy allows only the style of the page and the icon', async t => {
  for (const page of [listPage, invalidPage, missingPage]) {
    const elements = read(page)
    const hashes = withTag(elements, 'style').map(({ text }) => createHash('sha256').update(text).digest('base64'))
    const sources = `default-src 'none'; style-src 'sha256-${hashes.join()}'; img-src 'self'`
    t.equal(contentSecurityPolicy, `${sources}; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`)
    t.notOk(elements.some(({ tag }) => ['script', 'link', 'img', 'iframe', 'base'].includes(tag)))
    t.notOk(elements.some(({ attributes }) => Object.keys(attributes).some(name => /^(style|src|on.*)$/.test(name))))
    const ids = values(elements, 'id').filter(id => id !== undefined)
    t.equal(new Set(ids).size, ids.length, 'every id once')
    t.strictSame([withTag(elements, 'h1').length, withTag(elements, 'main').length], [1, 1])
  }
})

t.test('text has a contrast of at least 4.5, in both colour schemes', async t => {
  const [style] = withTag(read(listPage), 'style')
  const palettes = [...(style?.text ?? '').matchAll(/:root \{([^}]+)\}/g)].map(([, body = '']) =>
    Object.fromEntries([...body.matchAll(/--([\w-]+): (#[0-9a-f]+)/g)].map(([, name, color]) => [name, color])),
  )
  t.equal(palettes.length, 2)
  const [verdicts, others] = [
    ['good', 'warn', 'bad'],
    ['ink', 'soft', 'link'],
  ]
  const pairs = [
    ...[...others, ...verdicts].map(name => [name, 'page']),
    ...[...others, ...verdicts, 'accent', 'literal'].map(name => [name, 'card']),
    ...['warn', 'bad', 'accent'].map(name => [name, `${name}-wash`]),
    ...['warn', 'bad'].map(name => ['ink', `${name}-wash`]),
    ['on-accent', 'accent'],
  ]
  for (const palette of palettes) {
    for (const [ink = '', ground = ''] of pairs) {
      const [dark, bright] = [palette[ink], palette[ground]].map(brightness).sort((a, b) => a - b)
      const contrast = ((bright ?? 0) + 0.05) / ((dark ?? 1) + 0.05)
      t.ok(contrast >= 4.5, `${ink} on ${ground}: ${palette[ink]}, ${palette[ground]}`)
    }
  }
})

/** The relative luminance of WCAG 2. */
function brightness(color = ''): number {
  const digits = color.slice(1).replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3')
  const channels = [0, 2, 4].map(at => Number.parseInt(digits.slice(at, at + 2), 16) / 255)
  const [red = 0, green = 0, blue = 0] = channels.map(value =>
    value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4,
  )
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}
