/** The compared hours of each device as a file, by the kinds of its metrics. */

import type { TimeWindow } from '../../charts/range.ts'
import { addressOf } from '../../client/address.ts'
import { FileNote } from '../../parts/file-note.tsx'

export interface HourFilesProps {
  readonly devices: readonly string[]
  readonly metrics: readonly string[]
  readonly window: TimeWindow
}

export function HourFiles({ devices, metrics, window: { fromMs, toMs } }: HourFilesProps) {
  const query = new URLSearchParams({
    start: String(fromMs),
    end: String(toMs),
    step: '3600',
    metrics: metrics.join(','),
    format: 'csv',
  })
  return (
    <p class="files">
      {devices.map(device => (
        <a
          key={device}
          class="button quiet"
          href={addressOf(`/api/readings/${encodeURIComponent(device)}?${query}`)}
          download={`${device}-hours.csv`}
        >
          Download {device} by hour as CSV
        </a>
      ))}
      <FileNote />
    </p>
  )
}
