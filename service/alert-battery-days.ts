/** Finds the days that batteries have left from the fleet's insights. */

import type { BatteryDays } from '../alerts/engine/periodic-feeds.ts'
import type { Devices } from '../auth/devices/devices.ts'
import type { Insights as FleetInsights } from '../query/insights.ts'
import { Insights } from '../query/shapes/insights.ts'

export function createBatteryDays(
  insights: Pick<FleetInsights, 'of'>,
  registry: Pick<Devices, 'byNumber'>,
): BatteryDays {
  return async (asked, signal) => {
    const devices = asked.flatMap(({ number }) => registry.byNumber(number) ?? [])
    const answer = await insights.of(devices, signal)
    if (!answer.ok) throw new Error(`the days that batteries have left are not known: ${answer.code}`)
    const { batteries, batteries_low } = Insights.parse(JSON.parse(answer.body.bytes.toString('utf8')))
    const numbers = new Map(devices.map(({ name, number }) => [name, number]))
    const left = new Map<number, number>()
    for (const { device, low } of batteries) {
      const number = numbers.get(device)
      // With several batteries, the first to be empty counts.
      if (number !== undefined) left.set(number, Math.min(low, left.get(number) ?? low))
    }
    // Below 15 % a battery may end on any day.
    for (const device of batteries_low) {
      const number = numbers.get(device)
      if (number !== undefined) left.set(number, 0)
    }
    return left
  }
}
