/**
 * Readings of a fleet from a seed: equal numbers give equal readings in any format. Each device has a phase, a clock
 * and jitter. In the order `fleet` some readings come late or twice, and a site sends its readings at once after an
 * outage.
 */

import { createUniform } from './made-series.ts'
import { readingOf } from './rows.ts'
import { deviceName } from './service.ts'

/** `time`: as they are measured. `scattered`: in no order at all. `fleet`: as the network of a real fleet lets them through. */
export const orders = ['time', 'scattered', 'fleet'] as const
export type Order = (typeof orders)[number]

export interface FleetPlan {
  devices: number
  /** Different readings. Duplicates are added to them. */
  rows: number
  seed: number
  order: Order
  /** The readings lie between these times, but for the errors of the devices' clocks. */
  startMs: number
  endMs: number
}

export interface SentReading {
  device: string
  timeMs: number
  values: Record<string, number>
}

const devicesPerSite = 50
const share = { late: 0.01, twice: 0.005, outage: 0.002 }
const stepsMax = { late: 60, outage: 30 }
/** The largest error of a clock. */
const clockMsMax = 120_000

/** Readings in sending order. */
export function* sentReadings(plan: FleetPlan): Generator<SentReading> {
  const fleet = createFleet(plan)
  switch (plan.order) {
    case 'time':
      for (let index = 0; index < plan.rows; index++) yield fleet.reading(index)
      return
    case 'scattered': {
      // A step that has no divisor in common with the count comes to every index once.
      const stride = coprimeOf(plan.rows, Math.floor(plan.rows * 0.618))
      for (let at = 0, index = 0; at < plan.rows; at++, index = (index + stride) % plan.rows) yield fleet.reading(index)
      return
    }
    case 'fleet':
      for (const index of arrivals(plan)) yield fleet.reading(index)
  }
}

/** Reading `index` belongs to device `index % devices` in step `index / devices`. */
function createFleet({ devices, rows, seed, startMs, endMs }: FleetPlan) {
  const uniform = createUniform(seed)
  const stepMs = (endMs - startMs) / Math.ceil(rows / devices)
  const phases = Float64Array.from({ length: devices }, uniform)
  const clockMs = Float64Array.from({ length: devices }, () => (2 * uniform() - 1) * clockMsMax)
  const jitters = Float64Array.from({ length: 4096 }, uniform)
  return {
    reading(index: number): SentReading {
      const device = index % devices
      const jitter = jitters[(index * 31) % jitters.length] as number
      // Less than a step, so that no two readings of a device have the same time.
      const place = Math.floor(index / devices) + (phases[device] as number) / 2 + jitter / 4
      const { timestampMs: _, custom: __, ...values } = readingOf(index)
      const timeMs = Math.floor(startMs + place * stepMs + (clockMs[device] as number))
      return { device: deviceName(device), timeMs, values }
    },
  }
}

/** The indexes in the order of arrival. Waiting readings are bounded: the devices times the longest delay. */
function* arrivals({ devices, rows, seed }: FleetPlan): Generator<number> {
  const uniform = createUniform(seed + 1)
  const outages = createOutages(Math.ceil(devices / devicesPerSite), uniform)
  const waiting = new Map<number, number[]>()
  const send = (index: number, step: number) => {
    const list = waiting.get(step)
    if (list === undefined) waiting.set(step, [index])
    else list.push(index)
  }
  const stepsWithReadings = Math.ceil(rows / devices)
  for (let step = 0; step < stepsWithReadings || waiting.size > 0; step++) {
    outages.next(step)
    for (let index = step * devices; index < Math.min(rows, (step + 1) * devices); index++) {
      const lateSteps = uniform() < share.late ? 1 + Math.floor(uniform() * stepsMax.late) : 0
      const sentStep = Math.max(step + lateSteps, outages.end(Math.floor((index % devices) / devicesPerSite)))
      send(index, sentStep)
      // A device sends again after a lost answer.
      if (uniform() < share.twice) send(index, sentStep + 1)
    }
    yield* waiting.get(step) ?? []
    waiting.delete(step)
  }
}

/** The disconnected sites, with the step at which each returns. */
function createOutages(sites: number, uniform: () => number) {
  const ends = new Int32Array(sites)
  return {
    next(step: number): void {
      for (let site = 0; site < sites; site++) {
        if ((ends[site] as number) > step || uniform() >= share.outage) continue
        ends[site] = step + 1 + Math.floor(uniform() * stepsMax.outage)
      }
    },
    end: (site: number) => ends[site] as number,
  }
}

function coprimeOf(count: number, from: number): number {
  let candidate = Math.max(1, from)
  while (greatestCommonDivisor(candidate, count) !== 1) candidate++
  return candidate
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b)
}
