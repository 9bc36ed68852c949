/** Declares the answer of `GET /status/history`. */

import { z } from 'zod'
import { selfMonitoringColumns } from '../../store/tables.ts'

const value = z.number().nullable()

export const StatusHistory = z.object({
  hours: z.int(),
  step_s: z.int(),
  /** Oldest first, without points of downtime. A step has its worst value, or a sum. */
  points: z.array(
    z.object({
      time: z.iso.datetime(),
      ...(Object.fromEntries(selfMonitoringColumns.map(({ name }) => [name, value])) as Record<
        (typeof selfMonitoringColumns)[number]['name'],
        typeof value
      >),
    }),
  ),
})
export type StatusHistory = z.infer<typeof StatusHistory>
