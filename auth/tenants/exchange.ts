/** Exchanges a token that a tenant has signed for a session of its user. */

import { hash } from 'node:crypto'
import { type JWTPayload, jwtVerify } from 'jose'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { type Account, subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount, inNewTransaction } from '../accounts/account-parts.ts'
import { parseEmailAddress } from '../accounts/email-address.ts'
import { insertAccount } from '../accounts/registration.ts'
import { writeAudit } from '../audit.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import { subjectOfTenant } from './tenant.ts'
import type { TenantKeys, Tenants } from './tenants.ts'

/** Identity of a user according to the tenant. */
interface TenantUser {
  subject: string
  email: string
  name: string
  tokenId: string
  expiresMs: number
}

interface TokenChecks {
  /** Address of the exchange: a token for another service is refused. */
  audience: string
  nowMs: number
}

const lengthMax = 8_000
const lifetimeSecondsMax = 300
const toleranceSeconds = 15
const requiredClaims = ['iss', 'aud', 'sub', 'email', 'name', 'iat', 'exp', 'jti']

/** Undefined for any invalid token. */
async function verifyTenantToken(
  token: string,
  { slug, secrets }: TenantKeys,
  { audience, nowMs }: TokenChecks,
): Promise<TenantUser | undefined> {
  if (token.length > lengthMax) return undefined
  const checks = {
    issuer: slug,
    audience,
    algorithms: ['HS256'],
    requiredClaims,
    clockTolerance: toleranceSeconds,
    currentDate: new Date(nowMs),
  }
  for (const secret of secrets) {
    try {
      const { payload } = await jwtVerify(token, new TextEncoder().encode(secret), checks)
      return userIn(payload, nowMs)
    } catch {
      // It may have been signed with the other secret.
    }
  }
  return undefined
}

function userIn({ sub, email, name, iat, exp, jti }: JWTPayload, nowMs: number): TenantUser | undefined {
  if (typeof iat !== 'number' || typeof exp !== 'number') return undefined
  if (exp - iat > lifetimeSecondsMax || iat * 1000 > nowMs + toleranceSeconds * 1000) return undefined
  if (!isText(sub, 255) || !isText(name, 100) || !isText(jti, 255) || typeof email !== 'string') return undefined
  const parsed = parseEmailAddress(email)
  if (!parsed.ok) return undefined
  // Same tolerance as the check above.
  const expiresMs = (exp + toleranceSeconds) * 1000
  return { subject: sub, email: parsed.email, name, tokenId: jti, expiresMs }
}

const controlCharacters = /\p{Cc}/u

function isText(value: unknown, lengthMax: number): value is string {
  if (typeof value !== 'string' || value === '' || value.length > lengthMax) return false
  return value.isWellFormed() && !controlCharacters.test(value)
}

interface Exchange {
  slug: string
  token: string
  audience: string
}

export async function exchangeToken(
  parts: AccountParts,
  tenants: Pick<Tenants, 'keysOf'>,
  { slug, token, audience }: Exchange,
): Promise<Outcome<Account>> {
  const tenant = await tenants.keysOf(slug)
  if (tenant === undefined) return refused('TENANT_UNKNOWN')
  if (!tenant.isActive) return refused('TENANT_INACTIVE')
  const user = await verifyTenantToken(token, tenant, { audience, nowMs: parts.nowMs() })
  if (user === undefined) return refused('TENANT_TOKEN_INVALID')
  try {
    const first = await tryExchange(parts, tenant, user)
    // A concurrent request has created the account.
    return first ?? (await tryExchange(parts, tenant, user)) ?? refused('EMAIL_TAKEN')
  } catch (error) {
    if (error instanceof TokenReplayed) return refused('TOKEN_REPLAYED')
    if (isEmailTaken(error)) return refused('EMAIL_TAKEN')
    throw error
  }
}

/** Rolls back the exchange. */
class TokenReplayed extends Error {}

/** The subject decides, not the address. Undefined if a concurrent request may have created the account. */
async function tryExchange(
  parts: AccountParts,
  tenant: TenantKeys,
  user: TenantUser,
): Promise<Outcome<Account> | undefined> {
  const known = await parts.pool.query<{ id: number }>(
    'SELECT id FROM accounts WHERE tenant_id = $1 AND tenant_subject = $2',
    [tenant.id, user.subject],
  )
  const knownId = known.rows[0]?.id
  if (knownId !== undefined) await updateUser(parts, tenant, user, knownId)
  const id = knownId ?? (await addUser(parts, tenant, user))
  if (id === undefined) return undefined
  const account = await parts.memory.get(id)
  if (account === undefined) return refused('ACCOUNT_UNKNOWN')
  return account.isActive ? accepted(account) : refused('ACCOUNT_INACTIVE')
}

/** The tenant determines the address and the name each time. */
async function updateUser(parts: AccountParts, tenant: TenantKeys, user: TenantUser, id: number): Promise<void> {
  await changeAccount(parts, id, async transaction => {
    await redeem(transaction, tenant, user)
    await transaction.query(
      `UPDATE accounts SET email = $2, name = $3, updated_at = to_timestamp($4::float8 / 1000)
       WHERE id = $1 AND (email, name) IS DISTINCT FROM ($2, $3)`,
      [id, user.email, user.name, parts.nowMs()],
    )
    await writeExchange(transaction, tenant, id)
  })
}

async function addUser(parts: AccountParts, tenant: TenantKeys, user: TenantUser): Promise<number | undefined> {
  const { email, name, subject } = user
  const added = inNewTransaction(parts, async transaction => {
    await redeem(transaction, tenant, user)
    const id = await insertAccount(transaction, {
      email,
      name,
      passwordHash: null,
      image: null,
      isVerified: false,
      role: 'user',
      isViewer: false,
      tenant: { id: tenant.id, subject },
      nowMs: parts.nowMs(),
    })
    await writeExchange(transaction, tenant, id)
    return id
  })
  return await added.catch((error: unknown) => {
    if (isSubjectTaken(error) || isEmailTaken(error)) return undefined
    throw error
  })
}

function isSubjectTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'accounts_tenant_subject')
}

function isEmailTaken(error: unknown): boolean {
  return isUniqueViolation(error, 'accounts_tenant_email')
}

/** One statement, so that only one of several concurrent requests with the token succeeds. */
async function redeem(transaction: Transaction, { id }: TenantKeys, { tokenId, expiresMs }: TenantUser): Promise<void> {
  const { rowCount } = await transaction.query(
    `INSERT INTO tenant_tokens (tenant_id, digest, expires_at) VALUES ($1, $2, to_timestamp($3::float8 / 1000))
     ON CONFLICT DO NOTHING`,
    [id, hash('sha256', tokenId, 'buffer'), expiresMs],
  )
  if (rowCount === 0) throw new TokenReplayed('the token was exchanged before')
}

async function writeExchange(transaction: Transaction, { slug }: TenantKeys, id: number): Promise<void> {
  await writeAudit(transaction, { actor: subjectOfTenant(slug), action: 'tenant.exchange', subject: subjectOf(id) })
}
