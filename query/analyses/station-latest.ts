/**
 * The newest point of each parameter of a station, within the month up to the newest point of all, and the station's
 * state.
 */

import { freshnessOf } from '../../analytics/reliability/freshness.ts'
import { descriptionsOf } from '../custom-metric.ts'
import type { StationLatest, StationState } from '../shapes/station.ts'
import type { TaskContext } from '../task-context.ts'
import type { Asked, Computation, CustomHow } from './analysis.ts'
import { deviceCadence, earlierTimes } from './device-cadence.ts'

export const stationLatestComputation: Computation<CustomHow> = {
  pools: ['light'],
  compute: (query, context) => answerStationLatest(query, context),
}

const stateNames = {
  never: 'never',
  fresh: 'fresh',
  late: 'late',
  stale: 'silent',
  offline: 'silent',
  paused: 'off',
} as const satisfies Record<ReturnType<typeof freshnessOf>['state'], StationState>

async function answerStationLatest(
  { device, nowMs, newestUs, ...query }: CustomHow & Pick<Asked, 'device' | 'nowMs' | 'newestUs'>,
  context: TaskContext,
): Promise<string> {
  const { measurements, signal } = context
  const custom = await context.inUnits(query.custom, [])
  const values: StationLatest['values'] = {}
  for (const { name, series, unit } of custom) {
    if (series === undefined) continue
    const { timesMs, values: found } = await measurements.newest({ series, afterUs: 0, throughUs: newestUs }, signal)
    const [ts, v] = [timesMs[0], found[0]]
    if (ts !== undefined && v !== undefined) values[name] = { v, ts, unit: unit ?? '' }
  }
  const lastMs = Object.values(values).reduce<number | null>((last, { ts }) => Math.max(last ?? ts, ts), null)
  const cadence = deviceCadence(device, new Float64Array(0), await earlierTimes(device, newestUs, context))
  const { state } = freshnessOf({ lastMs, nowMs, enabled: device.log_switch, cadence })
  return JSON.stringify({
    device: device.name,
    time_zone: context.local.timeZone,
    state: stateNames[state],
    last_seen: lastMs,
    values,
    metrics: descriptionsOf(custom.filter(({ name }) => values[name] !== undefined)),
  } satisfies StationLatest)
}
