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
  names: z.record(z.string(), z.string()).meta({
    description:
      'Present names by the words that actors and subjects have for them, such as `account 5` or `alert rule 3`.',
  }),
  ...pageFields,
})
export type AuditPage = z.infer<typeof AuditPage>
