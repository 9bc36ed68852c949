/** Beside what downloads a file, where the page shows other units or another zone than the file has. */

import { preferences } from '../text/preferences.ts'

export function FileNote() {
  const isOther = Object.values(preferences.value).some(choice => choice !== null)
  return isOther ? <span class="file-note">Files have the units as measured, and times in UTC.</span> : null
}
