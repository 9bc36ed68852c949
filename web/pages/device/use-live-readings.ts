/** Acknowledged readings of a device while the page is visible. Empty for a station, which has no events. */

import { useEffect, useState } from 'preact/hooks'
import { addressOf } from '../../client/address.ts'
import { openEvents } from '../../client/events.ts'
import { alertChanged } from '../../client/firing.ts'
import type { Measured } from './measured.ts'
import type { LiveReading } from './series.ts'

/** At a reading per second, over an hour. The next answer has the older ones. */
const readingsMax = 5_000

/** Readings missed while the page was hidden or offline come with the answers that are read each minute. */
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
