/** Declares the admin API's answers on API keys. */

import { z } from 'zod'
import { scopes } from '../../auth/keys/key.ts'
import { listPageFields } from '../../auth/list-page.ts'

const time = () => z.iso.datetime()

const AdminKey = z.object({
  id: z.int(),
  account: z.int(),
  email: z.string(),
  name: z.string(),
  prefix: z.string(),
  scopes: z.array(z.enum(scopes)),
  create_devices: z.boolean(),
  tags: z.array(z.string()),
  state: z.enum(['active', 'expired', 'revoked']),
  created_at: time(),
  last_used_at: time().nullable(),
  expires_at: time().nullable(),
  revoked_at: time().nullable(),
})

export const AdminKeyPage = z.object({
  keys: z.array(AdminKey),
  ...listPageFields,
})
export type AdminKeyPage = z.infer<typeof AdminKeyPage>

/** The key is shown only in this answer. */
export const AddedKey = AdminKey.extend({ key: z.string() })
export type AddedKey = z.infer<typeof AddedKey>
