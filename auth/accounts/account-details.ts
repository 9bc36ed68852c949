/** Accounts for administrators: their roles, one account, and a page of them. */

import { z } from 'zod'
import { listPageFields } from '../list-page.ts'

export const roles = ['user', 'administrator', 'operator'] as const
export type Role = (typeof roles)[number]

export const AccountDetails = z.object({
  id: z.int(),
  email: z.string(),
  name: z.string().nullable(),
  role: z.enum(roles),
  viewer: z.boolean().meta({ description: 'True if it reads all devices with private reads.' }),
  is_active: z.boolean(),
  email_verified: z.iso.datetime().nullable(),
  /** Partner of the user; null for an ordinary account. */
  tenant_slug: z.string().nullable(),
  created_at: z.iso.datetime(),
  updated_at: z.iso.datetime(),
})
export type AccountDetails = z.infer<typeof AccountDetails>

/** A new account with the link that sets its password: once, within an hour. */
export const AddedAccount = AccountDetails.extend({ password_link: z.string().nullable() })
export type AddedAccount = z.infer<typeof AddedAccount>

export const AccountPage = z.object({
  accounts: z.array(AccountDetails),
  ...listPageFields,
})
export type AccountPage = z.infer<typeof AccountPage>
