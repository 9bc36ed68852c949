/** Shows the owner of an API key in this API. */

import { z } from 'zod'
import { utcText } from '../../analytics/time/iso-text.ts'
import type { Account } from '../../auth/accounts/account.ts'
import { roles } from '../../auth/accounts/account-details.ts'

const utcTime = () =>
  z.string().meta({ description: 'UTC without a zone designator', examples: ['2016-05-30T02:20:00'] })

export const AccountObject = z
  .object({
    id: z.int(),
    username: z.string().meta({ description: 'The e-mail address before the @' }),
    email: z.string(),
    confirmed: z.boolean(),
    first_name: z.string().nullable(),
    last_name: z.string().nullable(),
    role: z.enum(roles),
    is_administrator: z.boolean(),
    member_since: utcTime(),
    last_seen: utcTime(),
  })
  .meta({ id: 'AirQualityAccount' })

/** This request is the last time it was seen. */
export function accountObject(account: Account, nowMs: number): z.infer<typeof AccountObject> {
  const { id, email, name, emailVerifiedMs, role, createdMs } = account
  const [first_name, last_name] = splitName(name)
  return {
    id,
    username: email.slice(0, email.lastIndexOf('@')),
    email,
    confirmed: emailVerifiedMs !== null,
    first_name,
    last_name,
    role,
    is_administrator: role !== 'user',
    member_since: utcText(createdMs * 1000),
    last_seen: utcText(Math.floor(nowMs / 1000) * 1_000_000),
  }
}

/** Splits at the last space; null for a missing part. */
function splitName(name: string | null): [first: string | null, last: string | null] {
  const text = name?.trim() ?? ''
  const at = text.lastIndexOf(' ')
  if (at < 0) return [text === '' ? null : text, null]
  return [text.slice(0, at).trimEnd(), text.slice(at + 1)]
}
