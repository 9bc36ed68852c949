/** Notes where the person has chosen other units or another zone than an answer or a file has. */

import { preferences, shownZone } from '../text/preferences.ts'
import { t } from '../words/words.ts'

/** `of`: whose zone that is. */
export function ZoneNote({ zone, of }: { zone: string; of: 'service' | 'station' }) {
  const shown = shownZone(zone)
  return shown === zone ? null : (
    <p class="zone-note">
      {of === 'service'
        ? t(
            'Readings are shown in the zone {shown}. What analyses say, days, hours and “today” are in {zone}, the zone of the service.',
            { shown, zone },
          )
        : t(
            'Readings are shown in the zone {shown}. What analyses say, days, hours and “today” are in {zone}, the zone of the station.',
            { shown, zone },
          )}
    </p>
  )
}

export function FileNote() {
  const isOther = Object.values(preferences.value).some(choice => choice !== null)
  return isOther ? <span class="file-note">{t('Files have the units as measured, and times in UTC.')}</span> : null
}
