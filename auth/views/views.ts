/** Entry point of this folder: the views that people save, listed, added, changed and removed by their owners. */

import { type Account, subjectOf } from '../accounts/account.ts'
import { type AccountParts, changeAccount } from '../accounts/account-parts.ts'
import { writeAudit } from '../audit.ts'
import { accepted, type Outcome, refused } from '../outcome.ts'
import type { RateLimit } from '../rate-limits.ts'
import { setLinkDevices } from './link-rows.ts'
import type { Panel } from './panel.ts'
import { type SavedView, viewsPerAccountMax } from './view.ts'
import {
  dashboardAddress,
  insertView,
  lockViews,
  type NewView,
  readViews,
  removeView,
  updateView,
} from './view-rows.ts'

/** Each leaves an audit row. */
const changes: RateLimit = { kind: 'view', countMax: 600, windowMs: 24 * 3_600_000 }

export function listViews({ pool }: AccountParts, { id }: Account): Promise<SavedView[]> {
  return readViews(pool, id)
}

/** `viewAddressIn` has made the address of a page. */
export async function saveView(parts: AccountParts, account: Account, wanted: NewView): Promise<Outcome<SavedView>> {
  return await changeViews(parts, account, async (transaction, views) => {
    if (views.length >= viewsPerAccountMax) return refused('TOO_MANY_VIEWS')
    if (views.some(({ name }) => name === wanted.name)) return refused('VIEW_NAME_TAKEN')
    const view = await insertView(transaction, account.id, wanted, parts.nowMs())
    await audit(transaction, account, 'view.add', view)
    return accepted(view)
  })
}

/** Undefined fields stay unchanged. */
export interface ViewChange {
  name?: string | undefined
  isStart?: boolean | undefined
  /** Makes the view a dashboard. Links to it then show `devices`. */
  panels?: { panels: Panel[]; devices: readonly number[] } | undefined
}

export async function changeView(
  parts: AccountParts,
  account: Account,
  id: number,
  change: ViewChange,
): Promise<Outcome<SavedView>> {
  return await changeViews(parts, account, async (transaction, views) => {
    const before = views.find(view => view.id === id)
    if (before === undefined) return refused('VIEW_UNKNOWN')
    const { name = before.name, isStart = before.isStart } = change
    if (name !== before.name && views.some(view => view.name === name)) return refused('VIEW_NAME_TAKEN')
    const { panels } = change
    const dashboard = panels && { address: dashboardAddress(id), panels: panels.panels }
    const view = { ...before, name, isStart, ...dashboard }
    await updateView(transaction, account.id, view)
    if (panels !== undefined) await setLinkDevices(transaction, account.id, id, panels.devices)
    await audit(transaction, account, 'view.change', view)
    return accepted(view)
  })
}

export async function deleteView(parts: AccountParts, account: Account, id: number): Promise<Outcome<SavedView>> {
  return await changeViews(parts, account, async (transaction, views) => {
    const view = views.find(each => each.id === id)
    if (view === undefined) return refused('VIEW_UNKNOWN')
    await removeView(transaction, account.id, id)
    await audit(transaction, account, 'view.remove', view)
    return accepted(view)
  })
}

type Work = (transaction: Parameters<typeof readViews>[0], views: readonly SavedView[]) => Promise<Outcome<SavedView>>

async function changeViews(parts: AccountParts, { id }: Account, work: Work): Promise<Outcome<SavedView>> {
  const retryAfterSeconds = await parts.limits.take(changes, String(id))
  if (retryAfterSeconds !== undefined) return { ok: false, code: 'TOO_MANY_REQUESTS', retryAfterSeconds }
  return await changeAccount(parts, id, async transaction => await work(transaction, await lockViews(transaction, id)))
}

async function audit(
  transaction: Parameters<typeof readViews>[0],
  account: Account,
  action: string,
  { id, name, address, isStart, panels }: SavedView,
): Promise<void> {
  const subject = subjectOf(account.id)
  const details = { view: id, name, address, start: isStart, ...(panels === null ? {} : { panels: panels.length }) }
  await writeAudit(transaction, { actor: subject, action, subject, details })
}
