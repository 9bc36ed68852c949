/** What may be a tag, which devices tags and selectors mean, and which lists there are of them. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceMemory } from '../../auth/devices/device-memory.ts'
import type { DeviceRow } from '../../auth/devices/device-record.ts'
import { createSelection, Selector } from '../../auth/devices/selector.ts'
import { createTagMatcher, TagMatch, Tags, tagFault, tagsIn } from '../../auth/devices/tag.ts'

const told = (...tags: unknown[]) => Tags.safeParse(tags).error?.issues.map(({ message }) => message)

t.test('a tag is a key, a colon and a value', async t => {
  for (const tag of ['a:b', 'site:Berlin', 'room:Server room 2', 'mac:00:1b:63', 'floor:-1', 'k_9:温室 #1/2+*']) {
    t.equal(told(tag), undefined, tag)
  }
  t.equal(told(`${'k'.repeat(32)}:${'🌡'.repeat(64)}`), undefined)
  const key = ['must have a key of 1 to 32 of a-z, 0-9 and "_" that begins with a letter']
  for (const tag of [':b', 'Site:b', '9a:b', 'a-b:c', `${'k'.repeat(33)}:b`, 'é:b', ' a:b'])
    t.strictSame(told(tag), key)
  t.strictSame(told('berlin'), ['must be a key, a colon and a value'])
  t.strictSame(told('a:'), ['has a value that must not be empty'])
  t.strictSame(told('a:b,c'), ['has a value that must not contain a comma or a semicolon'])
  t.strictSame(told('a: b'), ['has a value that must not begin or end with a space'])
  t.strictSame(told('site:*'), ['must not have "*" as its value'])
  t.equal(told(7)?.length, 1)
})

t.test('the rule for values agrees with its description for any text', async t => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`seed ${seed}`)
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.string({ unit: fc.constantFrom(...'ab  \u00a0,;:*\u200b\u0301'), maxLength: 6 }),
  )
  fc.assert(
    fc.property(text, given => {
      const parsed = Tags.safeParse([`site:${given}`])
      const tag = `site:${given}`.normalize('NFC')
      const value = tag.slice('site:'.length)
      const signs = [...value]
      const good =
        signs.length >= 1 &&
        signs.length <= 64 &&
        signs.every(sign => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800,;]/u.test(sign)) &&
        signs.every(sign => sign === ' ' || !/\p{Z}/u.test(sign)) &&
        value.split(' ').every(word => word !== '') &&
        value !== '*'
      return parsed.success === good && (!parsed.success || parsed.data[0] === tag)
    }),
    { numRuns: 2000, seed },
  )
})

t.test('a device has at most 16 tags, one for each key, in the order of their keys', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}:v`)
  t.equal(told(...many(16)), undefined)
  t.equal(told(...many(17))?.length, 1)
  t.strictSame(told('a:b', 'a:c'), ['must have one value for each key'])
  t.strictSame(told('a:b', 'a:b'), ['must have one value for each key'])
  t.strictSame(Tags.parse(['site:Ko\u0308ln', 'room:1']), ['room:1', 'site:Köln'])
})

t.test('a list is separated by commas or semicolons', async t => {
  t.strictSame(tagsIn(' site:berlin; room:Server room,,floor:2 '), ['site:berlin', 'room:Server room', 'floor:2'])
  t.strictSame(tagsIn(''), [])
})

const tag = fc.constantFrom('site:berlin', 'site:bonn', 'room:1', 'room:1:2', 'rooms:1', 'room_a:1')
const wanted = fc.array(fc.oneof(tag, fc.constantFrom('room:*', 'site:*', 'r:*')), { maxLength: 3 })
const oneForEachKey = fc.uniqueArray(tag, { maxLength: 4, selector: one => one.split(':')[0] })

t.test('all that is asked for must hold, and a star is any value of its key', async t => {
  const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31))
  t.comment(`seed ${seed}`)
  fc.assert(
    fc.property(oneForEachKey, wanted, (tags, asked) => {
      const values = new Map(tags.map(one => [one.split(':')[0], one.split(':').slice(1).join(':')]))
      const expected = asked.every(one => {
        const [key, ...rest] = one.split(':')
        return rest.join(':') === '*' ? values.has(key) : values.get(key) === rest.join(':')
      })
      return createTagMatcher(asked)({ tags }) === expected
    }),
    { numRuns: 2000, seed },
  )
  t.ok(createTagMatcher(['k:a:*'])({ tags: ['k:a:*'] }), 'a star behind another colon is one')
  t.notOk(createTagMatcher(['k:a:*'])({ tags: ['k:a:b'] }))
})

t.test('what a selector means', async t => {
  const devices = [
    { name: 'a', tags: ['room:1', 'site:berlin'] },
    { name: 'b', tags: ['site:berlin'] },
    { name: 'Küche', tags: [] },
  ]
  const selected = (selector: unknown) =>
    devices.filter(createSelection(Selector.parse(selector))).map(({ name }) => name)
  t.strictSame(selected({ all: true }), ['a', 'b', 'Küche'])
  t.strictSame(selected({ tags: ['site:berlin'] }), ['a', 'b'])
  t.strictSame(selected({ tags: ['site:berlin', 'room:*'] }), ['a'])
  t.strictSame(selected({ devices: ['Ku\u0308che', 'nobody'] }), ['Küche'])
  for (const selector of [
    {},
    { all: false },
    { all: true, tags: ['a:b'] },
    { tags: [] },
    { tags: ['a'] },
    { tags: Array.from({ length: 17 }, (_, index) => `k${index}:v`) },
    { devices: [] },
    { devices: [''] },
    { devices: Array.from({ length: 1001 }, (_, index) => `d${index}`) },
  ]) {
    t.notOk(Selector.safeParse(selector).success, JSON.stringify(selector))
  }
})

t.test('a tag that is none is no match either, but for the star', async t => {
  for (const text of ['site:*', 'site:berlin']) t.ok(TagMatch.safeParse(text).success, text)
  for (const text of ['site', 'site:', '*:*', '*', 'Site:*', 'site:a,b'])
    t.notOk(TagMatch.safeParse(text).success, text)
  t.ok(tagFault('site:*'))
})

t.test('lists of tagged devices follow each change', async t => {
  const memory = new DeviceMemory()
  let changes = 0
  const set = (number: number, tags: string[], more: Partial<DeviceRow> = {}) =>
    memory.apply({ ...emptyRow, number, name: `d${number}`, symbol: `d-${number}`, tags, authSeq: ++changes, ...more })
  const names = (tags: string[], owner?: number) => memory.tagged(tags, owner).all.map(({ name }) => name)
  set(2, ['site:berlin'], { owner: 7 })
  set(1, ['room:1', 'site:berlin'])
  set(3, [])
  t.strictSame(names(['site:berlin']), ['d1', 'd2'], 'in the order of names')
  t.equal(memory.tagged(['site:berlin']), memory.tagged(['site:berlin']), 'held until something changes')
  t.strictSame(names(['site:berlin'], 7), ['d2'])
  t.strictSame(names(['site:*', 'room:*']), ['d1'])
  set(3, ['site:berlin'], { log_switch: false })
  t.strictSame(names(['site:berlin']), ['d1', 'd2', 'd3'])
  t.strictSame(
    memory.tagged(['site:berlin']).active.map(({ name }) => name),
    ['d1', 'd2'],
  )
  set(2, [], { owner: 7 })
  memory.remove(1)
  t.strictSame(names(['site:berlin']), ['d3'])
  t.strictSame(names(['site:berlin'], 7), [])
})

const emptyRow: Omit<DeviceRow, 'number' | 'name' | 'symbol' | 'tags' | 'authSeq'> = {
  location_short: '',
  location_desc: '',
  log_switch: true,
  battery: false,
  altitude_m: null,
  latitude: null,
  longitude: null,
  expected_interval_seconds: null,
  owner: null,
  quality_limits: null,
  profile: 'none',
  battery_type: null,
  battery_cells: null,
  metrics: null,
  createdMs: 1,
  lastSeenMs: null,
  current: Buffer.alloc(32, 1),
  next: null,
  nextUsed: false,
  graceEndsMs: null,
  removed: false,
}
