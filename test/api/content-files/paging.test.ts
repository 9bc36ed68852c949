/** Which part of the list an address asks for, and the links to the parts around it. */

import { test } from 'tap'
import { linksOf, readPaging } from '../../../api/content-files/paging.ts'
import { Query } from '../../../api/content-files/query-string.ts'

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
