/** Channels of people and of the service. Each change has its row in the audit log, and ends pending notifications of an ended channel. */

import type pg from 'pg'
import { writeAudit } from '../../auth/audit.ts'
import { isUniqueViolation } from '../../store/postgres/postgres-errors.ts'
import { inTransaction, type Transaction } from '../../store/postgres/transaction.ts'
import { bounds } from '../core/bounds.ts'
import type { Channel, ChannelChange, IssuedChannel, NewChannel } from '../core/channel.ts'
import type { ChannelOutcome, Owner } from '../core/outcome.ts'
import type { AttemptResult } from '../delivery/attempt.ts'
import type { ByHand } from '../delivery/by-hand.ts'
import type { OwnSecrets } from '../delivery/kinds/kind.ts'
import { rotatedSecrets } from '../delivery/signing.ts'
import { createUnsubscribeToken, saveUnsubscribe } from '../delivery/unsubscribe.ts'
import {
  type ChannelRow,
  cancelWaiting,
  countChannels,
  insertChannel,
  nextChannelId,
  readChannels,
  removeChannel,
  saveChannel,
  sealChannel,
} from './channel-rows.ts'
import {
  changedSettings,
  findChannel,
  openedChannel,
  ownSecretsOf,
  partSettings,
  type Settings,
  type ShownRules,
  settingsOf,
  shownChannel,
  targetFault,
} from './channel-settings.ts'

export interface AlertChannels extends ChannelChanges {
  /** Ids ascend. */
  list(who: Owner, page: { after?: number | undefined; limit: number }): Promise<Channel[]>
  get(who: Owner, id: number): Promise<Channel | undefined>
  /** Sends a test now and returns its result. */
  test(who: Owner, id: number): Promise<ChannelOutcome<AttemptResult>>
}

interface AlertChannelsOptions extends ChannelChangesOptions {
  byHand: Pick<ByHand, 'test'>
  /** Rate limit of sends by hand: false rejects this one. */
  takeToken: (who: Owner) => boolean
}

export function createChannels(options: AlertChannelsOptions): AlertChannels {
  const { pool, byHand, takeToken } = options
  return {
    ...createChannelChanges(options),
    async list(who, page) {
      return await Promise.all((await readChannels(pool, who, page)).map(row => shownChannel(options, row)))
    },
    async get(who, id) {
      const row = await findChannel(pool, who, id)
      return row && (await shownChannel(options, row))
    },
    async test(who, id) {
      const row = await findChannel(pool, who, id)
      if (row === undefined) return { ok: false, code: 'CHANNEL_UNKNOWN' }
      if (!takeToken(who)) return { ok: false, code: 'TOO_MANY_REQUESTS' }
      return { ok: true, value: await byHand.test(row) }
    },
  }
}

interface ChannelChanges {
  add(who: Owner, channel: NewChannel, actor: string): Promise<ChannelOutcome<IssuedChannel>>
  /** A disabled channel never gets its pending notifications. */
  change(who: Owner, id: number, change: ChannelChange, actor: string): Promise<ChannelOutcome<Channel>>
  /** Rules no longer have it. */
  remove(who: Owner, id: number, actor: string): Promise<ChannelOutcome>
  /** Replaces the signing secret. For a day the old one signs as well. */
  rotate(who: Owner, id: number, actor: string): Promise<ChannelOutcome<IssuedChannel>>
}

interface ChannelChangesOptions extends ShownRules {
  pool: pg.Pool
  nowMs: () => number
}

interface Context {
  who: Owner
  id: number
  actor: string
}

type Work<Value> = (transaction: Transaction, row: ChannelRow) => Promise<ChannelOutcome<Value>>

const stepMs = 4000
/** Any fixed number serves. It is "barochan" in ASCII. */
const addLock = '7089075323419058542'

function createChannelChanges(options: ChannelChangesOptions): ChannelChanges {
  const { nowMs, box } = options
  return {
    add: (who, channel, actor) => orNameTaken(add(options, who, channel, actor)),

    change: (who, id, change, actor) =>
      update(options, 'change', { who, id, actor }, async (transaction, row) => {
        const settled = await settingsAfter(options, transaction, row, change.settings)
        if (!settled.ok) return settled
        const { settings, sealed } = settled.value
        const saved = await saveChannel(transaction, changedRow({ ...row, settings, sealed }, change))
        if (!saved.enabled) await cancelWaiting(transaction, id, nowMs())
        return { ok: true, value: await shownChannel(options, saved) }
      }),

    remove: (who, id, actor) =>
      update(options, 'remove', { who, id, actor }, async transaction => {
        await removeChannel(transaction, id, nowMs())
        return { ok: true, value: undefined }
      }),

    rotate: (who, id, actor) =>
      update(options, 'rotate', { who, id, actor }, async (transaction, row) => {
        const { settings, own } = openedChannel(box, row)
        if (own.signing === undefined) return { ok: false, code: 'CHANNEL_WITHOUT_SECRET' }
        const rotated: OwnSecrets = { ...own, signing: rotatedSecrets(own.signing, nowMs()) }
        const sealed = sealChannel(box, id, { settings, own: rotated })
        const saved = await saveChannel(transaction, { ...row, sealed })
        return { ok: true, value: { ...(await shownChannel(options, saved)), ...issuedSecret(rotated) } }
      }),
  }
}

/** Result for a channel that the caller may change. */
function update<Value>(
  { pool }: ChannelChangesOptions,
  action: string,
  { who, id, actor }: Context,
  work: Work<Value>,
): Promise<ChannelOutcome<Value>> {
  const updated = inTransaction(pool, { stepMs }, async transaction => {
    const row = await findChannel(transaction, who, id, 'FOR NO KEY UPDATE')
    if (row === undefined) return { ok: false, code: 'CHANNEL_UNKNOWN' } as const
    const outcome = await work(transaction, row)
    if (outcome.ok) await writeAudit(transaction, { actor, action: `alert-channel.${action}`, subject: subjectOf(id) })
    return outcome
  })
  return orNameTaken(updated)
}

async function add(
  options: ChannelChangesOptions,
  who: Owner,
  { name, kind, enabled, settings }: NewChannel,
  actor: string,
): Promise<ChannelOutcome<IssuedChannel>> {
  const { pool, nowMs, box } = options
  const owner = who.account
  const all = settingsOf(settings)
  const fault = await targetFault(options, { kind, settings: all, owner })
  if (fault !== undefined) return { ok: false, code: 'TARGET_REFUSED', detail: fault }
  const own = ownSecretsOf(kind)
  return await inTransaction(pool, { stepMs, lock: addLock }, async transaction => {
    if ((await countChannels(transaction, owner)) >= bounds.channelsPerOwner) {
      return { ok: false, code: 'TOO_MANY_CHANNELS' } as const
    }
    const id = await nextChannelId(transaction)
    const { shown, secret } = partSettings(kind, all)
    const sealed = sealChannel(box, id, { settings: secret, own })
    const channel = { id, owner, name, kind, settings: shown, sealed, enabled, nowMs: nowMs() }
    const row = await insertChannel(transaction, channel)
    await saveUnsubscribe(transaction, { channel: id, address: all['to'], token: own.unsubscribe, nowMs: nowMs() })
    const details = { name, kind }
    await writeAudit(transaction, { actor, action: 'alert-channel.add', subject: subjectOf(id), details })
    return { ok: true, value: { ...(await shownChannel(options, row)), ...issuedSecret(own) } } as const
  })
}

/** The settings after a change, in their public and encrypted parts. */
async function settingsAfter(
  options: ChannelChangesOptions,
  transaction: Transaction,
  row: ChannelRow,
  change: ChannelChange['settings'],
): Promise<ChannelOutcome<Pick<ChannelRow, 'settings' | 'sealed'>>> {
  if (change === undefined) return { ok: true, value: row }
  const { nowMs, box } = options
  const { id, kind, owner } = row
  const { settings: secret, own } = openedChannel(box, row)
  const settings = changedSettings(kind, { shown: row.settings, secret }, change)
  if (!settings.ok) return settings
  const fault = await targetFault(options, { kind, settings: settings.value, owner })
  if (fault !== undefined) return { ok: false, code: 'TARGET_REFUSED', detail: fault }
  const kept = movedSecrets(own, row.settings, settings.value)
  const address = settings.value['to']
  await saveUnsubscribe(transaction, { channel: id, address, token: kept.unsubscribe, nowMs: nowMs() })
  const parted = partSettings(kind, settings.value)
  return {
    ok: true,
    value: { settings: parted.shown, sealed: sealChannel(box, id, { settings: parted.secret, own: kept }) },
  }
}

/** The link in mails to the old address ends. */
function movedSecrets(own: OwnSecrets, before: Settings, after: Settings): OwnSecrets {
  return after['to'] === before['to'] ? own : { ...own, unsubscribe: createUnsubscribeToken() }
}

/** Enabling or disabling by a person clears the automatic reason. */
function changedRow(row: ChannelRow, { name = row.name, enabled }: ChannelChange): ChannelRow {
  if (enabled === undefined) return { ...row, name }
  return { ...row, name, enabled, disabled_reason: null, failing_since: enabled ? null : row.failing_since }
}

async function orNameTaken<Value>(work: Promise<ChannelOutcome<Value>>): Promise<ChannelOutcome<Value>> {
  try {
    return await work
  } catch (error) {
    if (isUniqueViolation(error, 'alert_channels_name')) return { ok: false, code: 'NAME_TAKEN' }
    throw error
  }
}

function issuedSecret({ signing }: OwnSecrets): { secret?: string } {
  return signing === undefined ? {} : { secret: signing.secret }
}

function subjectOf(id: number): string {
  return `alert channel ${id}`
}
