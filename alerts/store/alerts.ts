/** Alerts as they are shown: lists, one with its history, acknowledgements, and listeners to changes. */

import type pg from 'pg'
import { createTagMatcher } from '../../auth/devices/tag.ts'
import type { ChangeFeed } from '../../auth/nodes/change-feed.ts'
import type { Log } from '../../store/log.ts'
import { type AlertEventRow, type AlertRow, type FiringGroups, firingGroupsMax } from '../core/alert.ts'
import type { AlertDevice } from '../core/devices.ts'
import { accepted, type Outcome, type Owner, refused } from '../core/outcome.ts'
import { createSilencer, type OffsetMs } from '../core/silence.ts'
import { readSilencings } from '../outbox/silence-rows.ts'
import {
  type AlertCount,
  type AlertQuery,
  type AlertRecord,
  acknowledgeAlert,
  alertRowOf,
  noteAlerts,
  readAlert,
  readAlertPage,
  readAlerts,
  readCounts,
  readEvents,
  readFiringDevices,
} from './alert-rows.ts'

export type { AlertQuery }

interface AlertWithEvents extends AlertRow {
  /** The latest, oldest first. */
  events: AlertEventRow[]
}

/** All reject as PostgreSQL does when it is away. */
export interface AlertList {
  /** Newest first. */
  page(who: Owner, asked: AlertQuery): Promise<AlertRow[]>
  get(who: Owner, id: string): Promise<AlertWithEvents | undefined>
  /** Ends repeats. One that is acknowledged stays as it is. */
  acknowledge(who: Owner, id: string, actor: string): Promise<Outcome<AlertRow>>
  /** Ids ascend. */
  byIds(ids: readonly number[]): Promise<AlertRow[]>
  /** Devices with firing alerts and all of `tag`, counted by their tags of a key. */
  firing(who: Owner, key: string, tag: readonly string[]): Promise<FiringGroups>
  /** Counts of unresolved alerts, at most ten seconds old. */
  counts(): Promise<AlertCount[]>
}

interface AlertListOptions {
  pool: pg.Pool
  feed: ChangeFeed
  nowMs: () => number
  /** The service's time zone. */
  offsetMs: OffsetMs
  devices: { all(): Iterable<AlertDevice>; byNumber(number: number): AlertDevice | undefined }
  /** Called with the changed alerts after the commit. */
  changed?: (ids: readonly number[]) => void
}

const stepMs = 4_000
const countsForMs = 10_000

export function createAlertList(options: AlertListOptions): AlertList {
  const { pool, feed, nowMs, offsetMs, devices, changed = () => undefined } = options
  let counted: { atMs: number; counts: Promise<AlertCount[]> } | undefined

  async function shown(records: readonly AlertRecord[]): Promise<AlertRow[]> {
    const open = records.filter(({ state }) => state !== 'resolved')
    const silences = open.length === 0 ? [] : await readSilencings(pool, ownersOf(open), nowMs())
    const silencerOf = createSilencer(silences, { nowMs: nowMs(), horizonMs: nowMs() + 1, offsetMs })
    return records.map(record => {
      const device = devices.byNumber(record.device)
      const rule = { id: record.rule_id, owner: record.owner, selector: record.selector }
      const silence = record.state === 'resolved' ? undefined : silencerOf({ rule, device })
      return alertRowOf(record, device?.name ?? null, silence?.id ?? null)
    })
  }

  async function page(who: Owner, asked: AlertQuery): Promise<AlertRow[]> {
    return await shown(await readAlertPage(pool, who, asked, devicesOf(asked)))
  }

  /** Null: all. */
  function devicesOf({ device, tag }: AlertQuery): number[] | null {
    if (tag === undefined || tag.length === 0) return device === undefined ? null : [device]
    const isTagged = createTagMatcher(tag)
    const tagged = [...devices.all()].filter(isTagged).map(({ number }) => number)
    return device === undefined ? tagged : tagged.filter(number => number === device)
  }

  async function one(who: Owner, id: string): Promise<AlertRow | undefined> {
    const record = await readAlert(pool, who, id)
    return record && (await shown([record]))[0]
  }

  async function acknowledge(who: Owner, id: string, actor: string): Promise<Outcome<AlertRow>> {
    const alert = await one(who, id)
    if (alert === undefined) return refused('ALERT_UNKNOWN')
    if (alert.state === 'resolved') return refused('ALERT_RESOLVED')
    if (alert.acknowledged_at !== null) return accepted(alert)
    const isDone = await feed.commit({ pool, stepMs }, async transaction => {
      const isNew = await acknowledgeAlert(transaction, id, actor, nowMs())
      if (isNew) noteAlerts(feed, transaction, [Number(id)])
      return isNew
    })
    if (isDone) changed([Number(id)])
    const after = await one(who, id)
    if (after === undefined) return refused('ALERT_UNKNOWN')
    return after.acknowledged_at === null ? refused('ALERT_RESOLVED') : accepted(after)
  }

  return {
    page,
    async get(who, id) {
      const alert = await one(who, id)
      return alert && { ...alert, events: await readEvents(pool, alert) }
    },
    acknowledge,
    byIds: async ids => await shown(await readAlerts(pool, ids)),
    async firing(who, key, tag) {
      const numbers = await readFiringDevices(pool, who)
      const known = numbers.flatMap(number => devices.byNumber(number) ?? [])
      return firingGroups(known.filter(createTagMatcher(tag)), key)
    },
    counts() {
      const atMs = nowMs()
      if (counted === undefined || Math.abs(atMs - counted.atMs) >= countsForMs) {
        const counts = readCounts(pool)
        counted = { atMs, counts }
        // One that has failed is not the answer for ten seconds.
        counts.catch(() => {
          counted = undefined
        })
      }
      return counted.counts
    },
  }
}

function ownersOf(records: readonly AlertRecord[]): (number | null)[] {
  return [...new Set(records.map(({ owner }) => owner))]
}

function firingGroups(devices: readonly Pick<AlertDevice, 'tags'>[], key: string): FiringGroups {
  const prefix = `${key}:`
  const byTag = Map.groupBy(devices, ({ tags }) => tags.find(tag => tag.startsWith(prefix)))
  const untagged = byTag.get(undefined)?.length ?? 0
  byTag.delete(undefined)
  const groups = [...byTag].map(([tag = '', found]) => ({ tag, devices: found.length }))
  const bySize = groups.sort((a, b) => b.devices - a.devices)
  const others = bySize.slice(firingGroupsMax).reduce((sum, group) => sum + group.devices, 0)
  return { key, groups: bySize.slice(0, firingGroupsMax), others, untagged }
}

interface AlertListeners {
  changed(ids: readonly number[]): void
  onAlert(listener: (alerts: readonly AlertRow[]) => void): void
  close(): Promise<void>
}

interface AlertListenersOptions {
  readonly feed: Pick<ChangeFeed, 'onChange'>
  readonly byIds: (ids: readonly number[]) => Promise<readonly AlertRow[]>
  readonly log: Pick<Log, 'warn'>
}

const idsPerRead = 1000
/** Listeners miss changes beyond this, and see them when they read the list again. */
const waitingMax = 100_000

export function createAlertListeners({ feed, byIds, log }: AlertListenersOptions): AlertListeners {
  const listeners: ((alerts: readonly AlertRow[]) => void)[] = []
  const waiting = new Set<number>()
  let isClosed = false
  let running: Promise<void> | undefined
  feed.onChange('alert', changed)

  function changed(ids: readonly number[]): void {
    if (listeners.length === 0 || isClosed) return
    for (const id of ids) if (waiting.size < waitingMax) waiting.add(id)
    running ??= notify().finally(() => {
      running = undefined
    })
  }

  async function notify(): Promise<void> {
    while (waiting.size > 0 && !isClosed) {
      const ids = [...waiting].slice(0, idsPerRead)
      for (const id of ids) waiting.delete(id)
      try {
        const alerts = await byIds(ids)
        for (const listener of listeners) listener(alerts)
      } catch (error) {
        log.warn({ err: error, alerts: ids.length }, 'changes of alerts cannot be shown at once')
      }
    }
  }

  return {
    changed,
    onAlert: listener => void listeners.push(listener),
    async close() {
      isClosed = true
      await running
    },
  }
}
