/**
 * Manages links that show a saved view to anybody. The owner of a token never changes and is cached by its digest, as
 * for API keys. The account in memory decides each time whether it is valid.
 */

import { type Account, subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount } from '../accounts/account-parts.ts'
import { writeAudit } from '../audit.ts'
import type { Device } from '../devices/device.ts'
import { createLinkToken, digestOf, isLinkToken, prefixOf } from '../keys/key-text.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { Principal } from '../policy.ts'
import type { RateLimit } from '../rate-limits.ts'
import { createReadCache } from '../read-cache.ts'
import { linksPerAccountMax } from './link.ts'
import { countLiveLinks, insertLink, type LinkDetails, readLinkHolder, readLinks, revokeLinkRow } from './link-rows.ts'
import { deviceNamesIn, type Panel } from './panel.ts'
import type { SavedView } from './view.ts'
import { viewAddressIn } from './view-address.ts'
import { lockViews } from './view-rows.ts'

type LinkPrincipal = Extract<Principal, { kind: 'view-link' }>

export interface ViewLinks {
  find(token: string): Promise<LinkPrincipal | undefined>
  list(account: Account): Promise<LinkDetails[]>
  create(account: Account, viewId: number, days: number): Promise<Outcome<LinkDetails & { token: string }>>
  /** Numbers of the devices in panels that the account may read. */
  devicesIn(account: Account, panels: readonly Panel[]): number[]
  /** Takes effect before it returns. Idempotent. */
  revoke(account: Account, id: number): Promise<Outcome<LinkDetails>>
}

export interface ViewLinksOptions {
  parts: AccountParts
  /** Finds a device by name if the account may read it. */
  deviceOf: (account: Account, name: string) => Pick<Device, 'number'> | undefined
}

const dayMs = 24 * 3_600_000
const creations: RateLimit = { kind: 'view-link', countMax: 200, windowMs: dayMs }
const holdersInMemoryMax = 100_000
const absentMax = 10_000
const absentMs = 5_000

export function openViewLinks({ parts, deviceOf }: ViewLinksOptions): ViewLinks {
  const { pool, nowMs, memory, limits } = parts
  const holders = createReadCache<string, { id: number; accountId: number }>({
    recordsMax: holdersInMemoryMax,
    read: digest => readLinkHolder(pool, Buffer.from(digest, 'latin1')),
    absent: { keysMax: absentMax, lifetimeMs: absentMs, nowMs },
  })

  async function find(token: string): Promise<LinkPrincipal | undefined> {
    if (!isLinkToken(token)) return undefined
    const holder = await holders.get(digestOf(token).toString('latin1'))
    const owner = holder && (await memory.get(holder.accountId))
    if (holder === undefined || owner?.isActive !== true) return undefined
    const link = owner.links.find(({ id }) => id === holder.id)
    return link === undefined || link.expiresMs <= nowMs() ? undefined : { kind: 'view-link', link, owner }
  }

  async function create(account: Account, viewId: number, days: number) {
    const retryAfterSeconds = await limits.take(creations, String(account.id))
    if (retryAfterSeconds !== undefined) {
      return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds } as const
    }
    const token = createLinkToken()
    const createdMs = nowMs()
    return await changeAccount(parts, account.id, async transaction => {
      const view = (await lockViews(transaction, account.id)).find(({ id }) => id === viewId)
      if (view === undefined) return refused('VIEW_UNKNOWN')
      const shown = devicesOf(account, view)
      if (shown === undefined) return refused('VIEW_NOT_SHAREABLE')
      if ((await countLiveLinks(transaction, account.id, createdMs)) >= linksPerAccountMax) {
        return refused('TOO_MANY_LINKS')
      }
      const link = await insertLink(transaction, {
        accountId: account.id,
        viewId,
        digest: digestOf(token),
        prefix: prefixOf(token),
        devices: shown.devices,
        createdMs,
        expiresMs: createdMs + days * dayMs,
      })
      const details = { link: link.id, view: viewId, address: view.address, prefix: link.prefix, days }
      await audit(transaction, account, 'view-link.create', details)
      return accepted({ ...link, token })
    })
  }

  async function revoke(account: Account, id: number): Promise<Outcome<LinkDetails>> {
    return await changeAccount(parts, account.id, async transaction => {
      const links = await readLinks(transaction, account.id)
      if (!links.some(link => link.id === id)) return refused('LINK_UNKNOWN')
      if (await revokeLinkRow(transaction, account.id, id, nowMs())) {
        await audit(transaction, account, 'view-link.revoke', { link: id })
      }
      const revoked = (await readLinks(transaction, account.id)).find(link => link.id === id)
      return revoked === undefined ? refused('LINK_UNKNOWN') : accepted(revoked)
    })
  }

  /** Numbers of a view, null for the fleet; undefined for views without links. */
  function devicesOf(account: Account, { address, panels }: SavedView): { devices: number[] | null } | undefined {
    return panels === null
      ? devicesAt(address, name => deviceOf(account, name)?.number)
      : { devices: devicesIn(account, panels) }
  }

  // A panel of a device that is gone says so, and the others of its dashboard are shown.
  function devicesIn(account: Account, panels: readonly Panel[]): number[] {
    return deviceNamesIn(panels).flatMap(name => deviceOf(account, name)?.number ?? [])
  }

  return { find, create, revoke, devicesIn, list: ({ id }) => readLinks(pool, id) }
}

/** Arguments of a comparison that name devices. */
const comparedArguments = ['a', 'b']

/** Device numbers of a page, null for the fleet; undefined for pages without links. */
function devicesAt(
  address: string,
  numberOf: (name: string) => number | undefined,
): { devices: number[] | null } | undefined {
  const view = viewAddressIn(address)
  if (view?.page === 'fleet') return { devices: null }
  const names = view === undefined ? [] : namesIn(view)
  const devices = names.map(numberOf)
  return names.length > 0 && devices.every(number => number !== undefined) ? { devices } : undefined
}

function namesIn({ page, name, arguments: fields }: NonNullable<ReturnType<typeof viewAddressIn>>): string[] {
  if (page === 'device') return name === undefined ? [] : [name]
  if (page !== 'compare' && page !== 'charts') return []
  const names = page === 'compare' ? comparedArguments.flatMap(argument => fields.getAll(argument)) : lineNames(fields)
  return [...new Set(names)].filter(text => text !== '')
}

/** Parses `line=temperature:porch` of the charts page. */
function lineNames(fields: URLSearchParams): string[] {
  return fields.getAll('line').map(text => text.slice(text.indexOf(':') + 1))
}

async function audit(
  transaction: Parameters<typeof readLinks>[0],
  account: Account,
  action: string,
  details: Record<string, unknown>,
): Promise<void> {
  const subject = subjectOf(account.id)
  await writeAudit(transaction, { actor: subject, action, subject, details })
}
