/** Declares a page of the audit. */

import { z } from 'zod'
import { pageFields } from './list-page.ts'

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
  ...pageFields,
})
export type AuditPage = z.infer<typeof AuditPage>
