/** Counts stored and rejected readings of bulk bodies by source. Rejections keep the reasons. */

import { Counter, type Registry } from 'prom-client'
import { timesLeftOut } from '../../ingest/intake/intake.ts'
import type { IntervalMeter } from '../../ingest/intake/reading-meter.ts'
import type { BodySource } from '../../ingest/rejections/rejection.ts'
import type { RejectedLines, Rejections } from '../../ingest/rejections/rejections.ts'

const bulkWays = ['batch', 'line_protocol', 'webhook', 'import'] as const
type BulkWay = (typeof bulkWays)[number]

export interface BulkSource extends BodySource {
  way: BulkWay
}

/** `leftOut`: lines that lack some of their values; `assumed`: entities with an assumed unit. */
interface BulkLines extends RejectedLines {
  leftOut: RejectedLines
  assumed?: RejectedLines
  ignored?: readonly string[] | undefined
}

export interface BulkMeter {
  /** Counts one body: readings on disk, and rejected readings or lines. */
  taken(source: BulkSource, stored: number, lines: BulkLines): void
  /** An unread or interrupted body. Its number of readings is unknown, so no metric counts it. */
  refused(source: BulkSource, reason: string): void
}

export function createBulkMeter(
  registry: Registry,
  interval?: Pick<IntervalMeter, 'rejected'>,
  rejections?: Pick<Rejections, 'add' | 'addLines'>,
): BulkMeter {
  const ofWays = (name: string, help: string) => {
    const total = new Counter({ name, help, labelNames: ['way'], registers: [registry] })
    for (const way of bulkWays) total.inc({ way }, 0)
    return total
  }
  const storedTotal = ofWays(
    'barograph_bulk_readings_stored_total',
    'Readings of batches, line protocol, remote writers and imports that are on disk, by source.',
  )
  const rejectedTotal = ofWays(
    'barograph_bulk_readings_rejected_total',
    'Readings and lines of batches, line protocol, remote writers and imports that were rejected, by source.',
  )
  return {
    taken(source, stored, lines) {
      const { way, sender, device } = source
      storedTotal.inc({ way }, stored)
      rejectedTotal.inc({ way }, lines.rejected)
      interval?.rejected(lines.rejected)
      rejections?.addLines(source, lines)
      if (lines.leftOut.rejected > 0) rejections?.addLines(source, lines.leftOut, 'value')
      if (lines.assumed !== undefined) rejections?.addLines(source, lines.assumed, 'field')
      for (const { part, reason } of timesLeftOut(lines.ignored ?? []))
        rejections?.add({ way, sender, device, reason, part })
    },
    refused: ({ unregistered, ...source }, reason) => rejections?.add({ ...source, reason }),
  }
}
