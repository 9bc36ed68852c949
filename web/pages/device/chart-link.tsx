/** A link from a sentence to its range of the charts. */

import { rangeArguments, type TimeWindow } from '../../charts/range.ts'
import { zoomTo } from '../../charts/zoom.ts'
import { urlArguments } from '../../client/address.ts'

export function ChartLink({ window }: { window: TimeWindow }) {
  return (
    <a href={addressIn(window)} onClick={event => show(event, window)}>
      In the charts
    </a>
  )
}

/** The page as it is, with another range. */
function addressIn(window: TimeWindow): string {
  const fields = new URLSearchParams(urlArguments.value)
  for (const [name, value] of Object.entries(rangeArguments(window))) {
    if (value === undefined) fields.delete(name)
    else fields.set(name, value)
  }
  return `?${fields}`
}

function show(event: MouseEvent, window: TimeWindow): void {
  if (event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
  event.preventDefault()
  zoomTo(window)
  document.getElementById('readings')?.scrollIntoView({ block: 'start' })
}
