/** Entry point of this folder: the tenants and the secrets of their tokens. */

import { randomBytes } from 'node:crypto'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { type AccountParts, inNewTransaction } from '../accounts/account-parts.ts'
import { writeAudit } from '../audit.ts'
import { listPage, pageOffset, rowsPerPage } from '../list-page.ts'
import { createSecretBox } from '../secret-box.ts'
import {
  type IssuedSecret,
  type NewTenant,
  subjectOfTenant,
  type TenantChange,
  type TenantDetails,
  type TenantPage,
} from './tenant.ts'
import {
  countTenants,
  insertTenant,
  lockTenant,
  nextTenantId,
  readTenant,
  readTenants,
  saveTenant,
  type TenantRow,
  tenantDetails,
} from './tenant-rows.ts'

export type TenantRefusal = { ok: false; code: 'TENANT_UNKNOWN' | 'SLUG_TAKEN' | 'TOO_MANY_TENANTS' }
type TenantChanged<Value> = { ok: true; value: Value } | TenantRefusal

/** Data for checking a tenant's tokens. */
export interface TenantKeys {
  id: number
  slug: string
  isActive: boolean
  /** Valid secrets, newest first. */
  secrets: string[]
}

export interface Tenants {
  /** Pages count from 1. */
  list(page: number): Promise<TenantPage>
  get(slug: string): Promise<TenantDetails | undefined>
  keysOf(slug: string): Promise<TenantKeys | undefined>
  /** `by` is the principal for the audit. */
  add(tenant: NewTenant, by: string): Promise<TenantChanged<IssuedSecret>>
  /** Disabling a tenant refuses its users, also signed-in ones, before this resolves. */
  change(slug: string, change: TenantChange, by: string): Promise<TenantChanged<TenantDetails>>
  /** Adds a new secret, with the old one valid for the grace time or ended at once. */
  rotate(slug: string, endOld: boolean, by: string): Promise<TenantChanged<IssuedSecret>>
}

export interface TenantsOptions {
  parts: AccountParts
  /** Encrypts the secrets of tenants. */
  secret: string
  /** Validity of an old secret after a rotation. */
  graceMs: number
}

const tenantsMax = 10_000
const stepMs = 4_000
const unknown = { ok: false, code: 'TENANT_UNKNOWN' } as const

export function createTenants({ parts, secret, graceMs }: TenantsOptions): Tenants {
  const { pool, nowMs, tenantMemory, feed } = parts
  const box = createSecretBox(secret, 'barograph tenant secrets')
  const sealed = (text: string, id: number) => box.seal(text, contextOf(id))

  /** Changes a present row and evicts it from memory. */
  async function update(slug: string, change: (row: TenantRow, transaction: Transaction) => Promise<TenantRow>) {
    const found = await readTenant(pool, slug)
    if (found === undefined) return unknown
    const row = await tenantMemory.change(found.id, () =>
      feed.commit({ pool, stepMs }, async transaction => {
        feed.note(transaction, 'tenant', [found.id])
        const locked = await lockTenant(transaction, slug)
        return locked && (await saveTenant(transaction, await change(locked, transaction), nowMs()))
      }),
    )
    await feed.settle()
    return row === undefined ? unknown : ({ ok: true, value: row } as const)
  }

  return {
    async list(page) {
      const total = await countTenants(pool)
      const rows = await readTenants(pool, pageOffset(page), rowsPerPage)
      return { tenants: rows.map(row => tenantDetails(row, nowMs())), ...listPage(total, page) }
    },

    async get(slug) {
      const row = await readTenant(pool, slug)
      return row && tenantDetails(row, nowMs())
    },

    async keysOf(slug) {
      const row = await readTenant(pool, slug)
      if (row === undefined) return undefined
      const isPreviousGood = (row.previous_ends_at?.getTime() ?? 0) > nowMs()
      const secrets = [row.secret, ...(isPreviousGood && row.previous_secret !== null ? [row.previous_secret] : [])]
      const opened = secrets.map(sealed => box.open(sealed, contextOf(row.id)))
      return { id: row.id, slug: row.slug, isActive: row.is_active, secrets: opened }
    },

    async add({ slug, name }, by) {
      const text = createSecret()
      const added = inNewTransaction(parts, async transaction => {
        if ((await countTenants(transaction)) >= tenantsMax) return undefined
        const id = await nextTenantId(transaction)
        const row = await insertTenant(transaction, { id, slug, name, secret: sealed(text, id), nowMs: nowMs() })
        await writeAudit(transaction, { actor: by, action: 'tenant.add', subject: subjectOfTenant(slug) })
        return row
      })
      try {
        const row = await added
        if (row === undefined) return { ok: false, code: 'TOO_MANY_TENANTS' }
        return { ok: true, value: { ...tenantDetails(row, nowMs()), secret: text } }
      } catch (error) {
        if (isUniqueViolation(error, 'tenants_slug_key')) return { ok: false, code: 'SLUG_TAKEN' }
        throw error
      }
    },

    async change(slug, change, by) {
      const changed = await update(slug, async (row, transaction) => {
        const details = { ...change }
        await writeAudit(transaction, { actor: by, action: 'tenant.change', subject: subjectOfTenant(slug), details })
        return { ...row, name: change.name ?? row.name, is_active: change.is_active ?? row.is_active }
      })
      return changed.ok ? { ok: true, value: tenantDetails(changed.value, nowMs()) } : changed
    },

    async rotate(slug, endOld, by) {
      const text = createSecret()
      const rotated = await update(slug, async (row, transaction) => {
        const details = { old_secret_ended: endOld }
        await writeAudit(transaction, { actor: by, action: 'tenant.rotate', subject: subjectOfTenant(slug), details })
        const previous = endOld
          ? { previous_secret: null, previous_ends_at: null }
          : { previous_secret: row.secret, previous_ends_at: new Date(nowMs() + graceMs) }
        return { ...row, ...previous, secret: sealed(text, row.id) }
      })
      return rotated.ok ? { ok: true, value: { ...tenantDetails(rotated.value, nowMs()), secret: text } } : rotated
    },
  }
}

/** 256 random bits. A partner signs with the text itself. */
function createSecret(): string {
  return randomBytes(32).toString('base64url')
}

function contextOf(id: number): string {
  return `tenant ${id}`
}
