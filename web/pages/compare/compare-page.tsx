/** The compare page. */

import { useTitle } from '../../client/use-title.ts'

export function ComparePage() {
  useTitle('Compare')
  return <h1>Compare</h1>
}
