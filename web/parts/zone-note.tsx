/** Says which times are in which zone, where a person sees them in another one than that of the service. */

import { shownZone } from '../text/preferences.ts'

export function ZoneNote({ serviceZone }: { serviceZone: string }) {
  const shown = shownZone(serviceZone)
  return shown === serviceZone ? null : (
    <p class="zone-note">
      Readings are shown in the zone {shown}. What analyses say, days, hours and “today” are in {serviceZone}, the zone
      of the service.
    </p>
  )
}
