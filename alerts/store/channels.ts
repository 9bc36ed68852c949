/** Channels of people and of the service: lists, details and tests. channel-changes.ts has their changes. */

import type { Channel } from '../core/channel.ts'
import type { Owner } from '../core/outcome.ts'
import type { AttemptResult } from '../delivery/attempt.ts'
import type { ByHand } from '../delivery/by-hand.ts'
import type { ChannelOutcome } from '../delivery/channel-outcome.ts'
import { type ChannelChanges, type ChannelChangesOptions, createChannelChanges } from './channel-changes.ts'
import { findChannel, shownChannel } from './channel-details.ts'
import { readChannels } from './channel-rows.ts'

export interface AlertChannels extends ChannelChanges {
  /** By their ids, ascending. */
  list(who: Owner, page: { after?: number | undefined; limit: number }): Promise<Channel[]>
  get(who: Owner, id: number): Promise<Channel | undefined>
  /** Sends a test now and returns its result. */
  test(who: Owner, id: number): Promise<ChannelOutcome<AttemptResult>>
}

export interface AlertChannelsOptions extends ChannelChangesOptions {
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
