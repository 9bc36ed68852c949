/** A channel without its secrets, as its reader sees it. */

import type { SecretBox } from '../../auth/secret-box.ts'
import type { Transaction } from '../../store/postgres/transaction.ts'
import type { Channel } from '../core/channel.ts'
import type { Owner } from '../core/outcome.ts'
import { writtenText } from '../delivery/kinds/email.ts'
import type { OwnSecrets } from '../delivery/kinds/kind.ts'
import { createSigningSecret } from '../delivery/signing.ts'
import { createUnsubscribeToken } from '../delivery/unsubscribe.ts'
import { type ChannelRow, openSealed, readChannel, type Sealed } from './channel-rows.ts'
import { type TargetRules, targetFault, targetOf } from './channel-settings.ts'

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
