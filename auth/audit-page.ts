/** The shape of a page of the audit. */

import { z } from 'zod'

export const AuditPage = z.object({
  entries: z.array(
    z.object({
      id: z.int(),
      at: z.iso.datetime(),
      actor: z.string(),
      action: z.string(),
      subject: z.string(),
      details: z.record(z.string(), z.unknown()),
    }),
  ),
  page: z.int(),
  /** The number of the next page, or null on the last one. */
  next: z.int().nullable(),
})
export type AuditPage = z.infer<typeof AuditPage>
