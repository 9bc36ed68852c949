/** The query of a listing is parsed and written as in Django: paging, filters, and the form of the response. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Test, test } from 'tap'
import { filterErrors, readFilters } from '../../../api/content-files/filters.ts'
import { negotiate } from '../../../api/content-files/negotiation.ts'
import { createPager } from '../../../api/content-files/page-model.ts'
import { linksOf, Query, readPaging } from '../../../api/content-files/query-string.ts'
import { unknownCodes } from '../../../query/content/filters.ts'
import { runs } from '../../support/runs.ts'

test('a query is parsed and written again, sorted by name', async t => {
  const rows: [query: string, ...written: string[]][] = [
    ['', ''],
    ['&&', ''],
    ['b=2&a=1', 'a=1&b=2'],
    ['b=2&a=1&b=1', 'a=1&b=2&b=1'],
    ['flag', 'flag='],
    ['flag='],
    ['=x'],
    ['a=b=c', 'a=b%3Dc'],
    ['a=1;b=2', 'a=1%3Bb%3D2'],
    ['q=a+b%20c%2Bd', 'q=a+b+c%2Bd'],
    ["q=*'(),!~-._", 'q=%2A%27%28%29%2C%21~-._'],
    ['q=%zz%4%', 'q=%25zz%254%25'],
    ['q=%41%e4', 'q=A%EF%BF%BD'],
    ['q=%C3%A4\xc3\xa4', 'q=%C3%A4%C3%A4'],
    ['q=%FF%FE', 'q=%EF%BF%BD%EF%BF%BD'],
    ['q=%E2%82', 'q=%EF%BF%BD'],
    ['q=%EF%BB%BFx%00'],
    ['q=/?:@#$', 'q=%2F%3F%3A%40%23%24'],
    ['%62=2&a=1', 'a=1&b=2'],
    // The order is by code point: U+FFFD precedes U+1F600, but follows it in UTF-16.
    ['%F0%9F%98%80=2&%EF%BF%BD=1', '%EF%BF%BD=1&%F0%9F%98%80=2'],
    ['B=1&a=2&A=3&_=4', 'A=3&B=1&_=4&a=2'],
  ]
  for (const [query, written = query] of rows) t.equal(new Query(query).write(), written, query)
})

test('values are set and removed at their sorted place', async t => {
  const query = new Query('limit=1&a=1&limit=2&b')
  t.equal(query.write({ limit: '5' }), 'a=1&b=&limit=5')
  t.equal(query.write({ limit: undefined, offset: '7' }), 'a=1&b=&offset=7')
  t.equal(query.write({}), 'a=1&b=&limit=1&limit=2')
  t.equal(query.write({ c: '*', aa: '1' }), 'a=1&aa=1&b=&c=%2A&limit=1&limit=2')
  t.equal(new Query('').write({ z: '1', a: '2' }), 'a=2&z=1')
})

/** The bytes that Node returns for a request's address. Some pieces have a meaning. */
const pieces = fc.oneof(
  fc.constantFrom(...'& = + % %2 %20 %26 %3D %C3 %A4 %F0%9F%98%80 %ff ; limit=10'.split(' ')),
  fc.integer({ min: 0x21, max: 0xff }).map(byte => String.fromCharCode(byte)),
  fc.integer({ min: 0, max: 0xff }).map(byte => `%${byte.toString(16).padStart(2, '0')}`),
)
const queries = fc.array(pieces, { maxLength: 40 }).map(parts => parts.join(''))

test('any parsed query is written so that parsers and browsers read it again', async () => {
  fc.assert(
    fc.property(queries, query => {
      const read = new Query(query)
      const written = read.write()
      assert.match(written, /^(?:[A-Za-z0-9_.~+=&-]|%[0-9A-F]{2})*$/)
      const sorted = read.all.toSorted((a, b) => Buffer.compare(Buffer.from(a.name), Buffer.from(b.name)))
      assert.deepEqual(new Query(written).all, sorted)
      const ofBrowser = [...new URLSearchParams(written)].map(([name, value]) => ({ name, value }))
      assert.deepEqual(ofBrowser, sorted)
      assert.equal(new Query(written).write(), written)
    }),
    runs(300, 3_000),
  )
})

const address = 'https://x.example/api/v1/contentfiles/'

test('a limit other than a number from 1 on counts as 10, one above 100 as 100', async t => {
  const limits = (value: string, expected: number) => {
    t.strictSame(readPaging(new Query(`limit=${value}`)), { limit: expected, offset: 0n }, value)
  }
  t.strictSame(readPaging(new Query('')), { limit: 10, offset: 0n })
  const none = ['', '0', '-0', '-5', 'abc', '1e2', '1.0', '5x', '5%205', '%D9%A3', '0x5', '%2B', '--5', '1_0']
  for (const value of none) limits(value, 10)
  for (const value of ['%205', '5%20', '+5', '005', '%095%0A', '%2B5', '%20%2B5']) limits(value, 5)
  for (const value of ['100', '101', '1000', '18446744073709551616', '9'.repeat(5_000)]) limits(value, 100)
  limits('1', 1)
  limits('99', 99)
  limits('5&limit=7', 7)
  limits('5&limit=abc', 10)
  limits('5&limit=', 10)
})

test('an offset keeps its digits, or counts as 0 if it is not a number', async t => {
  const offsets = (value: string, expected: bigint) => {
    t.strictSame(readPaging(new Query(`offset=${value}`)), { limit: 10, offset: expected }, value)
  }
  for (const value of ['', '-1', '-0', 'abc', '1e2', '%D9%A3']) offsets(value, 0n)
  for (const value of ['7', '%207', '+7', '%2B7', '007', '1&offset=7']) offsets(value, 7n)
  offsets('18446744073709551617', 18446744073709551617n)
  offsets('9'.repeat(8_192), 10n ** 8_192n - 1n)
  const digits = '9'.repeat(8_193)
  t.strictSame(readPaging(new Query(`limit=${digits}&offset=${digits}`)), { limit: 10, offset: 0n }, 'too many digits')
})

test('links have the limit and the offset of the adjacent parts', async t => {
  const [up, down] = ['offset=18446744073709551626&limit=100', 'offset=123456789012345678901234567890']
  const rows: [query: string, count: number, next: string | null, previous: string | null][] = [
    ['', 0, null, null],
    ['', 11, 'limit=10&offset=10', null],
    ['limit=500', 101, 'limit=100&offset=100', null],
    ['limit=abc', 11, 'limit=10&offset=10', null],
    ['offset=5', 30, 'limit=10&offset=15', 'limit=10'],
    ['offset=11', 30, 'limit=10&offset=21', 'limit=10&offset=1'],
    ['offset=20', 30, null, 'limit=10&offset=10'],
    ['offset=1000', 30, null, 'limit=10&offset=990'],
    [up, 30, null, 'limit=100&offset=18446744073709551526'],
    [down, 0, null, 'limit=10&offset=123456789012345678901234567880'],
    ['limit=5&limit=7&offset=3&offset=9', 30, 'limit=7&offset=16', 'limit=7&offset=2'],
    ['z=1&a&offered_by=ocw,mitx&z=%2A', 11, 'a=&limit=10&offered_by=ocw%2Cmitx&offset=10&z=1&z=%2A', null],
    ['format=&a=%zz&a=%ff&b=~', 11, 'a=%25zz&a=%EF%BF%BD&b=~&format=&limit=10&offset=10', null],
  ]
  const whole = (link: string | null) => (link === null ? null : `${address}?${link}`)
  for (const [query, count, next, previous] of rows) {
    const parsed = new Query(query)
    const links = linksOf(address, parsed, readPaging(parsed), count)
    t.strictSame(links, { next: whole(next), previous: whole(previous) }, query)
  }
})

/** Returns the numbers as `1 … 4 [5] 6 … 9`. */
function numbers(offset: bigint, count: number): string | undefined {
  const pager = createPager(new Query(''), { limit: 10, offset }, count)
  const texts = pager?.pages.map(page => {
    if (page === 'gap') return '…'
    return page.isCurrent ? `[${page.number}]` : `${page.number}`
  })
  return texts?.join(' ')
}

test('the first, the last and the pages around the current one are numbered', async t => {
  const rows: [offset: bigint, count: number, expected: string | undefined][] = [
    [0n, 10, undefined],
    [0n, 11, '[1] 2'],
    [10n, 11, '1 [2]'],
    [20n, 50, '1 2 [3] 4 5'],
    [0n, 60, '[1] 2 3 … 6'],
    [30n, 200, '1 2 3 [4] 5 … 20'],
    [40n, 200, '1 … 4 [5] 6 … 20'],
    [150n, 200, '1 … 15 [16] 17 … 20'],
    [160n, 200, '1 … 16 [17] 18 19 20'],
    [190n, 200, '1 … 18 19 [20]'],
    [5n, 30, '1 [2] 3 4'],
    [200n, 200, '1 … 18 19 20'],
    [10n ** 30n, 15, '1 2'],
    [7n, 0, '1'],
  ]
  for (const [offset, count, expected] of rows) t.equal(numbers(offset, count), expected, `${offset} of ${count}`)
})

test('the numbers lead to parts of the same size, and keep the query', async t => {
  const query = new Query('format=api&limit=5&offset=20&a=%2A')
  const at = (offset: number) => `?a=%2A&format=api&limit=5${offset === 0 ? '' : `&offset=${offset}`}`
  const page = (number: number) => ({ number, href: at(5 * (number - 1)), isCurrent: number === 5 })
  const pages = [page(1), 'gap', ...[4, 5, 6, 7, 8].map(page)]
  t.strictSame(createPager(query, { limit: 5, offset: 20n }, 40), { previous: at(15), next: at(25), pages })
  const past = createPager(query, { limit: 5, offset: 1_000n }, 12)
  t.strictSame(past, { previous: at(995), next: undefined, pages: [1, 2, 3].map(page) })
})

const codes = { units: new Set(['ocw', 'mitx']), platforms: new Set(['edx', 'ocw']) }
const numbered = { run_id: 'runIds', resource_id: 'resourceIds' } as const
const named = { content_feature_type: 'featureTypes', edx_module_id: 'moduleIds' } as const
const choices = { offered_by: 'units', platform: 'platforms' } as const
const keys = { ...numbered, ...named, ...choices }
const none = Object.fromEntries(Object.values(keys).map(key => [key, undefined]))

function read(query: string) {
  const { filters, errors } = readFilters(new Query(query))
  const found = filterErrors(errors, unknownCodes(filters, codes))
  return found === undefined ? { ok: true, filters } : { ok: false, errors: found }
}

/** Returns checks of a filter, which is called N in their queries. */
function checksOf(t: Test, [name, key]: [string, string]) {
  const textOf = (query: string) => query.replaceAll('N=', `${name}=`)
  const gives = (query: string, expected: unknown[] | undefined) =>
    t.strictSame(read(textOf(query)), { ok: true, filters: { ...none, [key]: expected } }, textOf(query))
  const refuses = (query: string, message: string) =>
    t.strictSame(read(textOf(query)), { ok: false, errors: { [name]: [message] } }, textOf(query))
  return { gives, refuses }
}

test('numbers are truncated, unless they are too large to match', async t => {
  for (const filter of Object.entries(numbered)) {
    const { gives } = checksOf(t, filter)
    gives('', undefined)
    gives('N=', undefined)
    gives('N=&N=', undefined)
    gives('N=&N=5', [5])
    gives('N=5&N=7&N=5', [5, 7, 5])
    for (const text of ['5', '%205%20', '+5', '%2B5', '5.', '5.9', '05', '0.5e1', '50e-1', '.05e2', '5e0', '5E%2B0']) {
      gives(`N=${text}`, [5])
    }
    gives('N=1e3', [1000])
    gives('N=1.5', [1])
    for (const text of ['0', '0.9', '-0.9', '-0', '1e-1', '1e-99999999999', '0e99999999999']) gives(`N=${text}`, [0])
    gives('N=9007199254740991', [9007199254740991])
    const large = ['9007199254740992', '9223372036854775808', '1e16', '1e999999999', '9'.repeat(5_000), '-1', '-1e99']
    for (const text of large) gives(`N=${text}`, [-1])
    gives('N=1&N=1e99', [1, -1])
  }
})

test('values other than numbers are one error', async t => {
  const bad = ['abc', 'NaN', 'Infinity', '1,2', '%20', '1_000', '0x1', '1e', 'e1', '.', '%2B-1', '1%202', '٣', '%00']
  for (const filter of Object.entries(numbered)) {
    const { refuses } = checksOf(t, filter)
    for (const text of [...bad, 'x&N=y', '5&N=x', 'x&N=5']) refuses(`N=${text}`, 'Enter a number.')
  }
})

test('names are compared without case, and may contain a comma', async t => {
  for (const filter of Object.entries(named)) {
    const { gives, refuses } = checksOf(t, filter)
    gives('N=', undefined)
    gives('N=%20%09', undefined)
    gives('N=&N=x', ['X'])
    gives('N=%20Lecture+Notes%0A', ['LECTURE NOTES'])
    gives('N=a,b', ['A,B'])
    gives('N=%C3%9Cbung', ['ÜBUNG'])
    gives('N=stra%C3%9Fe', ['STRASSE'])
    gives('N=a&N=b', ['A', 'B'])
    for (const text of ['%00', 'a%00b', 'x&N=%00']) refuses(`N=${text}`, 'Null characters are not allowed.')
  }
})

test('codes must be known exactly', async t => {
  for (const filter of Object.entries(choices)) {
    const other = filter[0] === 'platform' ? 'edx' : 'mitx'
    const { gives, refuses } = checksOf(t, filter)
    gives('N=ocw', ['ocw'])
    for (const text of [`ocw,${other}`, `ocw%2C${other}`, `ocw&N=${other}`]) gives(`N=${text}`, ['ocw', other])
    for (const [text, code] of [
      ['nope', 'nope'],
      ['', ''],
      ['ocw&N=', ''],
      ['ocw,', ''],
      ['OCW', 'OCW'],
      ['ocw,+mitx', ' mitx'],
      ['ocw,nope,worse', 'nope'],
      ['ocw&N=nope', 'nope'],
      ['%3Cb%3E%00', '<b>\0'],
    ]) {
      refuses(`N=${text}`, `Select a valid choice. ${code} is not one of the available choices.`)
    }
  }
})

test('each wrong filter has its error, in one order', async t => {
  const query = 'platform=a&offered_by=b&edx_module_id=%00&content_feature_type=%00&resource_id=c&run_id=d&x=%00'
  const result = read(query)
  t.notOk(result.ok)
  const names = ['run_id', 'resource_id', 'content_feature_type', 'edx_module_id', 'offered_by', 'platform']
  t.strictSame(Object.keys(result.errors ?? {}), names)
})

test('a value is read up to a limit that the error names', async t => {
  for (const filter of Object.entries(keys)) {
    const { refuses } = checksOf(t, filter)
    const isTooLong = (length: number) => `Ensure this value has at most 8192 characters (it has ${length}).`
    refuses(`N=${'9'.repeat(8_193)}`, isTooLong(8_193))
    refuses(`N=${'9'.repeat(62_000)}x`, isTooLong(62_001))
  }
  t.strictSame(read(`run_id=${'9'.repeat(8_192)}`), { ok: true, filters: { ...none, runIds: [-1] } })
})

const json = (indent = 0) => ({ ok: true, form: { kind: 'json', indent } })
const page = { ok: true, form: { kind: 'api' } }
const notAcceptable = { ok: false, code: 'NOT_ACCEPTABLE' }
const unknown = { ok: false, code: 'FORMAT_UNKNOWN' }

test('the more specific type wins, then JSON before HTML, and other types are not acceptable', async t => {
  const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8'
  const html = ['text/html', 'text/*', 'Text/HTML', '*/html', 'text/html;q=0', 'text/html; charset=utf-8', browser]
  const before = ['text/html;q=0.1, */*;q=1', 'text/html;level=1, application/json', 'text/html, application/*']
  const types = ['*/*', 'application/*', 'application/json', 'APPLICATION/JSON', ' application/json ', '*/json']
  const both = ['text/html, application/json', 'text/html;q=1, application/json;q=0.1', 'text/*, application/*']
  const others = ['image/png, */*;q=0.1', 'image/png,, application/json']
  const unserved = ['', ' ', 'image/png', 'application/xml', 'json', '*', 'application', 'text/plain', 'html/text']
  const malformed = ['/', ';', 'application/json/x', 'application json', ',', ';q=1']
  const table: [accepts: (string | undefined)[], expected: object][] = [
    [[...types, undefined, ...both, ...others], json()],
    [[...html, ...before, '*/*, text/*'], page],
    [[...unserved, ...malformed], notAcceptable],
  ]
  for (const [accepts, expected] of table) {
    for (const accept of accepts) t.strictSame(negotiate(accept, undefined), expected, accept ?? 'no Accept')
  }
})

test('an indent is a whole number from 0 to 8', async t => {
  const indents = (value: string, expected: number) => {
    for (const type of ['application/json', '*/*', 'application/*']) {
      t.strictSame(negotiate(`${type}; indent=${value}`, undefined), json(expected), `${type} ${value}`)
    }
  }
  for (const value of ['4', '"4"']) indents(value, 4)
  for (const value of ['8', '9', '99999999999999999999999']) indents(value, 8)
  for (const value of ['0', '-1', '', 'x', '4.5', '1e1', '4x', '٤']) indents(value, 0)
  t.strictSame(negotiate('application/json;INDENT=2;q=0.3', undefined), json(2))
  t.strictSame(negotiate('application/json, */*; indent=4', undefined), json(), 'the type that wins has the indent')
})

test('a format is forced where Accept allows it', async t => {
  const rows: [format: string, accept: string | undefined, expected: object][] = [
    ['json', undefined, json()],
    ['json', '*/*; indent=2', json(2)],
    ['json', 'text/html, */*', json()],
    ['json', 'text/html', notAcceptable],
    ['json', '', notAcceptable],
    ['api', undefined, page],
    ['api', 'application/json, text/*', page],
    ['api', 'application/json', notAcceptable],
    ['', undefined, json()],
    ['', 'text/html', page],
    ...['xml', 'JSON', 'json ', 'html', '0'].flatMap(format =>
      [undefined, 'image/png'].map(accept => [format, accept, unknown] as [string, string | undefined, object]),
    ),
  ]
  for (const [format, accept, expected] of rows)
    t.strictSame(negotiate(accept, format), expected, `${format} ${accept}`)
})
