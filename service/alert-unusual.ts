/** Finds gauges that deviate from their usual values, as in `unusual`. */

import type { UnusualShifts } from '../alerts/engine/periodic-feeds.ts'
import { shiftOf } from '../analytics/unusual/unusual.ts'
import { type AnalysedMetrics, customMetrics } from '../api/read/custom-metrics.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Analyses } from '../query/analyses.ts'
import { UnusualValues } from '../query/shapes/unusual.ts'
import { metrics as columns } from '../store/tables.ts'

export function createUnusualShifts(
  query: Pick<Analyses, 'unusual'>,
  registry: Pick<Devices, 'byNumber'>,
  metrics: AnalysedMetrics,
): UnusualShifts {
  return async (asked, metric, signal) => {
    const shifts = new Map<number, number>()
    const devices = asked.flatMap(({ number }) => registry.byNumber(number) ?? [])
    await Promise.all(
      devices.map(async device => {
        const custom = customMetrics(metrics, device, columns, [metric])
        const answer = await query.unusual(device, { custom }, signal)
        if (!answer.ok) throw new Error(`whether ${metric} is unusual is not known: ${answer.code}`)
        const values = UnusualValues.parse(JSON.parse(answer.body.bytes.toString('utf8'))) as Record<string, unknown>
        const { status, value, expected } = values[metric] as UnusualValues['temperature']
        if (status !== 'ok') return
        const [low, high] = expected ?? [null, null]
        const isUnusual = value !== null && low !== null && high !== null
        shifts.set(device.number, isUnusual ? shiftOf({ value, expected: [low, high] }) : 0)
      }),
    )
    return shifts
  }
}
