/** Settings of a channel: checked by the schema of its kind, and split into public and encrypted ones. */

import { type ChannelKindName, type ChannelSettings, channelSettings } from '../core/channel.ts'
import type { ChannelRefusal } from '../delivery/channel-outcome.ts'
import type { ChannelKind } from '../delivery/kinds/kind.ts'
import { channelKinds } from '../delivery/kinds/kinds.ts'
import { type FindRecipient, mailFault } from '../delivery/recipients.ts'
import type { TargetCheck } from '../delivery/targets.ts'

export type Settings = Record<string, string | boolean>

export interface PartedSettings {
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

/** Why nothing may be sent there for this owner (null: the service). */
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
export function targetOf(kind: ChannelKindName, { shown, secret }: PartedSettings): string {
  if (channelKinds[kind].hasUrl) return URL.parse(String(secret['url']))?.host ?? ''
  return String(shown['to'] ?? shown['topic'] ?? '')
}
