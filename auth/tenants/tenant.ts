/** What a tenant is: a partner whose users come in by a token that it signs. */

import { z } from 'zod'
import { plainText } from '../../store/plain-text.ts'
import { listPageFields } from '../list-page.ts'

const slugLengthMax = 40

/** A step of paths, and the issuer of its tokens; it never changes. */
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

/** For an administrator; secrets are not in it. */
export const TenantDetails = z.object({
  slug: z.string(),
  name: z.string(),
  is_active: z.boolean(),
  created_at: z.iso.datetime(),
  /** Until when the secret before the last rotation is good, or null when it has ended. */
  old_secret_until: z.iso.datetime().nullable(),
})
export type TenantDetails = z.infer<typeof TenantDetails>

/** The secret is shown this once. */
export const IssuedSecret = TenantDetails.extend({ secret: z.string() })
export type IssuedSecret = z.infer<typeof IssuedSecret>

export const TenantPage = z.object({
  tenants: z.array(TenantDetails),
  ...listPageFields,
})
export type TenantPage = z.infer<typeof TenantPage>

/** What a tenant is in the audit. */
export function subjectOfTenant(slug: string): string {
  return `tenant ${slug}`
}
