/** What a query narrows the list by, and what is wrong with it. */

import { test } from 'tap'
import { filterErrors, readFilters } from '../../../api/content-files/filters.ts'
import { Query } from '../../../api/content-files/query-string.ts'
import { unknownCodes } from '../../../content/filters.ts'

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
  const bad = [
    'abc',
    'NaN',
    'sNaN',
    'Infinity',
    '1,2',
    '%20',
    '1_000',
    '0x1',
    '1e',
    'e1',
    '.',
    '%2B-1',
    '1%202',
    '٣',
    '%00',
  ]
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
