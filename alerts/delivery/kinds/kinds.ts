/** The kinds of channels, one line each. Their settings stand in alerts/core/channel.ts. */

import type { ChannelKindName } from '../../core/channel.ts'
import { alertmanager } from './alertmanager.ts'
import { apprise } from './apprise.ts'
import { email } from './email.ts'
import type { ChannelKind } from './kind.ts'
import { mqtt } from './mqtt.ts'
import { ntfy } from './ntfy.ts'
import { slack } from './slack.ts'
import { webhook } from './webhook.ts'

type ChannelKinds = { readonly [Name in ChannelKindName]: ChannelKind<Name> }

export const channelKinds: ChannelKinds = { webhook, email, alertmanager, ntfy, slack, apprise, mqtt }

/** How the outbox makes notifications for a kind; undefined for a kind that there is not (any more). */
export function kindOf(name: string): { wantsAll: boolean; refreshMs: number | undefined } | undefined {
  if (!Object.hasOwn(channelKinds, name)) return undefined
  const { wantsAll = false, refreshMs } = channelKinds[name as ChannelKindName]
  return { wantsAll, refreshMs }
}
