/** Query strings read and written as Django does, by table and by any text at all. */

import assert from 'node:assert/strict'
import fc from 'fast-check'
import { test } from 'tap'
import { Query } from '../../../api/content-files/query-string.ts'

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
    { numRuns: 2_000 },
  )
})
