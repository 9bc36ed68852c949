/** The registry in memory against a plain map: what lists hold, in which order, whatever is changed in between. */

import fc from 'fast-check'
import t from 'tap'
import { DeviceMemory } from '../../auth/devices/device-memory.ts'
import type { DeviceRow } from '../../auth/devices/device-record.ts'

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
    { numRuns: 1000 },
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
