/** Creates the notification of one due group, in the transaction that records its notified alerts. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import { bounds, type Waits } from '../core/bounds.ts'
import type { AlertDevice } from '../core/devices.ts'
import type { OffsetMs } from '../core/silence.ts'
import { type ComposeOptions, composeMessage, devicesNamed, groupOf, NotifiedList } from './compose.ts'
import {
  backoffEndMs,
  type DueRules,
  type GroupState,
  isRepeatDue,
  nextDueMs,
  reviewMs,
  type SortedMembers,
  sortMembers,
} from './group-plan.ts'
import { type DueGroup, lockDueGroup, postponeGroup, saveGroup } from './group-rows.ts'
import {
  dropPending,
  heldBefore,
  type Member,
  markNotified,
  type Notified,
  noteHeld,
  readMembers,
  removeMembers,
} from './member-rows.ts'
import { cancelRepeats, insertNotification, type NotificationKind, readNewsMs } from './notification-rows.ts'
import { readHold } from './silence-rows.ts'

/** Properties of a kind of channels. */
interface KindRules {
  /** Each alert is to be in a notification, and again while it fires. */
  wantsAll: boolean
  refreshMs: number | undefined
}

export interface FlushOptions {
  nowMs: number
  waits: Waits
  offsetMs: OffsetMs
  publicUrl: string
  deviceOf: (number: number) => AlertDevice | undefined
  unitOf: (metric: string) => string | null
  kindOf: (kind: string) => KindRules | undefined
}

/** Maximum alerts of a notification for a kind that wants all. */
const sliceMax = 500

export interface Flushed {
  /** Where a notification was made, the channel that it is for. */
  channel: number | undefined
}

/** Undefined where it was not due. */
export async function flushGroup(
  transaction: Transaction,
  id: string,
  options: FlushOptions,
): Promise<Flushed | undefined> {
  const { nowMs, waits, offsetMs, deviceOf } = options
  const group = await lockDueGroup(transaction, id, nowMs)
  if (group === undefined) return undefined
  if (!group.isOpen) {
    await dropPending(transaction, id)
    return { channel: undefined }
  }
  const { wantsAll = false, refreshMs } = options.kindOf(group.channel.kind) ?? {}
  const waitsMs = mayBackOff(group, refreshMs) ? await backoffOf(transaction, group, options) : Number.NEGATIVE_INFINITY
  if (nowMs < waitsMs) {
    await postponeGroup(transaction, id, waitsMs)
    return { channel: undefined }
  }
  const hold = await readHold(transaction, { rule: group.rule, nowMs, reviewMs, offsetMs, deviceOf })
  const state: GroupState = {
    nowMs,
    // The time is in the future if the clock has been set back.
    lastSentMs: Math.min(group.lastSentMs, nowMs),
    holdEndsMs: Number.POSITIVE_INFINITY,
    hasFiring: false,
    hasUnacknowledged: false,
    hasHeldUnacknowledged: false,
  }
  const notified: Notified = { group: id, channel: group.channel, nowMs }
  const writer = createWriter(transaction, group, wantsAll, options)
  for await (const members of readMembers(transaction, id)) {
    const unnotified = members.filter(member => member.state === 'resolved' && member.told === 'nothing')
    const wasHeld = await heldBefore(
      transaction,
      unnotified.map(member => member.id),
    )
    const sorted = sortMembers(members, hold, wasHeld, state)
    await note(transaction, notified, sorted)
    await writer.add(sorted)
  }
  const rules: DueRules = { waits, refreshMs }
  const isSent = await writer.end(isRepeatDue(state, rules))
  if (isSent) {
    const { channel, rule, value } = group
    await cancelRepeats(transaction, { channel: channel.id, rule: rule.id, group: groupOf(rule, value) }, nowMs)
    state.lastSentMs = nowMs
  }
  await saveGroup(transaction, id, { lastSentMs: state.lastSentMs, dueMs: nextDueMs(state, rules) })
  return { channel: isSent ? group.channel.id : undefined }
}

/** Critical alerts never wait longer than usual, nor do channels that refresh each alert. */
function mayBackOff({ rule }: DueGroup, refreshMs: number | undefined): boolean {
  return refreshMs === undefined && rule.severity !== 'critical'
}

/** Backoff of a group with frequent news. */
async function backoffOf(
  transaction: Transaction,
  { channel, rule, value, lastSentMs }: DueGroup,
  { nowMs, waits }: FlushOptions,
): Promise<number> {
  if (Number.isNaN(lastSentMs)) return Number.NEGATIVE_INFINITY
  const newsMs = await readNewsMs(transaction, { channel: channel.id, rule: rule.id, value }, nowMs)
  return backoffEndMs(newsMs, waits.groupIntervalMs)
}

async function note(transaction: Transaction, notified: Notified, sorted: SortedMembers): Promise<void> {
  const ids = (members: readonly Member[]) => members.map(({ id }) => id)
  await markNotified(transaction, notified, ids(sorted.news))
  await removeMembers(transaction, notified, ids(sorted.ended), true)
  await removeMembers(transaction, notified, sorted.unnotified, false)
  await noteHeld(transaction, sorted.held, notified.nowMs)
}

interface Writer {
  add(sorted: SortedMembers): Promise<void>
  /** True when a notification was created. */
  end(isRepeatDue: boolean): Promise<boolean>
}

function createWriter(
  transaction: Transaction,
  group: DueGroup,
  wantsAll: boolean,
  { nowMs, publicUrl, unitOf, deviceOf }: FlushOptions,
): Writer {
  const max = wantsAll ? sliceMax : bounds.namedDevicesMax
  let list = new NotifiedList(max)
  let kind: NotificationKind | undefined
  let isSent = false

  async function send(): Promise<void> {
    if (kind === undefined) return
    const named = list.named()
    const composing: ComposeOptions = {
      ...{ rule: group.rule, value: group.value, nowMs, publicUrl, unitOf },
      deviceOf: await devicesNamed(transaction, named, deviceOf),
    }
    const message = composeMessage(kind, named, list.counts, composing)
    const { severity, id: rule } = group.rule
    await insertNotification(transaction, { channel: group.channel.id, rule, kind, severity, message }, nowMs)
    isSent = true
  }

  async function addOne(member: Member): Promise<void> {
    list.add(member)
    kind = newsOf(kind, member)
    if (!wantsAll || list.size() < sliceMax) return
    kind ??= 'refresh'
    await send()
    list = new NotifiedList(max)
    kind = undefined
  }

  return {
    async add({ news, ended, ongoing, held }) {
      list.counts.silenced += held.length
      for (const members of [ongoing, ended, news]) for (const member of members) await addOne(member)
    },
    async end(isRepeatDue) {
      if (wantsAll && list.size() > 0) kind ??= 'refresh'
      if (isRepeatDue) kind ??= 'repeat'
      await send()
      return isSent
    },
  }
}

/** Firing precedes flapping, and flapping precedes resolved. An ongoing alert is not news. */
function newsOf(kind: NotificationKind | undefined, { owes, state }: Member): NotificationKind | undefined {
  if (state === 'resolved') return kind ?? 'resolved'
  if (owes === null || kind === 'firing') return kind
  return owes === 'flapping' ? 'flapping' : 'firing'
}
