/** Changes a person's preferences for values and times on pages. */

import { writeAudit } from '../audit.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { type Account, subjectOf } from './account.ts'
import { type AccountParts, changeAccount } from './account-parts.ts'
import type { Preferences } from './preference-values.ts'

/** Undefined preferences stay unchanged; null resets one. */
export type PreferencesChange = { readonly [Name in keyof Preferences]?: Preferences[Name] | undefined }

export async function changePreferences(
  parts: AccountParts,
  { id }: Account,
  change: PreferencesChange,
): Promise<Outcome<Account>> {
  const changed = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined))
  if (Object.keys(changed).length > 0) {
    await changeAccount(parts, id, async transaction => {
      await transaction.query(
        "UPDATE accounts SET preferences = coalesce(preferences, '{}') || $2::jsonb WHERE id = $1",
        [id, JSON.stringify(changed)],
      )
      const details = { fields: Object.keys(changed) }
      await writeAudit(transaction, { actor: subjectOf(id), action: 'account.change', subject: subjectOf(id), details })
    })
  }
  const account = await parts.memory.get(id)
  return account === undefined ? refused('ACCOUNT_UNKNOWN') : accepted(account)
}
