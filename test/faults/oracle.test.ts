/** The oracle sees each of the eight violations, on ledgers that are made up. */

import { test } from 'tap'
import { shownLater } from './clock-periods.ts'
import { allFurtherOf, furtherOf } from './further-values.ts'
import { pointIdentity, sequenceEnd, sequenceOf, type Values, valuesOf } from './identity.ts'
import type { Attempt, Ledger } from './ledger.ts'
import { type JudgeOptions, judge, type StoredRow, type ViolationName, violationNames } from './oracle.ts'

const attempt = (sequence: number, more: Partial<Attempt> = {}): Attempt => ({
  sequence,
  device: 'porch',
  kind: more.timeMs === undefined ? 'live' : 'timed',
  timeMs: undefined,
  startMs: 1000 * sequence,
  endMs: 1000 * sequence + 5,
  status: 200,
  ...more,
})

interface More extends Partial<Values> {
  device?: string
  timeUs?: number
}

const row = (sequence: number, { device = 'porch', timeUs, ...more }: More = {}): StoredRow => ({
  device,
  timeUs: timeUs ?? 1_000_000 * sequence + 3001,
  values: { ...valuesOf(sequence), ...more },
})

const ledger = (attempts: Attempt[], revocations: Ledger['revocations'] = []): Ledger => ({ attempts, revocations })

/** Names of the violations found. */
function found(of: Ledger, rows: StoredRow[], options: JudgeOptions = { stampToleranceMs: 100 }): ViolationName[] {
  const { violations } = judge(of, rows, options)
  return violationNames.filter(name => violations[name].length > 0)
}

test('values carry their number, inside of what a sensor can give', async t => {
  for (const sequence of [0, 1, 999, 1000, 899_999, 900_000, 123_456_789, sequenceEnd - 1]) {
    const values = valuesOf(sequence)
    t.equal(sequenceOf(values), sequence)
    t.ok(values.temperature >= -90 && values.temperature <= 85)
    t.ok(values.humidity >= 0 && values.humidity <= 100)
    t.ok(values.pressure >= 300 && values.pressure <= 1100)
    t.ok(values.batteryVoltage >= 0 && values.batteryPercentage >= 0 && values.batteryPercentage <= 100)
    t.strictSame(JSON.parse(JSON.stringify(values)), values)
  }
  t.equal(sequenceOf({ ...valuesOf(1), temperature: 84.5 }), undefined)
})

test('values of a metric that was erased may be missing, of readings from before that', async t => {
  const sequence = 23
  const all = { ...valuesOf(sequence), ...allFurtherOf(sequence) }
  const [metric = '', other = ''] = Object.keys(furtherOf(sequence))
  const without = (name: string) => [{ ...row(sequence), values: { ...all, [name]: Number.NaN } }]
  const options = (doneMs: number): JudgeOptions => {
    return { erasedUntilMs: (device, name) => (device === 'porch' && name === metric ? doneMs : undefined) }
  }
  const one = ledger([attempt(sequence)])
  t.strictSame(found(one, without(metric), options(1000 * sequence + 1)), [])
  t.strictSame(found(one, without(metric), options(1000 * sequence)), ['wrong'])
  t.strictSame(found(one, without(other), options(1000 * sequence + 1)), ['wrong'])
  const changed = [{ ...row(sequence), values: { ...all, [metric]: 1 } }]
  t.strictSame(found(one, changed, options(1000 * sequence + 1)), ['wrong'])
})

test('further values have to be those of their reading, all of them and no others', async t => {
  // Two further values of 20.
  const sequence = 23
  const one = ledger([attempt(sequence)])
  const stored = (values: Record<string, number>) => [
    { ...row(sequence), values: { ...valuesOf(sequence), ...allFurtherOf(sequence), ...values } },
  ]
  const [[first], second] = [Object.keys(furtherOf(sequence)), furtherOf(44)] as [[string], Record<string, number>]
  t.strictSame(found(one, stored({})), [])
  t.strictSame(found(one, stored({ [first]: Number.NaN })), ['wrong'], 'half of it')
  t.strictSame(found(one, stored({ fault_19: sequence })), ['wrong'], 'one that it has not')
  t.strictSame(found(one, stored(second)), ['wrong'], 'those of another one')
  const orphan = { device: 'porch', timeUs: 5, values: { fault_1: 7 } }
  t.strictSame(found(one, [...stored({}), orphan]), ['wrong'], 'those of no reading')
})

test('a good run has no violation, and its unknown attempts may be there or not', async t => {
  const attempts = [attempt(1), attempt(2, { status: undefined }), attempt(3, { status: undefined }), attempt(4)]
  const verdict = judge(ledger([...attempts, attempt(5, { status: 503 })]), [row(1), row(3), row(4)])
  t.strictSame(Object.values(verdict.violations).flat(), [])
  t.equal(verdict.acknowledged, 2)
  t.equal(verdict.unknown, 2)
  t.equal(verdict.unknownStored, 1)
})

test('lost: acknowledged and not stored', async t => {
  t.strictSame(found(ledger([attempt(1), attempt(2)]), [row(1)]), ['lost'])
  t.strictSame(found(ledger([attempt(1), attempt(2)]), [row(1)], { exempt: new Set([2]) }), [])
  t.strictSame(found(ledger([attempt(2, { timeMs: 5 })]), []), ['lost'])
})

test('lost: an acknowledged replacement that an older one overwrote', async t => {
  const sameKey = [attempt(1, { timeMs: 5 }), attempt(2, { timeMs: 5 })]
  t.strictSame(found(ledger(sameKey), [row(2, { timeUs: 5000 })]), [])
  t.strictSame(found(ledger(sameKey), [row(1, { timeUs: 5000 })]), ['lost'])
  const withUnknown = [...sameKey, attempt(3, { timeMs: 5, status: undefined })]
  t.strictSame(found(ledger(withUnknown), [row(3, { timeUs: 5000 })]), [])
  t.strictSame(found(ledger(withUnknown), [row(1, { timeUs: 5000 })]), ['lost'])
})

test('duplicated: one attempt twice, or two in one place', async t => {
  t.strictSame(found(ledger([attempt(1)]), [row(1), row(1, { timeUs: 1_003_002 })]), ['duplicated'])
  const sameKey = [attempt(1, { timeMs: 5 }), attempt(2, { timeMs: 5 })]
  t.strictSame(found(ledger(sameKey), [row(1, { timeUs: 5000 }), row(2, { timeUs: 5000 })]), ['duplicated'])
})

test('phantom: stored and never attempted', async t => {
  t.strictSame(found(ledger([attempt(1)]), [row(1), row(2)]), ['phantom'])
})

test('wrong: a value, a device or a time that was not sent', async t => {
  const one = ledger([attempt(1)])
  t.strictSame(found(one, [row(1, { batteryVoltage: 3.2 })]), ['wrong'])
  t.strictSame(found(one, [row(1, { temperature: valuesOf(1).temperature + 1e-13 })]), ['wrong'], 'one bit')
  t.strictSame(found(one, [row(1, { device: 'attic' })]), ['wrong'])
  t.strictSame(found(one, [row(1, { timeUs: 1_200_000 })]), ['wrong'], 'stamped after its answer')
  const open = ledger([attempt(1, { status: undefined })])
  t.strictSame(found(open, [row(1, { timeUs: 1_200_000 })]), [], 'without an answer it may be taken later')
  t.strictSame(found(open, [row(1, { timeUs: 800_000 })]), ['wrong'], 'and never before it was sent')
  t.strictSame(found(one, [row(1), row(2, { pressure: 5 })]), ['wrong'], 'values of nobody')
  t.strictSame(found(ledger([attempt(1, { timeMs: 7 })]), [row(1, { timeUs: 7001 })]), ['wrong'])
})

test('leaked: refused and stored', async t => {
  for (const status of [400, 401, 403, 429, 503]) {
    t.strictSame(found(ledger([attempt(1, { status })]), [row(1)]), ['leaked'], String(status))
  }
  t.strictSame(found(ledger([attempt(1, { status: 500 })]), [row(1)]), [], 'a 500 leaves it open')
})

test('disordered: stamps of a device that do not grow with its readings', async t => {
  const wide = { stampToleranceMs: 10_000 }
  const two = ledger([attempt(1), attempt(2)])
  t.strictSame(found(two, [row(2), row(1, { timeUs: 2_003_002 })], wide), ['disordered'])
  const other = ledger([attempt(1), attempt(2, { device: 'attic' })])
  t.strictSame(found(other, [row(2, { device: 'attic' }), row(1, { timeUs: 2_003_002 })], wide), [])
})

test('stamps follow a clock that was set within a second, and rise between two steps', async t => {
  const clock = [
    { fromMs: 0, offsetMs: 0 },
    { fromMs: 1500, offsetMs: 3_600_000 },
    { fromMs: 4500, offsetMs: 0 },
  ]
  const one = (sequence: number, timeUs: number) =>
    found(ledger([attempt(sequence)]), [row(sequence, { timeUs })], { clock, stampToleranceMs: 5 })
  t.strictSame(one(2, 3_602_003_000), [], 'ahead with it')
  t.strictSame(one(1, 3_601_003_000), ['wrong'], 'ahead before it')
  t.strictSame(one(5, 3_605_003_000), [], 'a moment behind')
  t.strictSame(one(6, 3_606_003_000), ['wrong'], 'behind')
  t.strictSame(one(6, 6_003_000), [])
  const wide = { clock, stampToleranceMs: 10_000 }
  const order = (a: number, b: number) => found(ledger([attempt(a), attempt(b)]), [row(b), row(a)], wide)
  t.strictSame(order(2, 6), [], 'over a step')
  t.strictSame(order(6, 7), ['disordered'])
})

test('stale: taken with a password that had been revoked', async t => {
  const revoked = attempt(9, { kind: 'revoked' })
  t.strictSame(found(ledger([revoked], [{ device: 'porch', atMs: 8000 }]), [row(9)]), ['stale'])
  t.strictSame(found(ledger([revoked], [{ device: 'porch', atMs: 9500 }]), [row(9)]), [], 'it was under way')
})

test('undead: erased and readable', async t => {
  const erased = { erased: new Set(['porch']) }
  const two = ledger([attempt(1), attempt(2), attempt(3, { device: 'attic' })])
  const left = { temperature: Number.NaN, humidity: Number.NaN, pressure: Number.NaN }
  const empty = { ...left, batteryVoltage: Number.NaN, batteryPercentage: Number.NaN }
  t.strictSame(found(two, [row(1, empty), row(3, { device: 'attic' })], erased), [])
  t.strictSame(found(two, [row(1), row(3, { device: 'attic' })], erased), ['undead'])
  t.strictSame(found(two, [row(1, { ...empty, batteryVoltage: 3 }), row(3, { device: 'attic' })], erased), ['undead'])
  t.strictSame(found(two, [row(1, empty)], erased), ['lost'], 'of another')
})

test('points are judged by the same figures', async t => {
  const options = { identity: pointIdentity }
  const point = (sequence: number, more: Partial<Attempt> = {}) =>
    attempt(sequence, { device: 'IN-1 pm25', timeMs: 1000 * sequence, status: 201, ...more })
  const stored = (sequence: number, more: Partial<StoredRow> = {}): StoredRow => ({
    device: 'IN-1 pm25',
    timeUs: 1_000_000 * sequence,
    values: pointIdentity.valuesOf(sequence),
    ...more,
  })
  const two = ledger([point(1), point(2)])
  t.strictSame(found(two, [stored(1), stored(2)], options), [])
  t.strictSame(found(two, [stored(1)], options), ['lost'])
  t.strictSame(found(two, [stored(1), stored(2), stored(2)], options), ['duplicated'])
  t.strictSame(found(two, [stored(1), stored(2), stored(3)], options), ['phantom'])
  t.strictSame(found(two, [stored(1), stored(2, { device: 'IN-1 pm10' })], options), ['wrong'])
  t.strictSame(found(two, [stored(1), stored(2, { timeUs: 2_000_001 })], options), ['wrong'])
  const { value = 0, unit = '' } = pointIdentity.valuesOf(2)
  t.strictSame(found(two, [stored(1), stored(2, { values: { value, unit: 'ppm' } })], options), ['wrong'])
  const oneBit = { value: Number(value) + 2 ** -50, unit }
  t.strictSame(found(two, [stored(1), stored(2, { values: oneBit })], options), ['wrong'], 'one bit')
  t.strictSame(found(ledger([point(1, { status: 400 })]), [stored(1)], options), ['leaked'])
  const again = ledger([point(1), point(2, { timeMs: 1000 })])
  t.strictSame(found(again, [stored(2, { timeUs: 1_000_000 })], options), [])
  t.strictSame(found(again, [stored(1)], options), ['lost'], 'overwritten by the older')
  const erased = { ...options, erased: new Set(['IN-1 pm25']) }
  t.strictSame(found(two, [stored(1, { values: { value: Number.NaN, unit: '' } })], erased), [])
  t.strictSame(found(two, [stored(1)], erased), ['undead'])
})

test('a reading that is stamped for the next day is shown by the API on that day', async t => {
  const midnightMs = Date.UTC(2026, 10, 26)
  const [hourMs, minuteMs] = [3_600_000, 60_000]
  const ahead = [{ fromMs: 0, offsetMs: hourMs }]
  const at = (sequence: number, beforeMs: number) =>
    attempt(sequence, { startMs: midnightMs - beforeMs, endMs: midnightMs - beforeMs })
  const attempts = [at(1, 59 * minuteMs), at(2, 61 * minuteMs)]
  t.strictSame(shownLater(attempts, ahead, midnightMs - minuteMs), new Set([1]))
  t.strictSame(shownLater(attempts, ahead, midnightMs + minuteMs), new Set(), 'that day has come')
  t.strictSame(shownLater(attempts, [{ fromMs: 0, offsetMs: -hourMs }], midnightMs - minuteMs), new Set())
})
