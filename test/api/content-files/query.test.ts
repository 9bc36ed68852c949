/** What the query of a listing says: its reading and writing as Django does it, parts of the list, filters, and the form of the answer. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { filterErrors, readFilters } from '../../../api/content-files/filters.ts'
import { negotiate } from '../../../api/content-files/negotiation.ts'
import { createPager } from '../../../api/content-files/pager.ts'
import { linksOf, readPaging } from '../../../api/content-files/paging.ts'
import { Query } from '../../../api/content-files/query-string.ts'
import { unknownCodes } from '../../../content/filters.ts'

test('a query is read and written again, sorted by name', async t => {
  const rewrites = (query: string, expected: string) => t.equal(new Query(query).write(), expected, query)
  rewrites('', '')
  rewrites('&&', '')
  rewrites('b=2&a=1', 'a=1&b=2')
  rewrites('b=2&a=1&b=1', 'a=1&b=2&b=1')
  rewrites('flag', 'flag=')
  rewrites('flag=', 'flag=')
  rewrites('=x', '=x')
  rewrites('a=b=c', 'a=b%3Dc')
  rewrites('a=1;b=2', 'a=1%3Bb%3D2')
  rewrites('q=a+b%20c%2Bd', 'q=a+b+c%2Bd')
  rewrites('q=a,b', 'q=a%2Cb')
  rewrites("q=*'()!~-._", 'q=%2A%27%28%29%21~-._')
  rewrites('q=%zz', 'q=%25zz')
  rewrites('q=%4', 'q=%254')
  rewrites('q=%', 'q=%25')
  rewrites('q=%41%e4', 'q=A%EF%BF%BD')
  rewrites('q=%C3%A4', 'q=%C3%A4')
  rewrites('q=\xc3\xa4', 'q=%C3%A4')
  rewrites('q=%FF%FE', 'q=%EF%BF%BD%EF%BF%BD')
  rewrites('q=%E2%82', 'q=%EF%BF%BD')
  rewrites('q=%EF%BB%BFx', 'q=%EF%BB%BFx')
  rewrites('q=%00', 'q=%00')
  rewrites('q=/?:@#$', 'q=%2F%3F%3A%40%23%24')
  rewrites('%62=2&a=1', 'a=1&b=2')
  // By code point: U+FFFD stands before U+1F600, in UTF-16 behind it.
  rewrites('%F0%9F%98%80=2&%EF%BF%BD=1', '%EF%BF%BD=1&%F0%9F%98%80=2')
  rewrites('B=1&a=2&A=3&_=4', 'A=3&B=1&_=4&a=2')
})

test('values are set, and taken away, where they stand by name', async t => {
  const query = new Query('limit=1&a=1&limit=2&b')
  t.equal(query.write({ limit: '5' }), 'a=1&b=&limit=5')
  t.equal(query.write({ limit: undefined, offset: '7' }), 'a=1&b=&offset=7')
  t.equal(query.write({}), 'a=1&b=&limit=1&limit=2')
  t.equal(query.write({ c: '*', aa: '1' }), 'a=1&aa=1&b=&c=%2A&limit=1&limit=2')
  t.equal(new Query('').write({ z: '1', a: '2' }), 'a=2&z=1')
})

/** Bytes as Node hands over the address of a request, with pieces that mean something among them. */
const queries = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        '&',
        '=',
        '+',
        '%',
        '%2',
        '%20',
        '%26',
        '%3D',
        '%C3',
        '%A4',
        '%F0%9F%98%80',
        '%ff',
        ';',
        'limit=10',
      ),
      fc.integer({ min: 0x21, max: 0xff }).map(byte => String.fromCharCode(byte)),
      fc.integer({ min: 0, max: 0xff }).map(byte => `%${byte.toString(16).padStart(2, '0')}`),
    ),
    { maxLength: 40 },
  )
  .map(parts => parts.join(''))

test('whatever is read is written so that it is read again, and by a browser too', async () => {
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
    { numRuns: 1_000 },
  )
})

const address = 'https://x.example/api/v1/contentfiles/'

test('a limit that is none counts as 10, one above 100 as 100', async t => {
  const limits = (value: string, expected: number) => {
    t.strictSame(readPaging(new Query(`limit=${value}`)), { limit: expected, offset: 0n }, value)
  }
  t.strictSame(readPaging(new Query('')), { limit: 10, offset: 0n })
  for (const value of ['', '0', '-0', '-5', 'abc', '1e2', '1.0', '5x', '5%205', '%D9%A3', '0x5', '%2B', '--5', '1_0']) {
    limits(value, 10)
  }
  for (const value of ['%205', '5%20', '+5', '005', '%095%0A', '%2B5', '%20%2B5']) limits(value, 5)
  for (const value of ['100', '101', '1000', '18446744073709551616', '9'.repeat(5_000)]) limits(value, 100)
  limits('1', 1)
  limits('99', 99)
  limits('5&limit=7', 7)
  limits('5&limit=abc', 10)
  limits('5&limit=', 10)
})

test('an offset that is none counts as 0, and any other keeps its digits', async t => {
  const offsets = (value: string, expected: bigint) => {
    t.strictSame(readPaging(new Query(`offset=${value}`)), { limit: 10, offset: expected }, value)
  }
  for (const value of ['', '-1', '-0', 'abc', '1e2', '%D9%A3']) offsets(value, 0n)
  for (const value of ['7', '%207', '+7', '%2B7', '007', '1&offset=7']) offsets(value, 7n)
  offsets('18446744073709551617', 18446744073709551617n)
  offsets('9'.repeat(100), 10n ** 100n - 1n)
})

test('links carry the limit and the offset of the parts around', async t => {
  const links = (query: string, count: number, next: string | null, previous: string | null) => {
    const parsed = new Query(query)
    const whole = (link: string | null) => (link === null ? null : `${address}?${link}`)
    const expected = { next: whole(next), previous: whole(previous) }
    t.strictSame(linksOf(address, parsed, readPaging(parsed), count), expected, query)
  }
  links('', 0, null, null)
  links('', 10, null, null)
  links('', 11, 'limit=10&offset=10', null)
  links('limit=500', 101, 'limit=100&offset=100', null)
  links('limit=abc', 11, 'limit=10&offset=10', null)
  links('offset=10', 30, 'limit=10&offset=20', 'limit=10')
  links('offset=5', 30, 'limit=10&offset=15', 'limit=10')
  links('offset=11', 30, 'limit=10&offset=21', 'limit=10&offset=1')
  links('offset=20', 30, null, 'limit=10&offset=10')
  links('offset=30', 30, null, 'limit=10&offset=20')
  links('offset=1000', 30, null, 'limit=10&offset=990')
  links('offset=18446744073709551626&limit=100', 30, null, 'limit=100&offset=18446744073709551526')
  links('offset=123456789012345678901234567890', 0, null, 'limit=10&offset=123456789012345678901234567880')
  links('limit=5&limit=7&offset=3&offset=9', 30, 'limit=7&offset=16', 'limit=7&offset=2')
  links('z=1&a&offered_by=ocw,mitx&z=%2A', 11, 'a=&limit=10&offered_by=ocw%2Cmitx&offset=10&z=1&z=%2A', null)
  links('format=&a=%zz&a=%ff&b=~', 11, 'a=%25zz&a=%EF%BF%BD&b=~&format=&limit=10&offset=10', null)
})

test('a number with more digits than a value may have counts as not given', async t => {
  const digits = '9'.repeat(8_193)
  t.strictSame(readPaging(new Query(`limit=${digits}&offset=${digits}`)), { limit: 10, offset: 0n })
  t.equal(readPaging(new Query(`offset=${digits.slice(1)}`)).offset, 10n ** 8192n - 1n)
})

/** `1 … 4 [5] 6 … 9` */
function numbers(offset: bigint, limit: number, count: number): string | undefined {
  const pager = createPager(new Query(''), { limit, offset }, count)
  const texts = pager?.pages.map(page => {
    if (page === 'gap') return '…'
    return page.isCurrent ? `[${page.number}]` : `${page.number}`
  })
  return texts?.join(' ')
}

test('the first, the last and those around the current page are numbered', async t => {
  const shows = (offset: bigint, count: number, expected: string | undefined) => {
    t.equal(numbers(offset, 10, count), expected, `${offset} of ${count}`)
  }
  shows(0n, 0, undefined)
  shows(0n, 10, undefined)
  shows(0n, 11, '[1] 2')
  shows(10n, 11, '1 [2]')
  shows(0n, 50, '[1] 2 3 4 5')
  shows(20n, 50, '1 2 [3] 4 5')
  shows(0n, 60, '[1] 2 3 … 6')
  shows(30n, 200, '1 2 3 [4] 5 … 20')
  shows(40n, 200, '1 … 4 [5] 6 … 20')
  shows(150n, 200, '1 … 15 [16] 17 … 20')
  shows(160n, 200, '1 … 16 [17] 18 19 20')
  shows(190n, 200, '1 … 18 19 [20]')
  shows(5n, 30, '1 [2] 3 4')
  shows(200n, 200, '1 … 18 19 20')
  shows(10n ** 30n, 15, '1 2')
  shows(7n, 0, '1')
})

test('the numbers lead to parts of the same size, and keep the query', async t => {
  const query = new Query('format=api&limit=5&offset=20&a=%2A')
  const at = (offset: number) => `?a=%2A&format=api&limit=5${offset === 0 ? '' : `&offset=${offset}`}`
  t.strictSame(createPager(query, { limit: 5, offset: 20n }, 40), {
    previous: at(15),
    next: at(25),
    pages: [
      { number: 1, href: at(0), isCurrent: false },
      'gap',
      { number: 4, href: at(15), isCurrent: false },
      { number: 5, href: at(20), isCurrent: true },
      { number: 6, href: at(25), isCurrent: false },
      { number: 7, href: at(30), isCurrent: false },
      { number: 8, href: at(35), isCurrent: false },
    ],
  })
  const past = createPager(query, { limit: 5, offset: 1_000n }, 12)
  t.strictSame(past, {
    previous: at(995),
    next: undefined,
    pages: [0, 5, 10].map((offset, i) => ({ number: i + 1, href: at(offset), isCurrent: false })),
  })
})

const codes = { units: new Set(['ocw', 'mitx']), platforms: new Set(['edx', 'ocw']) }
const none = {
  runIds: undefined,
  resourceIds: undefined,
  featureTypes: undefined,
  moduleIds: undefined,
  units: undefined,
  platforms: undefined,
}

function read(query: string) {
  const { filters, errors } = readFilters(new Query(query))
  const told = filterErrors(errors, unknownCodes(filters, codes))
  return told === undefined ? { ok: true, filters } : { ok: false, errors: told }
}

const numbered = { run_id: 'runIds', resource_id: 'resourceIds' } as const
const named = { content_feature_type: 'featureTypes', edx_module_id: 'moduleIds' } as const
const choices = { offered_by: 'units', platform: 'platforms' } as const

test('numbers are cut to whole ones, and those that are too large are nobody’s', async t => {
  for (const [name, key] of Object.entries(numbered)) {
    const gives = (query: string, expected: number[] | undefined) => {
      const text = query.replaceAll('N=', `${name}=`)
      t.strictSame(read(text), { ok: true, filters: { ...none, [key]: expected } }, text)
    }
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

test('what is no number is told once', async t => {
  const bad = ['abc', 'NaN', 'Infinity', '1,2', '%20', '1_000', '0x1', '1e', 'e1', '.', '%2B-1', '1%202', '٣', '%00']
  for (const text of [...bad, 'x&N=y', '5&N=x', 'x&N=5']) {
    for (const name of Object.keys(numbered)) {
      const query = `${name}=${text.replaceAll('N=', `${name}=`)}`
      t.strictSame(read(query), { ok: false, errors: { [name]: ['Enter a number.'] } }, query)
    }
  }
})

test('names count without regard to case, and a comma is part of them', async t => {
  for (const [name, key] of Object.entries(named)) {
    const gives = (query: string, expected: string[] | undefined) => {
      const text = query.replaceAll('N=', `${name}=`)
      t.strictSame(read(text), { ok: true, filters: { ...none, [key]: expected } }, text)
    }
    gives('N=', undefined)
    gives('N=%20%09', undefined)
    gives('N=&N=x', ['X'])
    gives('N=%20Lecture+Notes%0A', ['LECTURE NOTES'])
    gives('N=a,b', ['A,B'])
    gives('N=%C3%9Cbung', ['ÜBUNG'])
    gives('N=stra%C3%9Fe', ['STRASSE'])
    gives('N=a&N=b', ['A', 'B'])
    const nul = { ok: false, errors: { [name]: ['Null characters are not allowed.'] } }
    for (const text of ['%00', 'a%00b', `x&${name}=%00`]) t.strictSame(read(`${name}=${text}`), nul, text)
  }
})

test('codes have to be known, to the letter', async t => {
  for (const [name, key] of Object.entries(choices)) {
    const other = name === 'platform' ? 'edx' : 'mitx'
    const gives = (query: string, expected: string[]) => {
      const text = query.replaceAll('N=', `${name}=`).replaceAll('OTHER', other)
      const written = expected.map(code => code.replace('OTHER', other))
      t.strictSame(read(text), { ok: true, filters: { ...none, [key]: written } }, text)
    }
    const refuses = (query: string, code: string) => {
      const text = query.replaceAll('N=', `${name}=`)
      const message = `Select a valid choice. ${code} is not one of the available choices.`
      t.strictSame(read(text), { ok: false, errors: { [name]: [message] } }, text)
    }
    gives('N=ocw', ['ocw'])
    gives('N=ocw,OTHER', ['ocw', 'OTHER'])
    gives('N=ocw%2COTHER', ['ocw', 'OTHER'])
    gives('N=ocw&N=OTHER', ['ocw', 'OTHER'])
    refuses('N=nope', 'nope')
    refuses('N=', '')
    refuses('N=ocw&N=', '')
    refuses('N=ocw,', '')
    refuses('N=OCW', 'OCW')
    refuses('N=ocw,+mitx', ' mitx')
    refuses('N=ocw,nope,worse', 'nope')
    refuses('N=ocw&N=nope', 'nope')
    refuses('N=%3Cb%3E%00', '<b>\0')
  }
})

test('all that is wrong is told, in one order', async t => {
  const query = 'platform=a&offered_by=b&edx_module_id=%00&content_feature_type=%00&resource_id=c&run_id=d&x=%00'
  const result = read(query)
  t.notOk(result.ok)
  const names = ['run_id', 'resource_id', 'content_feature_type', 'edx_module_id', 'offered_by', 'platform']
  t.strictSame(Object.keys(result.errors ?? {}), names)
})

test('a value of any length is read, up to a bound that is told', async t => {
  const told = (length: number) => [`Ensure this value has at most 8192 characters (it has ${length}).`]
  for (const name of [...Object.keys(numbered), ...Object.keys(named), ...Object.keys(choices)]) {
    t.match(read(`${name}=${'x'.repeat(8_193)}`), { ok: false, errors: { [name]: told(8_193) } }, name)
    t.match(read(`${name}=&${name}=${'9'.repeat(62_000)}x`), { ok: false, errors: { [name]: told(62_000 + 1) } }, name)
  }
  t.strictSame(read(`run_id=${'9'.repeat(8_192)}`), { ok: true, filters: { ...none, runIds: [-1] } })
})

const json = (indent = 0) => ({ ok: true, form: { kind: 'json', indent } })
const page = { ok: true, form: { kind: 'api' } }
const notAcceptable = { ok: false, code: 'NOT_ACCEPTABLE' }
const unknown = { ok: false, code: 'FORMAT_UNKNOWN' }

test('the more specific type wins, then JSON before HTML', async t => {
  const gives = (accept: string | undefined, expected: object) => {
    t.strictSame(negotiate(accept, undefined), expected, accept ?? 'no Accept')
  }
  for (const accept of [
    '*/*',
    'application/*',
    'application/json',
    'APPLICATION/JSON',
    ' application/json ',
    '*/json',
  ]) {
    gives(accept, json())
  }
  gives(undefined, json())
  for (const accept of ['text/html', 'text/*', 'Text/HTML', '*/html', 'text/html;q=0', 'text/html; charset=utf-8']) {
    gives(accept, page)
  }
  gives('text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', page)
  gives('text/html, application/json', json())
  gives('text/html;q=1, application/json;q=0.1', json())
  gives('text/html;q=0.1, */*;q=1', page)
  gives('text/html;level=1, application/json', page)
  gives('text/*, application/*', json())
  gives('text/html, application/*', page)
  gives('*/*, text/*', page)
  gives('image/png, */*;q=0.1', json())
  gives('image/png,, application/json', json())
})

test('a type that is not served, or that is none, is not acceptable', async t => {
  const types = [
    '',
    ' ',
    'image/png',
    'application/xml',
    'json',
    '*',
    'application',
    'text/plain',
    '/',
    'html/text',
    ';',
  ]
  for (const accept of [...types, 'application/json/x', 'application json', ',', ';q=1']) {
    t.strictSame(negotiate(accept, undefined), notAcceptable, accept)
  }
})

test('an indent is a whole number from 0 to 8', async t => {
  const indents = (value: string, expected: number) => {
    for (const type of ['application/json', '*/*', 'application/*']) {
      t.strictSame(negotiate(`${type}; indent=${value}`, undefined), json(expected), `${type} ${value}`)
    }
  }
  indents('4', 4)
  indents('"4"', 4)
  indents('8', 8)
  indents('9', 8)
  indents('99999999999999999999999', 8)
  for (const value of ['0', '-1', '', 'x', '4.5', '1e1', '4x', '٤']) indents(value, 0)
  t.strictSame(negotiate('application/json;INDENT=2;q=0.3', undefined), json(2))
  t.strictSame(negotiate('application/json, */*; indent=4', undefined), json(), 'of the type that wins')
})

test('a format is forced where Accept allows it', async t => {
  const gives = (format: string, accept: string | undefined, expected: object) => {
    t.strictSame(negotiate(accept, format), expected, `${format} ${accept}`)
  }
  gives('json', undefined, json())
  gives('json', '*/*; indent=2', json(2))
  gives('json', 'text/html, */*', json())
  gives('json', 'text/html', notAcceptable)
  gives('json', '', notAcceptable)
  gives('api', undefined, page)
  gives('api', 'application/json, text/*', page)
  gives('api', 'application/json', notAcceptable)
  gives('', undefined, json())
  gives('', 'text/html', page)
  for (const format of ['xml', 'JSON', 'json ', 'html', '0']) {
    gives(format, undefined, unknown)
    gives(format, 'image/png', unknown)
  }
})
