/** Devices in memory and by name: what may be a name and a tag, which devices selectors mean, and lists after any changes. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceChange, DeviceName, NewDevice, slugOf } from '../../auth/devices/device.ts'
import { DeviceMemory } from '../../auth/devices/device-memory.ts'
import type { DeviceRow } from '../../auth/devices/device-record.ts'
import { createSelection, Selector } from '../../auth/devices/selector.ts'
import { createTagMatcher, TagMatch, Tags, tagFault, tagsIn } from '../../auth/devices/tag.ts'

const password = Buffer.alloc(32, 1)
const about = {
  location_short: '',
  location_desc: '',
  battery: false,
  altitude_m: null,
  latitude: null,
  longitude: null,
  expected_interval_seconds: null,
  quality_limits: null,
  profile: 'none' as const,
  battery_type: null,
  battery_cells: null,
  metrics: null,
  tags: [],
  createdMs: 1,
  lastSeenMs: null,
  current: password,
  next: null,
  nextUsed: false,
  graceEndsMs: null,
}

const number = fc.integer({ min: 1, max: 12 })
const owner = fc.constantFrom(null, 1, 2)
const change = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('set' as const), number, owner, name: fc.nat(99), log: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('remove' as const), number }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('look' as const), owner }) },
)

type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never

/** A number that was removed is not used again. */
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
    const names = { name: `${change.name}-${number}`, symbol: `d-${number}` }
    const row = { ...about, ...names, number, owner, log_switch: log, authSeq, removed: false }
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
    { numRuns: 500 },
  )
})

t.test('a list stays the same until one of its devices changes', async t => {
  const memory = new DeviceMemory()
  const row = (number: number, owner: number, authSeq: number, log_switch = true): DeviceRow => ({
    ...about,
    number,
    symbol: `d-${number}`,
    name: `device-${number}`,
    owner,
    log_switch,
    authSeq,
    removed: false,
  })
  for (let number = 1; number <= 4; number++) memory.apply(row(number, number % 2, number))
  const [all, odd, even] = [memory.active(), memory.active(1), memory.active(0)]
  t.equal(memory.active(1), odd)
  memory.apply(row(2, 0, 5, false))
  t.equal(memory.active(1), odd, 'the change was of another owner')
  t.not(memory.active(0), even)
  t.not(memory.active(), all)
})

t.test('of two states of a device the newer one stays, in whichever order they come', async t => {
  const memory = new DeviceMemory()
  const apply = (name: string, authSeq: number) =>
    memory.apply({ ...about, number: 1, symbol: 'd-1', name, owner: null, log_switch: true, authSeq, removed: false })
  apply('first', 1)
  apply('third', 3)
  apply('second', 2)
  t.strictSame([namesOf(memory.all()), memory.get('second'), memory.sequence()], ['third', undefined, 3])
})

t.test('devices that come and go leave nothing behind, though nobody asks for a list', async t => {
  const memory = new DeviceMemory()
  for (let number = 1; number <= 20_000; number++) {
    const name = `device-${number}`
    memory.apply({ ...about, number, symbol: name, name, owner: 1, log_switch: true, authSeq: number, removed: false })
    if (number > 1) memory.remove(number)
  }
  t.strictSame([memory.size(), memory.ownedBy(1), memory.all(1).length, memory.all().length], [1, 1, 1, 1])
})

const told = (name: string) => DeviceName.safeParse(name).error?.issues.map(({ message }) => message)

t.test(
  'a name is 1 to 64 characters, composed, without signs that a topic, a path or a header cannot carry',
  async t => {
    for (const name of ['Küche Nord', 'a?c%20$=', '温室-1', "porch's <b>", 'x'.repeat(64), '🌡'.repeat(64)]) {
      t.equal(told(name), undefined, name)
    }
    for (const name of ['', '\ud800', '.', '..', 'x'.repeat(65), '🌡'.repeat(65)]) t.equal(told(name)?.length, 1, name)
    for (const sign of [':', '/', '+', '#']) {
      for (const name of [sign, `a${sign}b`]) t.strictSame(told(name), ['must not contain ":", "/", "+" or "#"'], name)
    }
    for (const sign of ['\n', '\t', '\u0000', '\u007f', '\u0085']) {
      t.strictSame(told(`a${sign}b`), ['must not contain control characters'])
    }
    t.equal(DeviceName.parse('Ku\u0308che'), 'Küche', 'a decomposed spelling is the composed name')
    t.equal(DeviceName.parse('5 \u212b'), '5 Å', 'nor are there two signs for an angstrom')
  },
)

t.test('names that look alike are one', async t => {
  for (const name of [' lead2', 'lead2 ', ' ']) t.strictSame(told(name), ['must not begin or end with a space'])
  t.strictSame(told('a  b'), ['must not contain two spaces in a row'])
  for (const blank of ['\u00a0', '\u1680', '\u2003', '\u3000']) {
    for (const name of [blank, `a${blank}b`, `${blank}a`]) {
      t.strictSame(told(name), ['must not contain blanks other than the space'], JSON.stringify(name))
    }
  }
  const zeroWidth = ['\u200b', '\u200c', '\u200d', '\u2060', '\ufeff', '\u00ad', '\u180e']
  const bidirectional = ['\u200e', '\u200f', '\u202a', '\u202e', '\u2066', '\u2069', '\u061c']
  const ignorable = ['\u034f', '\u115f', '\u1160', '\u3164', '\uffa0', '\u17b4', '\ufe0f', '\u{e0041}', '\u{e0100}']
  for (const sign of [...zeroWidth, ...bidirectional, ...ignorable, '\u2028', '\u2029', '\u2800', '\u{1ffff}']) {
    t.strictSame(told(`a${sign}b`), ['must not contain invisible characters'], `${sign.codePointAt(0)?.toString(16)}`)
    t.strictSame(told(sign), ['must not contain invisible characters'])
  }
})

t.test('the rule for names agrees with its description for any text', async () => {
  const text = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 70 }),
    fc.string({ unit: 'grapheme', maxLength: 70 }),
    fc.string({ unit: fc.constantFrom(...'ab  \u00a0\u3000.:/+#\u200b\u0301'), maxLength: 6 }),
    fc.array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 6 }).map(units => String.fromCharCode(...units)),
  )
  fc.assert(
    fc.property(text, given => {
      const parsed = DeviceName.safeParse(given)
      const name = given.normalize('NFC')
      const signs = [...name]
      const good =
        signs.length >= 1 &&
        signs.length <= 64 &&
        signs.every(sign => !/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}\p{DI}\p{NChar}\u2800:/+#]/u.test(sign)) &&
        signs.every(sign => sign === ' ' || !/\p{Z}/u.test(sign)) &&
        name.split(' ').every(word => word !== '') &&
        name !== '.' &&
        name !== '..'
      return parsed.success === good && (!parsed.success || parsed.data === name)
    }),
    { numRuns: 1000 },
  )
})

t.test('a slug is short and plain for any name', async t => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 80 }), name => {
      const slug = slugOf(name)
      return slug.length <= 40 && /^[a-z0-9]+(-[a-z0-9]+)*$/.test(slug)
    }),
    { numRuns: 1000 },
  )
  const gives = (name: string, slug: string) => t.equal(slugOf(name), slug, name)
  gives('Kitchen', 'kitchen')
  gives('Küche (Nord)', 'kuche-nord')
  gives('  --a__b--  ', 'a-b')
  gives('温室', 'device')
  gives(`${'a'.repeat(39)} b`, 'a'.repeat(39))
})

t.test('a typing error in a field is told, not dropped', async t => {
  const told = (schema: typeof NewDevice | typeof DeviceChange, value: object) => {
    const parsed = schema.safeParse(value)
    return parsed.success ? undefined : parsed.error.issues.map(issue => issue.path.join('.') || issue.message)
  }
  t.match(told(NewDevice, { name: 'a', locaton_short: 'x' })?.[0], /locaton_short/)
  t.match(told(DeviceChange, { logswitch: true })?.[0], /logswitch/)
  t.match(told(DeviceChange, {}), ['must name at least one field to change'])
  t.strictSame(told(DeviceChange, { altitude_m: 20_000, battery: 'yes' })?.sort(), ['altitude_m', 'battery'])
  t.strictSame(told(NewDevice, { name: 'a', location_desc: 'a\u0000b' }), ['location_desc'])
  t.strictSame(DeviceChange.parse({ owner: null }), { owner: null }, 'a change holds what it names and no defaults')
})

const toldOf = (...tags: unknown[]) => Tags.safeParse(tags).error?.issues.map(({ message }) => message)

t.test('a tag is a key, a colon and a value', async t => {
  for (const tag of ['a:b', 'site:Berlin', 'room:Server room 2', 'mac:00:1b:63', 'floor:-1', 'k_9:温室 #1/2+*']) {
    t.equal(toldOf(tag), undefined, tag)
  }
  t.equal(toldOf(`${'k'.repeat(32)}:${'🌡'.repeat(64)}`), undefined)
  const key = ['must have a key of 1 to 32 of a-z, 0-9 and "_" that begins with a letter']
  for (const tag of [':b', 'Site:b', '9a:b', 'a-b:c', `${'k'.repeat(33)}:b`, 'é:b', ' a:b'])
    t.strictSame(toldOf(tag), key)
  t.strictSame(toldOf('berlin'), ['must be a key, a colon and a value'])
  t.strictSame(toldOf('a:'), ['has a value that must not be empty'])
  t.strictSame(toldOf('a:b,c'), ['has a value that must not contain a comma or a semicolon'])
  t.strictSame(toldOf('a: b'), ['has a value that must not begin or end with a space'])
  t.strictSame(toldOf('site:*'), ['must not have "*" as its value'])
  t.equal(toldOf(7)?.length, 1)
})

t.test('a device has at most 16 tags, one for each key, in the order of their keys', async t => {
  const many = (count: number) => Array.from({ length: count }, (_, index) => `k${index}:v`)
  t.equal(toldOf(...many(16)), undefined)
  t.equal(toldOf(...many(17))?.length, 1)
  t.strictSame(toldOf('a:b', 'a:c'), ['must have one value for each key'])
  t.strictSame(toldOf('a:b', 'a:b'), ['must have one value for each key'])
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
  fc.assert(
    fc.property(oneForEachKey, wanted, (tags, asked) => {
      const values = new Map(tags.map(one => [one.split(':')[0], one.split(':').slice(1).join(':')]))
      const expected = asked.every(one => {
        const [key, ...rest] = one.split(':')
        return rest.join(':') === '*' ? values.has(key) : values.get(key) === rest.join(':')
      })
      return createTagMatcher(asked)({ tags }) === expected
    }),
    { numRuns: 1000 },
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
    memory.apply({
      ...about,
      owner: null,
      log_switch: true,
      removed: false,
      number,
      name: `d${number}`,
      symbol: `d-${number}`,
      tags,
      authSeq: ++changes,
      ...more,
    })
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
