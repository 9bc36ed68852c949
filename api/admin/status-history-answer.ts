/** What `GET /status/history` answers. */

import { z } from 'zod'
import { selfMonitoringColumns } from '../../store/tables.ts'

const value = z.number().nullable()

export const StatusHistory = z.object({
  hours: z.int(),
  /** Between two points. */
  step_s: z.int(),
  /** Oldest first, none where the service did not run. The worst value of each step; of `stored` and `rejected` the sum. */
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
