/** Declares the answers of `POST /api/admin/import` and `/import-points` for the route and for the command line. */

import { z } from 'zod'
import { rejectCodes } from '../../ingest/formats/reject.ts'

const Reject = z.object({
  /** Counts all lines of the body from 1, the header included. */
  line: z.int(),
  device: z.string().optional(),
  sn: z.string().optional(),
  code: z.enum(rejectCodes),
  reason: z.string(),
})

export const ImportAnswer = z.object({
  accepted: z.int(),
  /** Lines whose row replaced an earlier line with the same series and time. `accepted` excludes them. */
  replaced: z.int(),
  rejected: z.int(),
  rejects: z.array(Reject),
  /** True if more lines were rejected than are listed. */
  rejects_truncated: z.boolean(),
  /** Unknown columns of the header. */
  left_out: z.int().optional().meta({ description: 'Readings that are stored without values out of range.' }),
  left_out_lines: z.array(Reject).optional().meta({ description: 'The first 1,000 of them, with the reasons.' }),
  ignored_columns: z.array(z.string()),
})
export type ImportAnswer = z.infer<typeof ImportAnswer>
