/** The oracle detects each of the eight violations on made-up ledgers, and each fault of alerts. */

import { test } from 'tap'
import { faultsIn, type Notification } from './alert-receivers.ts'
import { shownLater } from './clock.ts'
import { allCustomOf, customOf, pointIdentity, sequenceEnd, sequenceOf, type Values, valuesOf } from './identity.ts'
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

function found(of: Ledger, rows: StoredRow[], options: JudgeOptions = { stampToleranceMs: 100 }): ViolationName[] {
  const { violations } = judge(of, rows, options)
  return violationNames.filter(name => violations[name].length > 0)
}

test('values carry their number within the range of a sensor', async t => {
  for (const sequence of [0, 1, 999, 1000, 899_999, 900_000, 123_456_789, sequenceEnd - 1]) {
    const values = valuesOf(sequence)
    t.equal(sequenceOf(values), sequence)
    t.ok(values.temperature >= -90 && values.temperature <= 85)
    t.ok(values.humidity >= 0 && values.humidity <= 100)
    t.ok(values.pressure >= 300 && values.pressure <= 1100)
    t.ok(values.battery_voltage >= 0 && values.battery_percentage >= 0 && values.battery_percentage <= 100)
    t.strictSame(JSON.parse(JSON.stringify(values)), values)
  }
  t.equal(sequenceOf({ ...valuesOf(1), temperature: 84.5 }), undefined)
})

/** Number 23 has two custom values of 20. */
const sequence = 23
const oneOf23 = ledger([attempt(sequence)])
const stored23 = (values: Record<string, number>) => [
  { ...row(sequence), values: { ...valuesOf(sequence), ...allCustomOf(sequence), ...values } },
]
const [metric = '', other = ''] = Object.keys(customOf(sequence))

test('values of an erased metric may be missing from earlier readings', async t => {
  const options = (doneMs: number): JudgeOptions => {
    return { erasedUntilMs: (device, name) => (device === 'porch' && name === metric ? doneMs : undefined) }
  }
  const endMs = 1000 * sequence
  t.strictSame(found(oneOf23, stored23({ [metric]: Number.NaN }), options(endMs + 1)), [])
  t.strictSame(found(oneOf23, stored23({ [metric]: Number.NaN }), options(endMs)), ['wrong'])
  t.strictSame(found(oneOf23, stored23({ [other]: Number.NaN }), options(endMs + 1)), ['wrong'])
  t.strictSame(found(oneOf23, stored23({ [metric]: 1 }), options(endMs + 1)), ['wrong'])
})

test('custom values are exactly those of their reading', async t => {
  t.strictSame(found(oneOf23, stored23({})), [])
  t.strictSame(found(oneOf23, stored23({ [metric]: Number.NaN })), ['wrong'], 'half of it')
  t.strictSame(found(oneOf23, stored23({ fault_19: sequence })), ['wrong'], 'one that it has not')
  t.strictSame(found(oneOf23, stored23(customOf(44))), ['wrong'], 'those of another one')
  const orphan = { device: 'porch', timeUs: 5, values: { fault_1: 7 } }
  t.strictSame(found(oneOf23, [...stored23({}), orphan]), ['wrong'], 'those of no reading')
})

test('a good run has no violation, with its unknown attempts stored or not', async t => {
  const attempts = [attempt(1), attempt(2, { status: undefined }), attempt(3, { status: undefined }), attempt(4)]
  const verdict = judge(ledger([...attempts, attempt(5, { status: 503 })]), [row(1), row(3), row(4)])
  t.strictSame(Object.values(verdict.violations).flat(), [])
  t.equal(verdict.acknowledged, 2)
  t.equal(verdict.unknown, 2)
  t.equal(verdict.unknownStored, 1)
})

const wide = { stampToleranceMs: 10_000 }
const sameKey = [attempt(1, { timeMs: 5 }), attempt(2, { timeMs: 5 })]
const withUnknown = [...sameKey, attempt(3, { timeMs: 5, status: undefined })]
const open = [attempt(1, { status: undefined })]
const two = [attempt(1), attempt(2)]
const ofTwoDevices = [attempt(1), attempt(2, { device: 'attic' })]
const porchAndAttic = [...two, attempt(3, { device: 'attic' })]
const inAttic = row(3, { device: 'attic' })
const erased = { erased: new Set(['porch']) }
const unset = { temperature: Number.NaN, humidity: Number.NaN, pressure: Number.NaN }
const empty = { ...unset, battery_voltage: Number.NaN, battery_percentage: Number.NaN }

type Case = [what: string, attempts: Attempt[], rows: StoredRow[], found: ViolationName[], options?: JudgeOptions]
const cases: Case[] = [
  ['not stored', two, [row(1)], ['lost']],
  ['not stored, and damaged on purpose', two, [row(1)], [], { exempt: new Set([2]) }],
  ['not stored, with a time of its own', [attempt(2, { timeMs: 5 })], [], ['lost']],
  ['replaced', sameKey, [row(2, { timeUs: 5000 })], []],
  ['overwritten by the older', sameKey, [row(1, { timeUs: 5000 })], ['lost']],
  ['replaced by one without an answer', withUnknown, [row(3, { timeUs: 5000 })], []],
  ['overwritten by the oldest', withUnknown, [row(1, { timeUs: 5000 })], ['lost']],
  ['one attempt stored twice', [attempt(1)], [row(1), row(1, { timeUs: 1_003_002 })], ['duplicated']],
  ['two in one place', sameKey, [row(1, { timeUs: 5000 }), row(2, { timeUs: 5000 })], ['duplicated']],
  ['never attempted', [attempt(1)], [row(1), row(2)], ['phantom']],
  ['another value', [attempt(1)], [row(1, { battery_voltage: 3.2 })], ['wrong']],
  ['another bit', [attempt(1)], [row(1, { temperature: valuesOf(1).temperature + 1e-13 })], ['wrong']],
  ['another device', [attempt(1)], [row(1, { device: 'attic' })], ['wrong']],
  ['stamped after its answer', [attempt(1)], [row(1, { timeUs: 1_200_000 })], ['wrong']],
  ['stored later, without an answer', open, [row(1, { timeUs: 1_200_000 })], []],
  ['stored before it was sent', open, [row(1, { timeUs: 800_000 })], ['wrong']],
  ['unknown values', [attempt(1)], [row(1), row(2, { pressure: 5 })], ['wrong']],
  ['another time', [attempt(1, { timeMs: 7 })], [row(1, { timeUs: 7001 })], ['wrong']],
  ...[400, 401, 403, 429, 503].map((status): Case => {
    return [`refused by ${status}`, [attempt(1, { status })], [row(1)], ['leaked']]
  }),
  ['refused by 500, and stored', [attempt(1, { status: 500 })], [row(1)], []],
  ['stamps that do not increase', two, [row(2), row(1, { timeUs: 2_003_002 })], ['disordered'], wide],
  ['order of two devices', ofTwoDevices, [row(2, { device: 'attic' }), row(1, { timeUs: 2_003_002 })], [], wide],
  ['erased', porchAndAttic, [row(1, empty), inAttic], [], erased],
  ['erased and readable', porchAndAttic, [row(1), inAttic], ['undead'], erased],
  [
    'erased except for one value',
    porchAndAttic,
    [row(1, { ...empty, battery_voltage: 3 }), inAttic],
    ['undead'],
    erased,
  ],
  ['erased, and one of another device is missing', porchAndAttic, [row(1, empty)], ['lost'], erased],
]

for (const [what, attempts, rows, violations, options] of cases) {
  test(`${what}: ${violations.join() || 'allowed'}`, async t => {
    t.strictSame(found(ledger(attempts), rows, options), violations)
  })
}

test('stamps follow a changed clock within a second, and increase between two steps', async t => {
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
  const order = (a: number, b: number) => found(ledger([attempt(a), attempt(b)]), [row(b), row(a)], { clock, ...wide })
  t.strictSame(order(2, 6), [], 'over a step')
  t.strictSame(order(6, 7), ['disordered'])
})

test('stale: accepted with a revoked password', async t => {
  const revoked = attempt(9, { kind: 'revoked' })
  t.strictSame(found(ledger([revoked], [{ device: 'porch', atMs: 8000 }]), [row(9)]), ['stale'])
  t.strictSame(found(ledger([revoked], [{ device: 'porch', atMs: 9500 }]), [row(9)]), [], 'it was under way')
})

test('points are judged by the same figures', async t => {
  const point = (sequence: number, more: Partial<Attempt> = {}) =>
    attempt(sequence, { device: 'IN-1 pm25', timeMs: 1000 * sequence, status: 201, ...more })
  const stored = (sequence: number, more: Partial<StoredRow> = {}): StoredRow => ({
    device: 'IN-1 pm25',
    timeUs: 1_000_000 * sequence,
    values: pointIdentity.valuesOf(sequence),
    ...more,
  })
  const ofPoints = (attempts: Attempt[], rows: StoredRow[], more = {}) =>
    found(ledger(attempts), rows, { identity: pointIdentity, ...more })
  const both = [point(1), point(2)]
  t.strictSame(ofPoints(both, [stored(1), stored(2)]), [])
  t.strictSame(ofPoints(both, [stored(1)]), ['lost'])
  t.strictSame(ofPoints(both, [stored(1), stored(2), stored(2)]), ['duplicated'])
  t.strictSame(ofPoints(both, [stored(1), stored(2), stored(3)]), ['phantom'])
  const { value = 0, unit = '' } = pointIdentity.valuesOf(2)
  const oneBit = { value: Number(value) + 2 ** -50, unit }
  const changes = [
    { device: 'IN-1 pm10' },
    { timeUs: 2_000_001 },
    { values: { value, unit: 'ppm' } },
    { values: oneBit },
  ]
  for (const more of changes) t.strictSame(ofPoints(both, [stored(1), stored(2, more)]), ['wrong'])
  t.strictSame(ofPoints([point(1, { status: 400 })], [stored(1)]), ['leaked'])
  const again = [point(1), point(2, { timeMs: 1000 })]
  t.strictSame(ofPoints(again, [stored(2, { timeUs: 1_000_000 })]), [])
  t.strictSame(ofPoints(again, [stored(1)]), ['lost'], 'overwritten by the older')
  const erased = { erased: new Set(['IN-1 pm25']) }
  t.strictSame(ofPoints(both, [stored(1, { values: { value: Number.NaN, unit: '' } })], erased), [])
  t.strictSame(ofPoints(both, [stored(1)], erased), ['undead'])
})

test('the API shows a reading stamped for the next day on that day', async t => {
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

/** `alerts` has the form `1 firing, 2 resolved`. */
function notification(second: number, type: Notification['type'], alerts: string): Notification {
  const parts = alerts.split(', ').map(text => {
    const [id = '', state] = text.split(' ')
    return { id, state } as Notification['alerts'][number]
  })
  return { webhookId: `msg_${second}`, type, timestamp: new Date(second * 1000).toISOString(), alerts: parts }
}

const firstAlert = notification(1, 'alert.firing', '1 firing')
const lastAlert = notification(3, 'alert.resolved', '1 resolved')
const inAnyOrder = [
  notification(3, 'alert.resolved', '1 resolved, 2 firing'),
  firstAlert,
  notification(2, 'alert.firing', '2 firing, 1 firing'),
  notification(4, 'alert.resolved', '2 resolved'),
]
const receivedCases: [received: Notification[], wanted: number, faults: string[]][] = [
  [inAnyOrder, 2, []],
  [[firstAlert, lastAlert], 2, ['alerts: 1 told in place of 2', 'alerts: the end of 1 told in place of 2']],
  [[firstAlert, notification(2, 'alert.firing', '1 firing'), lastAlert], 1, ['alerts: told twice, again by msg_2']],
  [[firstAlert, lastAlert, notification(4, 'alert.resolved', '1 resolved')], 1, ['alerts: 1 ends twice']],
]

test('missed and repeated notifications and ends are found in any order of arrival', async t => {
  for (const [received, wanted, faults] of receivedCases) t.strictSame(faultsIn(received, wanted), faults)
})
