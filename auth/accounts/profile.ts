/** Changes a person's name, address, picture and preferences of pages. */

import { writeAudit } from '../audit.ts'
import { queueMail } from '../mail/outbox-rows.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { HandStationsOver } from '../stations/stations.ts'
import { type Account, subjectOf } from './account.ts'
import { type AccountParts, type Client, changeAccount } from './account-parts.ts'
import { isLastAdministrator, type LockedRole } from './administered.ts'
import { emailKeyOf } from './email-address.ts'
import type { Preferences } from './preference-values.ts'
import { checkPassword, passwordHashOf } from './sign-in.ts'

interface ProfileChange {
  /** Null removes the name; undefined keeps it. */
  name?: string | null | undefined
  image?: string | null | undefined
}

export async function changeProfile(
  parts: AccountParts,
  account: Account,
  change: ProfileChange,
): Promise<Outcome<Account>> {
  const { id } = account
  const fields = (['name', 'image'] as const).filter(field => change[field] !== undefined)
  if (fields.length > 0) {
    await changeAccount(parts, id, async transaction => {
      await transaction.query(
        `UPDATE accounts SET name = CASE WHEN $2 THEN $3 ELSE name END, image = CASE WHEN $4 THEN $5 ELSE image END,
           updated_at = to_timestamp($6::float8 / 1000) WHERE id = $1`,
        [
          id,
          change.name !== undefined,
          change.name ?? null,
          change.image !== undefined,
          change.image ?? null,
          parts.nowMs(),
        ],
      )
      const details = { fields }
      await writeAudit(transaction, { actor: subjectOf(id), action: 'account.change', subject: subjectOf(id), details })
    })
  }
  const changed = await parts.memory.get(id)
  return changed === undefined ? refused('ACCOUNT_UNKNOWN') : accepted(changed)
}

interface EmailChange {
  email: string
  currentPassword: string
}

/** The new address takes effect when its mailed token is redeemed. The old address is notified. */
export async function requestEmailChange(
  parts: AccountParts,
  account: Account,
  { email, currentPassword }: EmailChange,
  client: Client,
): Promise<Outcome<undefined>> {
  const { id } = account
  const hash = await passwordHashOf(parts, id)
  const checked = await checkPassword(parts, { email: account.email, password: currentPassword, hash }, client)
  if (!checked.ok) return checked.code === 'CREDENTIALS_WRONG' ? refused('PASSWORD_WRONG') : checked
  if (emailKeyOf(email) === emailKeyOf(account.email)) return accepted(undefined)
  const { rows } = await parts.pool.query('SELECT 1 FROM accounts WHERE email_key = $1 AND tenant_id IS NULL', [
    emailKeyOf(email),
  ])
  if (rows.length > 0) return refused('EMAIL_TAKEN')
  const nowMs = parts.nowMs()
  await changeAccount(parts, id, async transaction => {
    await queueMail(transaction, { kind: 'verification', email, accountId: id, nowMs })
    await queueMail(transaction, { kind: 'email-change', email: account.email, accountId: id, nowMs })
    await writeAudit(transaction, { actor: subjectOf(id), action: 'email.change-request', subject: subjectOf(id) })
  })
  parts.mailDue()
  return accepted(undefined)
}

/** Deletes everything that belongs to the account. The operator receives its devices and stations. */
export async function deleteAccount(parts: AccountParts, account: Account): Promise<Outcome<undefined>> {
  const { id } = account
  const removeWith = (handStationsOver: HandStationsOver) =>
    parts.devices.withHandOver(async (transaction, handDevicesOver) => {
      const text = 'SELECT id, role, is_active FROM accounts WHERE id = $1 FOR UPDATE'
      const [row] = (await transaction.query<LockedRole>(text, [id])).rows
      if (row === undefined || row.role === 'operator') return refused('OPERATOR_STAYS')
      if (await isLastAdministrator(transaction, row)) return refused('LAST_ADMINISTRATOR')
      parts.feed.note(transaction, 'account', [id])
      await handDevicesOver(id, subjectOf(id))
      await handStationsOver(transaction, id, subjectOf(id))
      await transaction.query('DELETE FROM accounts WHERE id = $1', [id])
      await writeAudit(transaction, { actor: subjectOf(id), action: 'account.delete', subject: subjectOf(id) })
      return accepted(undefined)
    })
  const removed = await parts.memory.change(id, () => parts.stations.withHandOver(removeWith))
  await parts.feed.settle()
  return removed
}

/** Undefined preferences stay unchanged; null resets one. */
type PreferencesChange = { readonly [Name in keyof Preferences]?: Preferences[Name] | undefined }

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
