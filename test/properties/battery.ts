/** Estimates for batteries that drain along made curves, and for others that do not drain. */

import { type BatteryState, batteryState } from '../../analytics/battery/battery-state.ts'
import { type CellType, cellTypes, curveError, voltageOf } from '../../analytics/battery/curves.ts'
import type { DailyMean } from '../../analytics/battery/line.ts'
import { batteryDays, columnBattery } from '../../query/findings/known-battery.ts'
import { uniform } from '../analytics/series.ts'
import type { Property } from './property.ts'

const lifeDays = [20, 60, 200]
const constantCharges = [100, 60, 30]
const noise = 0.005
const temperatureSwing = 0.01
const quantumVolts = 0.01
const windowDays = 30
const warningDays = 7

interface Battery {
  readonly type: CellType
  readonly cells: number
  /** The maximum difference of its curve from the curve of its type, as a share. */
  readonly offMax?: number
  /** Volts of a cell by its charge in percent. */
  readonly curve?: (charge: number) => number
  /** Percent at a time in days. */
  readonly chargeAt: (day: number) => number
  readonly seed: number
}

/** The daily means of hourly voltages, of at most 30 days until the end of the last one. */
function daysOf(battery: Battery, endDay: number): DailyMean[] {
  const { type, cells, chargeAt, seed, offMax = curveError, curve = charge => voltageOf(type, charge) } = battery
  const next = uniform(seed)
  const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next())
  const ofCell = 1 + offMax * (2 * next() - 1)
  const phase = 2 * Math.PI * next()
  const count = Math.min(windowDays, Math.floor(endDay))
  return Array.from({ length: count }, (_, day) => {
    let sum = 0
    for (let hour = 0; hour < 24; hour++) {
      const timeDays = endDay - count + day + hour / 24
      const swing = temperatureSwing * Math.sin(2 * Math.PI * timeDays + phase)
      const volts = curve(chargeAt(timeDays)) * cells * ofCell * (1 + swing + noise * normal())
      sum += Math.round(volts / quantumVolts) * quantumVolts
    }
    return { day, mean: sum / 24 }
  })
}

interface Off extends Pick<Battery, 'offMax'> {
  readonly shape?: Shape
}

/** The voltage of another cell of the type at a charge in percent. */
type Shape = (type: CellType, charge: number) => number

const shapeOff = 0.05
const middleOf = (type: CellType) => voltageOf(type, 50)
const warped = (power: number) => (type: CellType, charge: number) => voltageOf(type, 100 * (charge / 100) ** power)
const offBy = (share: number) => (type: CellType, charge: number) => voltageOf(type, charge) * (1 + share)
/** Flatter or steeper about its middle. */
const steeper = (factor: number) => (type: CellType, charge: number) =>
  middleOf(type) + factor * (voltageOf(type, charge) - middleOf(type))
/** Its resistance grows as it drains. */
const sagging = (share: number) => (type: CellType, charge: number) =>
  voltageOf(type, charge) * (1 - share * (1 - charge / 100))

const shapes: readonly Shape[] = [
  ...[-0.05, -0.025, 0.025, 0.05].map(offBy),
  ...[0.75, 1.25].map(steeper),
  ...[0.8, 1.25].map(warped),
  ...[0.025, 0.05].map(sagging),
]

/** The curve is within 5 % of the curve of the type. */
function curveOf(type: CellType, shape: Shape): (charge: number) => number {
  return charge => {
    const usual = voltageOf(type, charge)
    return Math.min(usual * (1 + shapeOff), Math.max(usual * (1 - shapeOff), shape(type, charge)))
  }
}

/** One of ten in each run. */
const otherCurve = (seed: number): Off => ({ offMax: 0, shape: shapes[seed % shapes.length] as Shape })

const cellsOf = (type: CellType) => (type === 'alkaline' || type === 'nimh' ? 2 : 1)

const soon = () => warningDays
/** The days left count from the middle of the last day, the time of its mean. */
const isTooLate = ({ state, left }: ReturnType<typeof drained>[number]) =>
  state?.kind === 'days' && state.low > left + 0.5

/** The estimates of each type and life so far from empty. */
function drained(seed: number, isTyped: boolean, leftOf: (life: number) => number, off: Off = {}) {
  return cellTypes.flatMap((type, at) =>
    lifeDays.map((life, of) => {
      const left = leftOf(life)
      const cells = isTyped ? cellsOf(type) : 1
      const chargeAt = (day: number) => Math.max(0, 100 * (1 - day / life))
      const curve = off.shape === undefined ? {} : { curve: curveOf(type, off.shape) }
      const battery = { type, cells, chargeAt, seed: 7919 * seed + 101 * at + of, ...off, ...curve }
      const days = daysOf(battery, life - left)
      return { type, life, left, state: batteryState(days, { kind: 'voltage', type: isTyped ? type : null, cells }) }
    }),
  )
}

function atAnyAge(seed: number, off: Off = {}) {
  const next = uniform(seed)
  return drained(seed, true, life => 1 + Math.floor(next() * (life - 10)), off)
}

function constant(seed: number, isTyped: boolean): (BatteryState | undefined)[] {
  return cellTypes.flatMap((type, at) =>
    constantCharges.map((charge, of) => {
      const cells = cellsOf(type)
      const days = daysOf({ type, cells, chargeAt: () => charge, seed: 7919 * seed + 101 * at + of }, 200)
      return batteryState(days, { kind: 'voltage', type: isTyped ? type : null, cells })
    }),
  )
}

function share<T>(all: readonly T[], holds: (one: T) => boolean): number {
  return all.length === 0 ? 0 : all.filter(holds).length / all.length
}

const typeText = (isTyped: boolean) => (isTyped ? 'of a known type' : 'of an unknown type')

/** A cell at any age that also sends a charge along a line from its empty to its full voltage. */
function mapped(seed: number, type: CellType, isTyped: boolean, leftOf: (life: number) => number) {
  const cells = cellsOf(type)
  const [empty, full] = [voltageOf(type, 0) * cells, voltageOf(type, 100) * cells]
  return lifeDays.map((life, of) => {
    const left = leftOf(life)
    const chargeAt = (day: number) => Math.max(0, 100 * (1 - day / life))
    const days = daysOf({ type, cells, chargeAt, seed: 7919 * seed + of }, life - left)
    const shift = batteryDays - days.length
    const battery_voltage = days.map(({ day, mean }) => ({ day: day + shift, mean }))
    const battery_percentage = battery_voltage.map(({ day, mean }) => {
      return { day, mean: Math.min(100, Math.max(0, (100 * (mean - empty)) / (full - empty))) }
    })
    const known = { type: isTyped ? type : null, cells }
    return { left, state: columnBattery(known, { battery_percentage, battery_voltage })?.state }
  })
}

const mappedProperties: readonly Property[] = [
  {
    name: 'the interval of a coin cell that sends a charge by a line through its voltage wholly too late',
    atMost: 0.01,
    run: seed => {
      const next = uniform(seed)
      const all = mapped(seed, 'coin', true, life => 1 + Math.floor(next() * (life - 10)))
      return share(all, ({ state, left }) => state?.kind === 'days' && state.low > left + 0.5)
    },
  },
  ...[true, false].map(isTyped => ({
    name: `a coin cell ${typeText(isTyped)} that sends a charge by a line through its voltage listed 4 days before it is empty`,
    atLeast: 0.9,
    run: (seed: number) =>
      share(
        mapped(seed, 'coin', isTyped, () => 4),
        ({ state }) => state !== undefined,
      ),
  })),
]

export const batteryProperties: readonly Property[] = [
  ...mappedProperties,
  ...[true, false].map(isTyped => ({
    name: `a battery ${typeText(isTyped)} listed 7 days before it is empty`,
    atLeast: 0.9,
    run: (seed: number) => share(drained(seed, isTyped, soon), ({ state }) => state !== undefined),
  })),
  {
    name: 'the interval of a battery, 7 days before it is empty, wholly too late',
    atMost: 0.01,
    run: seed => share(drained(seed, true, soon), isTooLate),
  },
  {
    name: 'the interval of a battery at any age wholly too late',
    atMost: 0.01,
    run: seed => share(atAnyAge(seed), isTooLate),
  },
  {
    name: 'the interval of a battery at any age, of ten other curves within 5 % of its type, wholly too late',
    atMost: 0.01,
    run: seed => share(atAnyAge(seed, otherCurve(seed)), isTooLate),
  },
  {
    name: 'a battery of ten other curves within 5 % of its type listed 7 days before it is empty',
    atLeast: 0.9,
    run: seed => share(drained(seed, true, soon, otherCurve(seed)), ({ state }) => state !== undefined),
  },
  {
    name: 'a date of a battery that tells its charge by a line through its voltage and has no type',
    atMost: 0,
    run: seed => {
      const days = Array.from({ length: 30 }, (_, day) => ({ day, mean: 90 - ((seed % 5) + 1) * 0.4 * day }))
      return batteryState(days, { kind: 'charge', type: null, cells: null })?.kind === 'days'
    },
  },
  ...[true, false].map(isTyped => ({
    name: `a battery ${typeText(isTyped)} listed that does not drain`,
    atMost: 0,
    run: (seed: number) => share(constant(seed, isTyped), state => state !== undefined),
  })),
]
