/** Metrics of bodies of readings: how many are stored and rejected, by way in. */

import { Counter, type Registry } from 'prom-client'
import type { IntervalMeter } from './interval-meter.ts'

const bulkWays = ['batch', 'line_protocol', 'import'] as const
type BulkWay = (typeof bulkWays)[number]

export interface BulkMeter {
  /** Of one body: readings that are on disk, and readings or lines that were not taken. */
  taken(way: BulkWay, stored: number, rejected: number): void
}

export function createBulkMeter(registry: Registry, interval?: Pick<IntervalMeter, 'rejected'>): BulkMeter {
  const ofWays = (name: string, help: string) => {
    const total = new Counter({ name, help, labelNames: ['way'], registers: [registry] })
    for (const way of bulkWays) total.inc({ way }, 0)
    return total
  }
  const storedTotal = ofWays(
    'barograph_bulk_readings_stored_total',
    'Readings of batches, line protocol and imports that are on disk, by way in.',
  )
  const rejectedTotal = ofWays(
    'barograph_bulk_readings_rejected_total',
    'Readings and lines of batches, line protocol and imports that were rejected, by way in.',
  )
  return {
    taken(way, stored, rejected) {
      storedTotal.inc({ way }, stored)
      rejectedTotal.inc({ way }, rejected)
      interval?.rejected(rejected)
    },
  }
}
