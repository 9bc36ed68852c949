/** Fields and arguments of several operations: page numbers, searches, ids, owners, and former names of fields. */

import { z } from 'zod'
import { emailKeyOf } from '../../auth/accounts/email-address.ts'
import type { OwnerName } from '../../auth/devices/device.ts'
import { plainText } from '../../store/plain-text.ts'

export function wholeNumber(minimum: 0 | 1, maximum: number, error: string) {
  return z
    .string()
    .regex(minimum === 0 ? /^\d{1,16}$/ : /^[1-9]\d{0,15}$/, error)
    .transform(Number)
    .refine(number => number <= maximum, error)
    .meta({ type: 'integer', minimum, maximum, pattern: undefined })
}

export const pageNumber = wholeNumber(1, 999_999_999, 'must be a whole number from 1')
  .prefault('1')
  .meta({ description: 'Of 100 rows.' })

export function rowCount(max: number) {
  return wholeNumber(1, max, `must be a whole number from 1 to ${max}`)
}

export const searchText = plainText({ max: 256 })
  .default('')
  .meta({ description: 'A text in one of the names, whatever the case.' })

export const PageQuery = z.strictObject({ page: pageNumber })
export const SearchQuery = z.strictObject({ search: searchText, page: pageNumber })

/** True if a rotation revokes the old secret at once. */
const rotateNow = z
  .enum(['0', '1'], 'must be 0 or 1')
  .default('0')
  .transform(now => now === '1')
  .meta({ description: '1 ends the old secret at once.' })

export const RotateQuery = z.strictObject({ now: rotateNow })

/** The largest id of a record in PostgreSQL. */
const idMax = 2_147_483_647

export const recordId = z
  .string()
  .regex(/^[1-9]\d{0,9}$/)
  .transform(Number)
  .refine(id => id <= idMax)
  // The contract describes a number in place of the text's pattern.
  .meta({ type: 'integer', minimum: 1, maximum: Number.MAX_SAFE_INTEGER, pattern: undefined })

const names = new Map([['expected_interval_s', 'expected_interval_seconds']])

/** With both names of a field, the former one is reported as unknown. */
export function withPresentNames(body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body
  const renamed = [...names].filter(([old, present]) => Object.hasOwn(body, old) && !Object.hasOwn(body, present))
  if (renamed.length === 0) return body
  const present = new Map(renamed)
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [present.get(name) ?? name, value]))
}

/** Ids of ordinary accounts by the keys of their addresses. */
export type FindAccounts = (emails: readonly string[]) => Promise<Map<string, number>>

type OwnerIds = { ok: true; ids: (number | null)[] } | { ok: false; unknownAt: number[] }

/** The insert checks whether an account with the id exists. */
export async function ownerIdsOf(owners: readonly (OwnerName | null)[], findAccounts: FindAccounts): Promise<OwnerIds> {
  const emails = new Set(owners.filter(owner => typeof owner === 'string'))
  const found = emails.size === 0 ? undefined : await findAccounts([...emails])
  const ids = owners.map(owner => (typeof owner === 'string' ? found?.get(emailKeyOf(owner)) : owner))
  const unknownAt = ids.flatMap((id, at) => (id === undefined ? [at] : []))
  return unknownAt.length > 0 ? { ok: false, unknownAt } : { ok: true, ids: ids.map(id => id ?? null) }
}
