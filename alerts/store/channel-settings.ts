/** Settings of a channel: checked by the schema of its kind, split into public and encrypted ones, and shown without secrets. */

import type { SecretBox } from '../../auth/secret-box.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import { type Channel, type ChannelKindName, type ChannelSettings, channelSettings } from '../core/channel.ts'
import type { ChannelRefusal, Owner } from '../core/outcome.ts'
import { writtenText } from '../delivery/kinds/email.ts'
import type { ChannelKind, OwnSecrets } from '../delivery/kinds/kind.ts'
import { channelKinds } from '../delivery/kinds/kinds.ts'
import { createSigningSecret } from '../delivery/signing.ts'
import type { TargetCheck } from '../delivery/targets.ts'
import { createUnsubscribeToken } from '../delivery/unsubscribe.ts'
import { type ChannelRow, openSealed, readChannel, type Sealed } from './channel-rows.ts'

export type Settings = Record<string, string | boolean>

interface PartedSettings {
  shown: Settings
  secret: Settings
}

export function partSettings(kind: ChannelKindName, settings: Settings): PartedSettings {
  const secrets: readonly string[] = channelKinds[kind].secrets
  const entries = Object.entries(settings)
  return {
    shown: Object.fromEntries(entries.filter(([name]) => !secrets.includes(name))),
    secret: Object.fromEntries(entries.filter(([name]) => secrets.includes(name))),
  }
}

/**
 * Merges a change into the settings. A new address requires the other secrets again: otherwise a person who may change the channel
 * could have its password sent to any address.
 */
export function changedSettings(
  kind: ChannelKindName,
  { shown, secret }: PartedSettings,
  change: Readonly<Record<string, string | boolean | null>>,
): { ok: true; value: Settings } | ChannelRefusal {
  const kept = 'url' in change && change['url'] !== secret['url'] ? shown : { ...shown, ...secret }
  const all = Object.entries({ ...kept, ...change }).filter(([, value]) => value !== null)
  const parsed = channelSettings[kind].safeParse(Object.fromEntries(all))
  if (!parsed.success) return { ok: false, code: 'SETTINGS_INVALID', issues: parsed.error.issues }
  return { ok: true, value: settingsOf(parsed.data) }
}

/** Excludes settings without a value. */
export function settingsOf(settings: ChannelSettings<ChannelKindName>): Settings {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)) as Settings
}

export interface TargetRules {
  targets: Pick<TargetCheck, 'faultOf'>
  recipientOf: FindRecipient
  hasBroker: boolean
}

/** Reason why nothing may be sent there for this owner (null: the service). */
export async function targetFault(
  { targets, recipientOf, hasBroker }: TargetRules,
  { kind, settings, owner }: { kind: ChannelKindName; settings: Settings; owner: number | null },
): Promise<string | undefined> {
  const { hasUrl, isOfService = false } = channelKinds[kind] as ChannelKind<ChannelKindName>
  if (hasUrl) return targets.faultOf(String(settings['url']))
  if (kind === 'email') return await mailFault(owner, String(settings['to']), recipientOf)
  if (!isOfService) return undefined
  if (!hasBroker) return 'no broker is configured: set MQTT_BROKER_URL'
  const isAllowed = owner === null || (await recipientOf(owner))?.isAdministrator === true
  return isAllowed ? undefined : 'only administrators publish at the broker of the service'
}

/** Identifies the channel without its secrets. */
function targetOf(kind: ChannelKindName, { shown, secret }: PartedSettings): string {
  if (channelKinds[kind].hasUrl) return URL.parse(String(secret['url']))?.host ?? ''
  return String(shown['to'] ?? shown['topic'] ?? '')
}

/** Undefined for an unknown channel, and for a channel of another owner. */
export async function findChannel(
  database: Transaction,
  who: Owner,
  id: number,
  lock: '' | 'FOR NO KEY UPDATE' = '',
): Promise<ChannelRow | undefined> {
  const row = await readChannel(database, id, lock)
  return row !== undefined && (who.all || row.owner === who.account) ? row : undefined
}

export interface ShownRules extends TargetRules {
  box: SecretBox
  hasMailServer: boolean
}

export async function shownChannel(rules: ShownRules, row: ChannelRow): Promise<Channel> {
  const { sealed: _, failing_since, created_at, ...rest } = row
  const { kind, owner } = row
  const { settings: secret } = openedChannel(rules.box, row)
  const target = targetOf(kind, { shown: row.settings, secret })
  const fault = await targetFault(rules, { kind, owner, settings: { ...row.settings, ...secret } })
  const notice = fault ?? (kind === 'email' && !rules.hasMailServer ? writtenText : null)
  return {
    ...rest,
    target,
    notice,
    failing_since: failing_since?.toISOString() ?? null,
    created_at: created_at.toISOString(),
  }
}

/** Empty where another key encrypted the secrets: the owner sets them again, or removes the channel. */
export function openedChannel(box: SecretBox, row: ChannelRow): Sealed {
  try {
    return openSealed(box, row)
  } catch {
    return { settings: {}, own: ownSecretsOf(row.kind) }
  }
}

/** Secrets that the service creates for a new channel. */
export function ownSecretsOf(kind: ChannelRow['kind']): OwnSecrets {
  if (kind === 'webhook') return { signing: { secret: createSigningSecret() } }
  return kind === 'email' ? { unsubscribe: createUnsubscribeToken() } : {}
}

interface Recipient {
  email: string
  isVerified: boolean
  isAdministrator: boolean
  isActive: boolean
}

/** Undefined for no account. */
export type FindRecipient = (account: number) => Promise<Recipient | undefined>

/** Reason why the channel of this owner (null: the service) may not mail to the address. Undefined where it may. */
async function mailFault(
  owner: number | null,
  address: string,
  recipientOf: FindRecipient,
): Promise<string | undefined> {
  if (owner === null) return undefined
  const account = await recipientOf(owner)
  if (account === undefined || !account.isActive) return 'the account is not active'
  const isOwn = account.email.toLowerCase() === address.toLowerCase()
  if (!account.isVerified && (isOwn || !account.isAdministrator)) return 'the address of the account is not confirmed'
  return isOwn || account.isAdministrator ? undefined : 'must be the address of the account'
}
