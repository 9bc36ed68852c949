/** A live state of a fleet with the test's clock and made readings. */

import type { LiveDevice } from '../../../query/live/device-state.ts'
import type { StoredReadings } from '../../../query/live/latest-values.ts'
import { createLive, type Live, type LiveOptions } from '../../../query/live/live.ts'
import { allFromReadings } from '../../../query/questdb/hourly-sql.ts'
import { type Metric, metrics } from '../../../store/tables.ts'
import { silentLog, type TestHooks } from '../../support/databases.ts'

export interface MadeReading extends Partial<Record<Metric, number>> {
  readonly device: number
  readonly timeMs: number
  /** Values without a column, by series. */
  readonly custom?: Readonly<Record<number, number>>
}

export interface MadeFleet {
  readonly live: Live
  readonly clock: { nowMs: number }
  take(readings: readonly MadeReading[]): void
  /** Statements sent to an empty QuestDB. Their results have no rows. */
  readonly asked: { readonly name: string; readonly query: object }[]
}

export function madeDevice(number: number, more: Partial<LiveDevice> = {}): LiveDevice {
  const name = `device-${number}`
  const fields = { number, symbol: `${name}-${number}`, name, location_short: '', log_switch: true, tags: [] }
  return { ...fields, expected_interval_seconds: null, latitude: null, longitude: null, ...more }
}

export function stored(readings: readonly MadeReading[]): StoredReadings {
  let at = -1
  const reading = () => readings[at] as MadeReading
  return {
    next: () => ++at < readings.length,
    get series() {
      return reading().device
    },
    get timeUs() {
      return Math.round(reading().timeMs * 1000)
    },
    value: column => reading()[metrics[column] as Metric] ?? Number.NaN,
    get customCount() {
      return Object.keys(reading().custom ?? {}).length
    },
    customSeries: place => Number(Object.keys(reading().custom ?? {})[place]),
    customValue: place => Object.values(reading().custom ?? {})[place] as number,
  }
}

/** The state is loaded from a QuestDB without readings unless `ask` returns some. */
export async function makeFleet(
  t: TestHooks,
  devices: readonly LiveDevice[],
  nowMs: number,
  options: Partial<LiveOptions> = {},
): Promise<MadeFleet> {
  const clock = { nowMs }
  const asked: MadeFleet['asked'] = []
  const live = createLive({
    ask: async (name, query) => {
      asked.push({ name, query })
      return { ok: true, rows: new Float64Array(0) }
    },
    hourSources: () => allFromReadings,
    nowMs: () => clock.nowMs,
    aheadMs: 300_000,
    isCatchingUp: () => false,
    ordinals: () => ({ taken: 0, applied: 0 }),
    log: silentLog,
    ...options,
  })
  t.teardown(() => live.close())
  live.fill(devices)
  live.load()
  while (!live.isLoaded()) await new Promise(resolve => setImmediate(resolve))
  return { live, clock, asked, take: readings => live.take(stored(readings)) }
}
