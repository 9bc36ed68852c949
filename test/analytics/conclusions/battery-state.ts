/** The state of a battery: along a curve, by its charge, and without a type. */

import { test } from 'tap'
import { batteryMetricOf } from '../../../analytics/battery/battery-metric.ts'
import { type BatteryOf, batteryState } from '../../../analytics/battery/battery-state.ts'
import { cellTypes, chargeOf, fullVoltage, voltageOf } from '../../../analytics/battery/curves.ts'
import { profiles } from '../../../analytics/domain/profile.ts'
import { BatteryType, Profile } from '../../../auth/devices/device.ts'

const days = (means: readonly number[]) => means.map((mean, day) => ({ day, mean }))
const made = (count: number, mean: (day: number) => number) =>
  days(Array.from({ length: count }, (_, day) => mean(day)))

const voltage = (type: BatteryOf['type'], cells: number | null = null): BatteryOf => ({ kind: 'voltage', type, cells })
const charged = (count: number, mean: (day: number) => number) =>
  batteryState(made(count, mean), { kind: 'charge', type: 'li-ion', cells: null })

test('a curve falls and has an exact inverse', async t => {
  for (const type of cellTypes) {
    for (let percent = 0; percent <= 100; percent += 2.5) {
      const back = chargeOf(type, voltageOf(type, percent))
      t.ok(Math.abs(back - percent) < 1e-9, `${type} ${percent} ${back}`)
    }
    t.equal(chargeOf(type, fullVoltage(type) + 1), 100)
    t.equal(chargeOf(type, 0), 0)
    t.ok(Array.from({ length: 100 }, (_, at) => voltageOf(type, at + 1) > voltageOf(type, at)).every(Boolean), type)
  }
})

test("the lists of types and profiles equal the registry's", async t => {
  t.strictSame(BatteryType.options, cellTypes)
  t.strictSame(Profile.options, profiles)
})

test('the recent drain counts if it is faster', async t => {
  const state = charged(30, day => (day < 20 ? 90 - day / 4 : 85 - 3 * (day - 20)))
  t.ok(state?.kind === 'days' && Math.abs(state.daysLeft - 58 / 3) < 0.5, JSON.stringify(state))
})

test('a charge reported by the device has a tolerance of three points', async t => {
  const state = charged(30, day => 60 - day)
  if (state?.kind !== 'days') throw new Error('there are no days')
  t.strictSame(
    [state.low, state.daysLeft, state.high].map(Math.round).join(),
    '13,31,34',
    'the low end is where 15 % are left',
  )
})

test('below 15 % without a decline that dates the end, the level alarms', async t => {
  const level = { kind: 'level', value: 14.5, alarmBelow: 15, sinceDay: 15 }
  const [low, fair] = [charged(20, day => (day < 15 ? 15.5 : 14.5)), charged(20, () => 15)]
  t.match(low, level)
  t.equal(fair, undefined)
  // The curve has a tolerance of 2 %.
  const steady = (volts: number) =>
    batteryState(
      made(20, () => volts),
      voltage('li-ion'),
    )
  t.match(steady(3.6), { kind: 'level', value: 3.6, alarmBelow: 3.71 * 0.98, sinceDay: 0 })
  t.equal(steady(3.68), undefined)
})

test('a battery without a type alarms by its level and has no date', async t => {
  const level = (...means: number[]) => batteryState(days(means), voltage(null))
  t.match(level(3.9, 3.72, 3.7, 3.69), { kind: 'level', value: 3.69, alarmBelow: 3.71, sinceDay: 2 })
  t.match(level(3.66, 3.6, 3.4), { alarmBelow: 3.45, sinceDay: 2 })
  t.match(level(3, 2.6, 2.44, 2.43), { alarmBelow: 2.45, sinceDay: 2 })
  t.match(level(1.5, 1.2, 1.11), { alarmBelow: 1.12 })
  t.equal(level(3.9, 3.72), undefined)
  t.equal(level(3.44, 3.44), undefined, 'a full cell of lithium iron phosphate')
  t.equal(level(12.6, 9), undefined, 'the number of cells is unknown')
  t.equal(level(), undefined)
})

test('without a type an accelerating decline alarms', async t => {
  const of = (count: number, mean: (day: number) => number) => batteryState(made(count, mean), voltage(null))
  const grows = of(28, day => 3 - 0.002 * day - Math.max(0, day - 20) * 0.02)
  t.match(grows, { kind: 'level', alarmBelow: null, sinceDay: 21 })
  const [steady, week] = [of(28, day => 3 - 0.002 * day), of(7, day => 3 - 0.02 * day)]
  t.strictSame([steady, week], [undefined, undefined], 'as fast as ever, and one week, which is compared with nothing')
})

test('a voltage that fits no cells gives an unknown type', async t => {
  const twelveVolts = made(30, day => 12.6 - 0.01 * day)
  t.equal(batteryState(twelveVolts, voltage('alkaline', 2)), undefined)
  t.match(batteryState(twelveVolts, voltage('li-ion', 3)), undefined)
})

test('a new battery starts a new estimate', async t => {
  const replaced = days([...Array.from({ length: 20 }, (_, day) => voltageOf('coin', 60 - 3 * day)), 3, 3, 3])
  t.equal(batteryState(replaced, voltage('coin')), undefined)
  t.match(batteryState(replaced.slice(0, 12), voltage('coin')), { kind: 'days' })
  t.match(batteryState(replaced.slice(0, 20), voltage('coin')), { kind: 'level' }, 'below 15 %')
})

test('a gauge belongs to a battery by its name and unit', async t => {
  t.match(batteryMetricOf('battery_voltage', 'V'), { kind: 'voltage', scale: 1 })
  t.match(batteryMetricOf('battery_2', 'mV'), { kind: 'voltage', scale: 0.001 })
  t.match(batteryMetricOf('battery_percentage', '%'), { kind: 'charge' })
  t.equal(batteryMetricOf('battery_current', 'A'), undefined)
  t.equal(batteryMetricOf('supply', 'V'), undefined)
  t.equal(batteryMetricOf('battery', null), undefined)
})
