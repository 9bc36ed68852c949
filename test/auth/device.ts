/** Devices in memory and by name: valid names and tags, selectors, and lists after any changes. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceName, slugOf, unsetSettings } from '../../auth/devices/device.ts'
import { DeviceMemory } from '../../auth/devices/device-memory.ts'
import type { DeviceRow } from '../../auth/devices/device-record.ts'
import { createSelection, Selector } from '../../auth/devices/selector.ts'
import { createTagMatcher, TagMatch, Tags, tagFault, tagsIn } from '../../auth/devices/tag.ts'
import { runs } from '../support/runs.ts'

const password = Buffer.alloc(32, 1)
const credential = { current: password, next: null, nextUsed: false, graceEndsMs: null }
const about = { ...unsetSettings, ...credential, createdMs: 1, lastSeenMs: null }
function rowOf(number: number, more: Partial<DeviceRow> = {}): DeviceRow {
  const names = { name: `d${number}`, symbol: `d-${number}` }
  return { ...about, ...names, number, authSeq: number, removed: false, ...more }
}

const number = fc.integer({ min: 1, max: 12 })
const owner = fc.constantFrom(null, 1, 2)
const set = fc.record({ kind: fc.constant('set' as const), number, owner, name: fc.nat(99), log: fc.boolean() })
const remove = fc.record({ kind: fc.constant('remove' as const), number })
const look = fc.record({ kind: fc.constant('look' as const), owner })
const change = fc.oneof({ weight: 4, arbitrary: set }, remove, look)

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

interface Model {
  rows: Map<number, DeviceRow>
  gone: Set<number>
}

function happen(change: Change, authSeq: number, memory: DeviceMemory, { rows, gone }: Model): void {
  if (change.kind === 'look') {
    memory.all(change.owner ?? undefined)
    return
  }
  const { number } = change
  if (change.kind === 'remove') {
    memory.remove(number)
    if (rows.delete(number)) gone.add(number)
  } else if (!gone.has(number)) {
    const { owner, log } = change
    const row = rowOf(number, { name: `${change.name}-${number}`, owner, log_switch: log, authSeq })
    memory.apply(row)
    rows.set(number, row)
  }
}

const namesOf = (rows: readonly { name: string }[]) => rows.map(({ name }) => name).join()

t.test('lists are in the order of names, of all and of each owner', async () => {
  fc.assert(
    fc.property(fc.array(change, { maxLength: 60 }), changes => {
      const memory = new DeviceMemory()
      const model: Model = { rows: new Map(), gone: new Set() }
      for (const [index, change] of changes.entries()) happen(change, index + 1, memory, model)
      const expected = [...model.rows.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
      return [undefined, 1, 2].every(of => {
        const rows = expected.filter(row => of === undefined || row.owner === of)
        const isCounted = of === undefined ? memory.size() === rows.length : memory.ownedBy(of) === rows.length
        const active = rows.filter(({ log_switch }) => log_switch)
        return isCounted && namesOf(memory.all(of)) === namesOf(rows) && namesOf(memory.active(of)) === namesOf(active)
      })
    }),
    runs(150, 1500),
  )
})

t.test('a list is the same object until one of its devices changes', async t => {
  const memory = new DeviceMemory()
  for (let number = 1; number <= 4; number++) memory.apply(rowOf(number, { owner: number % 2 }))
  const [all, odd, even] = [memory.active(), memory.active(1), memory.active(0)]
  t.equal(memory.active(1), odd)
  memory.apply(rowOf(2, { owner: 0, authSeq: 5, log_switch: false }))
  t.equal(memory.active(1), odd, 'the change was of another owner')
  t.not(memory.active(0), even)
  t.not(memory.active(), all)
})

t.test('the newer state of a device stays, without entries of removed devices', async t => {
  const memory = new DeviceMemory()
  for (const [name, authSeq] of [
    ['first', 1],
    ['third', 3],
    ['second', 2],
  ] as const) {
    memory.apply(rowOf(1, { name, authSeq }))
  }
  t.strictSame([namesOf(memory.all()), memory.get('second'), memory.sequence()], ['third', undefined, 3])
  const many = new DeviceMemory()
  for (let number = 1; number <= 20_000; number++) {
    many.apply(rowOf(number, { owner: 1 }))
    if (number > 1) many.remove(number)
  }
  t.strictSame([many.size(), many.ownedBy(1), many.all(1).length, many.all().length], [1, 1, 1, 1])
})

const faultsOf = (name: string) => DeviceName.safeParse(name).error?.issues.map(({ message }) => message)

t.test('a name is composed (NFC) or rejected with the rule', async t => {
  t.equal(faultsOf('x'.repeat(64)), undefined)
  for (const name of ['', '\ud800', '.', '..', 'x'.repeat(65), '🌡'.repeat(65)]) t.equal(faultsOf(name)?.length, 1, name)
  const rows: [rule: string, ...names: string[]][] = [
    ['contain ":", "/", "+" or "#"', 'a:b', 'a/b', '+', '#'],
    ['contain control characters', 'a\nb', 'a\u0085b'],
    ['begin or end with a space', ' lead2', 'lead2 ', ' '],
    ['contain two spaces in a row', 'a  b'],
    ['contain blanks other than the space', '\u00a0', 'a\u1680b', '\u3000a'],
    ['contain invisible characters', '\u200b', 'a\u202eb', 'a\u034fb', 'a\u2800b', 'a\u{1ffff}b', '\u{e0100}'],
  ]
  for (const [rule, ...names] of rows) {
    for (const name of names) t.strictSame(faultsOf(name), [`must not ${rule}`], JSON.stringify(name))
  }
  t.equal(DeviceName.parse('Ku\u0308che'), 'Küche', 'a decomposed spelling is the composed name')
  t.equal(DeviceName.parse('5 \u212b'), '5 Å', 'nor are there two signs for an angstrom')
})

t.test('a slug is short and ASCII for any name', async t => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), name => {
      const slug = slugOf(name)
      return slug.length <= 40 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)
    }),
    runs(500, 5000),
  )
  const gives = (name: string, slug: string) => t.equal(slugOf(name), slug, name)
  gives('Kitchen', 'kitchen')
  gives('Küche (Nord)', 'kuche-nord')
  gives('  --a__b--  ', 'a-b')
  gives('温室', 'device')
  gives(`${'a'.repeat(39)} b`, 'a'.repeat(39))
})

const tagFaults = (...tags: unknown[]) => Tags.safeParse(tags).error?.issues.map(({ message }) => message)

t.test('a tag is a key, a colon and a value', async t => {
  for (const tag of ['a:b', 'site:Berlin', 'room:Server room 2', 'mac:00:1b:63', 'floor:-1', 'k_9:温室 #1/2+*']) {
    t.equal(tagFaults(tag), undefined, tag)
  }
  t.equal(tagFaults(`${'k'.repeat(32)}:${'🌡'.repeat(64)}`), undefined)
  const key = ['must have a key of 1 to 32 of a-z, 0-9 and "_" that begins with a letter']
  for (const tag of [':b', 'Site:b', '9a:b', 'a-b:c', `${'k'.repeat(33)}:b`, 'é:b', ' a:b'])
    t.strictSame(tagFaults(tag), key)
  t.strictSame(tagFaults('berlin'), ['must be a key, a colon and a value'])
  t.strictSame(tagFaults('a:'), ['has a value that must not be empty'])
  t.strictSame(tagFaults('a:b,c'), ['has a value that must not contain a comma or a semicolon'])
  t.strictSame(tagFaults('a: b'), ['has a value that must not begin or end with a space'])
  t.strictSame(tagFaults('site:*'), ['must not have "*" as its value'])
  t.equal(tagFaults(7)?.length, 1)
})

t.test('a device has at most 16 tags, one for each key, in the order of their keys', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}:v`)
  t.equal(tagFaults(...many(16)), undefined)
  t.equal(tagFaults(...many(17))?.length, 1)
  t.strictSame(tagFaults('a:b', 'a:c'), ['must have one value for each key'])
  t.strictSame(tagFaults('a:b', 'a:b'), ['must have one value for each key'])
  t.strictSame(Tags.parse(['site:Ko\u0308ln', 'room:1']), ['room:1', 'site:Köln'])
  t.strictSame(tagsIn(' site:berlin; room:Server room,,floor:2 '), ['site:berlin', 'room:Server room', 'floor:2'])
  t.strictSame(tagsIn(''), [])
})

const tag = fc.constantFrom('site:berlin', 'site:bonn', 'room:1', 'room:1:2', 'rooms:1', 'room_a:1')
const wanted = fc.array(fc.oneof(tag, fc.constantFrom('room:*', 'site:*', 'r:*')), { maxLength: 3 })
const oneForEachKey = fc.uniqueArray(tag, { maxLength: 4, selector: one => one.split(':')[0] })

t.test('all tags of a selector must match, with a star for any value of a key', async t => {
  fc.assert(
    fc.property(oneForEachKey, wanted, (tags, asked) => {
      const values = new Map(tags.map(one => [one.split(':')[0], one.split(':').slice(1).join(':')]))
      const expected = asked.every(one => {
        const [key, ...rest] = one.split(':')
        return rest.join(':') === '*' ? values.has(key) : values.get(key) === rest.join(':')
      })
      return createTagMatcher(asked)({ tags }) === expected
    }),
    runs(500, 5000),
  )
  t.ok(createTagMatcher(['k:a:*'])({ tags: ['k:a:*'] }), 'a star behind another colon is one')
  t.notOk(createTagMatcher(['k:a:*'])({ tags: ['k:a:b'] }))
})

t.test('a selector names devices, tags or all devices', async t => {
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
  const many = (length: number, name: (at: number) => string) => Array.from({ length }, (_, at) => name(at))
  const lists = [[], [''], many(1001, at => `d${at}`)].map(devices => ({ devices }))
  const tags = [[], ['a'], many(17, at => `k${at}:v`)].map(list => ({ tags: list }))
  for (const selector of [{}, { all: false }, { all: true, tags: ['a:b'] }, ...tags, ...lists]) {
    t.notOk(Selector.safeParse(selector).success, JSON.stringify(selector))
  }
})

t.test('a filter by tags accepts tags, and a star for any value of a key', async t => {
  for (const text of ['site:*', 'site:berlin']) t.ok(TagMatch.safeParse(text).success, text)
  for (const text of ['site', 'site:', '*:*', '*', 'Site:*', 'site:a,b'])
    t.notOk(TagMatch.safeParse(text).success, text)
  t.ok(tagFault('site:*'))
})

t.test('lists of tagged devices follow each change', async t => {
  const memory = new DeviceMemory()
  let changes = 0
  const set = (number: number, tags: string[], more: Partial<DeviceRow> = {}) =>
    memory.apply(rowOf(number, { tags, authSeq: ++changes, ...more }))
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
  t.equal(namesOf(memory.tagged(['site:berlin']).active), 'd1,d2')
  set(2, [], { owner: 7 })
  memory.remove(1)
  t.strictSame(names(['site:berlin']), ['d3'])
  t.strictSame(names(['site:berlin'], 7), [])
})
