/** Signs in by an external identity provider. The first sign-in creates the account. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { writeAudit } from '../audit.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { type Account, subjectOf } from './account.ts'
import { type AccountParts, changeAccount, inNewTransaction } from './account-parts.ts'
import { emailKeyOf } from './email-address.ts'
import { type Admission, insertAccount, orTaken, readNew, writeRegistration } from './registration.ts'

export interface ProviderIdentity {
  provider: string
  providerAccountId: string
  email: string
  name: string | null
  image: string | null
  /** True if the provider has verified the address. */
  isEmailVerified: boolean
}

/**
 * The identity decides, not the address: it finds the account or creates one. It is linked to a present account only if
 * both sides have verified the address.
 */
export async function signInWithProvider(
  parts: AccountParts,
  identity: ProviderIdentity,
  admit: Admission,
): Promise<Outcome<Account>> {
  const first = await trySignIn(parts, identity, admit)
  // A concurrent request took the identity or the address, so the retry finds it.
  return first ?? (await trySignIn(parts, identity, admit)) ?? refused('IDENTITY_NOT_LINKED')
}

/** Undefined if a concurrent request took the identity or the address. */
async function trySignIn(
  parts: AccountParts,
  identity: ProviderIdentity,
  admit: Admission,
): Promise<Outcome<Account> | undefined> {
  const { linkedId, owner } = await whoHas(parts, identity)
  if (linkedId !== undefined) return await readActive(parts, linkedId)
  if (owner === undefined) return await registerWithProvider(parts, identity, admit)
  if (!owner.isVerified || !identity.isEmailVerified) return refused('IDENTITY_NOT_LINKED')
  const linked = await changeAccount(parts, owner.id, transaction => link(parts, transaction, owner.id, identity))
  return linked ? await readActive(parts, owner.id) : undefined
}

interface Holders {
  linkedId: number | undefined
  /** Ordinary account with the address. */
  owner: { id: number; isVerified: boolean } | undefined
}

/** One statement: a second one could see another request's account without its identity. */
async function whoHas({ pool }: AccountParts, identity: ProviderIdentity): Promise<Holders> {
  const { provider, providerAccountId, email } = identity
  const { rows } = await pool.query<{ linked_id: number | null; owner_id: number | null; is_verified: boolean }>(
    `SELECT owner.id AS owner_id, owner.email_verified_at IS NOT NULL AS is_verified, (
         SELECT account_id FROM account_identities WHERE provider = $1 AND provider_account_id = $2
       ) AS linked_id
     FROM (VALUES (0)) AS always LEFT JOIN accounts AS owner ON owner.email_key = $3 AND owner.tenant_id IS NULL`,
    [provider, providerAccountId, emailKeyOf(email)],
  )
  const [{ linked_id: linkedId = null, owner_id: ownerId = null, is_verified: isVerified = false } = {}] = rows
  return { linkedId: linkedId ?? undefined, owner: ownerId === null ? undefined : { id: ownerId, isVerified } }
}

/** Rolls back the new account. */
class IdentityTaken extends Error {}

async function registerWithProvider(
  parts: AccountParts,
  identity: ProviderIdentity,
  admit: Admission,
): Promise<Outcome<Account> | undefined> {
  const { email, name, image } = identity
  const nowMs = parts.nowMs()
  const making = inNewTransaction(parts, async (transaction): Promise<Outcome<number>> => {
    const admitted = await admit(transaction)
    if (!admitted.ok) return admitted
    const { role, isViewer, isVerified } = admitted.value
    const id = await insertAccount(transaction, {
      email,
      passwordHash: null,
      name,
      image,
      isVerified,
      role,
      isViewer,
      tenant: null,
      nowMs,
    })
    if (!(await link(parts, transaction, id, identity))) throw new IdentityTaken('another account has it')
    await writeRegistration(transaction, id, admitted.value)
    return accepted(id)
  })
  const made = await orTaken(making).catch((error: unknown) => {
    if (error instanceof IdentityTaken) return undefined
    throw error
  })
  return made?.ok === true ? await readNew(parts, made.value) : made
}

/** False if the identity belongs to an account by now. */
async function link(
  { nowMs }: AccountParts,
  transaction: Transaction,
  id: number,
  { provider, providerAccountId }: ProviderIdentity,
): Promise<boolean> {
  const { rowCount } = await transaction.query(
    `INSERT INTO account_identities (provider, provider_account_id, account_id, created_at)
     VALUES ($1, $2, $3, to_timestamp($4::float8 / 1000)) ON CONFLICT DO NOTHING`,
    [provider, providerAccountId, id, nowMs()],
  )
  if (rowCount === 0) return false
  const details = { provider }
  await writeAudit(transaction, { actor: 'service secret', action: 'account.link', subject: subjectOf(id), details })
  return true
}

async function readActive(parts: AccountParts, id: number): Promise<Outcome<Account>> {
  const found = await readNew(parts, id)
  return found.ok && !found.value.isActive ? refused('ACCOUNT_INACTIVE') : found
}
