/** Names the zones of the page's times where the person's zone differs from the answers'. */

import { shownZone } from '../text/preferences.ts'

/** `of`: whose zone that is. */
export function ZoneNote({ zone, of }: { zone: string; of: 'service' | 'station' }) {
  const shown = shownZone(zone)
  return shown === zone ? null : (
    <p class="zone-note">
      Readings are shown in the zone {shown}. What analyses say, days, hours and “today” are in {zone}, the zone of the{' '}
      {of}.
    </p>
  )
}
