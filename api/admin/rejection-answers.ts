/** What the admin API says of readings that were rejected. */

import { z } from 'zod'
import { rejectionWays } from '../../ingest/rejections/rejection.ts'

export const rejectionWay = z.enum(rejectionWays)
const rejectionId = z.int().positive()

export const RejectionPage = z.object({
  /** Of several nodes, the one that answers: each has its own. */
  node: z.object({ id: z.string(), host: z.string() }).optional(),
  /** Since when they are kept: the start of the service. */
  since: z.string(),
  /** All since then, whichever are kept. */
  rejected: z.int().nonnegative(),
  rejections: z.array(
    z.object({
      id: rejectionId,
      /** Of the latest one. */
      at: z.string(),
      first_at: z.string(),
      way: rejectionWay,
      /** The device or station that was to be written, as far as it is known. */
      device: z.string().nullable(),
      /** A device, key or address: whose credential it was, or from where without a good one. */
      sender: z.string(),
      reason: z.string(),
      /** So many alike. */
      count: z.int().positive(),
    }),
  ),
  /** For `?after=`, or null when there are no more. */
  next: rejectionId.nullable(),
})
export type RejectionPage = z.infer<typeof RejectionPage>
export type Rejection = RejectionPage['rejections'][number]
