/** The readings of a device as they are acknowledged, for as long as somebody sees the page; none of a station, which has no events. */

import { useEffect, useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'
import type { Measured } from './measured.ts'
import type { LiveReading } from './series.ts'

/** Of readings every second, an hour and more; older ones come with the next answer. */
const readingsMax = 5_000

/**
 * What was missed while nobody looked, or while the connection was away for long, comes with the answers that the page
 * reads anew each minute.
 */
export function useLiveReadings({ kind, name }: Measured): readonly LiveReading[] {
  const [readings, setReadings] = useState<readonly LiveReading[]>([])
  useEffect(() => {
    if (kind === 'station') return undefined
    const take = (reading: LiveReading) => setReadings(before => [...before.slice(1 - readingsMax), reading])
    return openEvents(addressOf(`/api/events?device=${encodeURIComponent(name)}`), {
      on: { reading: take, alert: alertChanged },
      onLive: () => {},
      onGap: () => {},
    })
  }, [kind, name])
  return readings
}
