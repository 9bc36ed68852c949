/** Serves channels: lists, reads, adds, changes, removes and tests them, and rotates secrets. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import { Channel, ChannelChange, IssuedChannel, NewChannel } from '../../alerts/core/channel.ts'
import { AttemptAnswer } from '../../alerts/core/delivery.ts'
import type { ChannelRefusal } from '../../alerts/core/outcome.ts'
import type { AttemptResult } from '../../alerts/delivery/attempt.ts'
import type { AlertChannels } from '../../alerts/store/channels.ts'
import type { AdminOperation } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { recordOperations } from '../admin/record-operations.ts'
import { byId, ListQuery, nextOf, ownerIn } from './guard-alerts.ts'

export interface ChannelOptions {
  alerts: { channels: AlertChannels }
}

const Details = Channel.meta({ id: 'AlertChannel' })
const Issued = IssuedChannel.meta({ id: 'IssuedAlertChannel' })
export const ChannelList = z
  .object({ channels: z.array(Details), next: z.int().nullable() })
  .meta({ id: 'AlertChannelList' })

const { list, one, addition, change, action, removal } = recordOperations({
  ...byId,
  prefix: '/api/alert-channels',
  unknown: 'CHANNEL_UNKNOWN',
  refuse: sendChannelRefusal,
})

export function channelOperations({ alerts: { channels } }: ChannelOptions): AdminOperation[] {
  return [...reads(channels), ...changes(channels), ...secrets(channels)]
}

function reads(channels: AlertChannels): AdminOperation[] {
  return [
    list({
      name: 'list_alert_channels',
      summary: 'The channels, by id',
      query: ListQuery,
      answer: 'A page of them, without their secrets',
      json: ChannelList,
      async read(asked) {
        const found = await channels.list(ownerIn(asked), asked.query)
        return { channels: found, next: nextOf(found, asked.query.limit) }
      },
    }),
    one({
      name: 'get_alert_channel',
      summary: 'One channel',
      answer: 'The channel, without its secrets',
      json: Details,
      read: asked => channels.get(ownerIn(asked), asked.path.id),
    }),
  ]
}

function changes(channels: AlertChannels): AdminOperation[] {
  return [
    addition({
      name: 'add_alert_channel',
      summary: 'Add a channel',
      body: NewChannel.meta({ id: 'NewAlertChannel' }),
      answer: 'The channel; a webhook with its secret, shown only once',
      json: Issued,
      refusals: ['NAME_TAKEN', 'TARGET_REFUSED', 'TOO_MANY_CHANNELS'],
      run: asked => channels.add(ownerIn(asked), asked.body, asked.actor),
    }),
    change({
      name: 'change_alert_channel',
      summary: 'Change a channel',
      description:
        'A new address requires the password or token again. Disabling a channel drops its pending notifications.',
      body: ChannelChange.meta({ id: 'AlertChannelChange' }),
      answer: 'The changed channel',
      json: Details,
      refusals: ['NAME_TAKEN', 'TARGET_REFUSED'],
      run: asked => channels.change(ownerIn(asked), asked.path.id, asked.body, asked.actor),
    }),
    removal({
      name: 'remove_alert_channel',
      summary: 'Remove a channel',
      description: 'Rules stop notifying it. Pending notifications are dropped.',
      answer: 'It is removed',
      run: asked => channels.remove(ownerIn(asked), asked.path.id, asked.actor),
    }),
  ]
}

function secrets(channels: AlertChannels): AdminOperation[] {
  return [
    action({
      below: '/rotate',
      name: 'rotate_alert_channel',
      summary: 'A new secret',
      description: 'Webhooks only. For 24 hours notifications are signed with the old secret, too.',
      answer: 'The channel with its secret, shown only once',
      json: Issued,
      refusals: ['CHANNEL_WITHOUT_SECRET'],
      run: asked => channels.rotate(ownerIn(asked), asked.path.id, asked.actor),
    }),
    action({
      below: '/test',
      name: 'test_alert_channel',
      summary: 'Send a test',
      description: 'One attempt, also by a channel that is disabled.',
      answer: 'Its outcome',
      json: AttemptAnswer.meta({ id: 'AlertAttemptAnswer' }),
      refusals: ['TOO_MANY_REQUESTS'],
      run: asked => channels.test(ownerIn(asked), asked.path.id),
      shown: attemptAnswer,
    }),
  ]
}

export function attemptAnswer({ durationMs, ...rest }: AttemptResult): AttemptAnswer {
  return { ...rest, duration_ms: durationMs }
}

const details = {
  NAME_TAKEN: 'another channel of the same owner has this name',
  TOO_MANY_CHANNELS: `an owner has at most ${bounds.channelsPerOwner} channels`,
  TOO_MANY_REQUESTS: 'it is being sent already, or too many are sent by hand; try again in a minute',
  CHANNEL_WITHOUT_SECRET: 'only webhooks are signed',
  CHANNEL_DISABLED: 'a disabled channel gets no notifications',
} as const

export function sendChannelRefusal(reply: FastifyReply, refusal: ChannelRefusal): FastifyReply {
  const { code, issues = [] } = refusal
  if (code === 'SETTINGS_INVALID') {
    const errors = issues.map(({ path, message }) => ({ path: ['settings', ...path.map(String)].join('.'), message }))
    return sendProblem(reply, 'BODY_INVALID', { errors })
  }
  const detail = refusal.detail ?? (code in details ? details[code as keyof typeof details] : undefined)
  return sendProblem(reply, code, { detail })
}
