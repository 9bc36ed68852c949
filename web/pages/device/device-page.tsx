/** The device page. */

import { useTitle } from '../../client/use-title.ts'

export function DevicePage() {
  useTitle('Device')
  return <h1>Device</h1>
}
