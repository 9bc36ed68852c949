/** Declares tenants: partners whose users authenticate by a token that the tenant signs. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'
import { listPageFields } from '../list-page.ts'

const slugLengthMax = 40

/** A segment of paths and the issuer of its tokens. It is immutable. */
export const TenantSlug = z
  .string()
  .max(slugLengthMax, `must have at most ${slugLengthMax} characters`)
  .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/, 'must be lower-case letters, digits and single hyphens')

const TenantName = plainText({ min: 1, max: 100 })

export const NewTenant = z.strictObject({ slug: TenantSlug, name: TenantName })
export type NewTenant = z.infer<typeof NewTenant>

export const TenantChange = z
  .strictObject({ name: TenantName, is_active: z.boolean() })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })
export type TenantChange = z.infer<typeof TenantChange>

/** The details of an administrator's view have no secrets. */
export const TenantDetails = z.object({
  slug: z.string(),
  name: z.string(),
  is_active: z.boolean(),
  created_at: z.iso.datetime(),
  /** End of the validity of the secret before the last rotation, or null if it has ended. */
  old_secret_until: z.iso.datetime().nullable(),
})
export type TenantDetails = z.infer<typeof TenantDetails>

/** The secret is shown only in this answer. */
export const IssuedSecret = TenantDetails.extend({ secret: z.string() })
export type IssuedSecret = z.infer<typeof IssuedSecret>

export const TenantPage = z.object({
  tenants: z.array(TenantDetails),
  ...listPageFields,
})
export type TenantPage = z.infer<typeof TenantPage>

/** Names a tenant in the audit. */
export function subjectOfTenant(slug: string): string {
  return `tenant ${slug}`
}
