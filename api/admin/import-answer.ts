/** What `POST /api/admin/import` and `/import-points` answer: for the route that writes it and the command line that reads it. */

import { z } from 'zod'
import { rejectCodes } from '../../ingest/formats/reject.ts'

const Reject = z.object({
  /** Counted from 1 over all lines of the body, the header included. */
  line: z.int(),
  device: z.string().optional(),
  sn: z.string().optional(),
  code: z.enum(rejectCodes),
  reason: z.string(),
})

export const ImportAnswer = z.object({
  accepted: z.int(),
  /** Lines whose row replaced that of an earlier line: of the same series and time. They are not among the accepted ones. */
  replaced: z.int(),
  rejected: z.int(),
  rejects: z.array(Reject),
  /** More lines were rejected than are listed. */
  rejects_truncated: z.boolean(),
  /** Columns of the header that are not ours. */
  left_out: z.int().optional().meta({ description: 'Readings that are stored without values out of range.' }),
  left_out_lines: z.array(Reject).optional().meta({ description: 'The first 1,000 of them, with the reasons.' }),
  ignored_columns: z.array(z.string()),
})
export type ImportAnswer = z.infer<typeof ImportAnswer>
