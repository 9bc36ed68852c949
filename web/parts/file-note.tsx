/** A note beside a download whose units or zone differ from the page's. */

import { preferences } from '../text/preferences.ts'

export function FileNote() {
  const isOther = Object.values(preferences.value).some(choice => choice !== null)
  return isOther ? <span class="file-note">Files have the units as measured, and times in UTC.</span> : null
}
