/** Channels by HTTP: a list, one, a new one, changes, removal, a new secret and a test. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { bounds } from '../../alerts/core/bounds.ts'
import { Channel, ChannelChange, IssuedChannel, NewChannel } from '../../alerts/core/channel.ts'
import { AttemptAnswer } from '../../alerts/core/delivery.ts'
import type { AttemptResult } from '../../alerts/delivery/attempt.ts'
import type { ChannelRefusal } from '../../alerts/delivery/channel-outcome.ts'
import type { AlertChannels } from '../../alerts/store/channels.ts'
import { type AdminOperation, operation } from '../admin/operation.ts'
import { sendProblem } from '../admin/problem.ts'
import { idPath, ListQuery, nextOf, ownerIn } from './asked.ts'

export interface ChannelOptions {
  alerts: { channels: AlertChannels }
}

const Details = Channel.meta({ id: 'AlertChannel' })
const Issued = IssuedChannel.meta({ id: 'IssuedAlertChannel' })
export const ChannelList = z
  .object({ channels: z.array(Details), next: z.int().nullable() })
  .meta({ id: 'AlertChannelList' })

export function channelOperations(options: ChannelOptions): AdminOperation[] {
  return [...reads(options), ...changes(options), ...secrets(options)]
}

function reads({ alerts: { channels } }: ChannelOptions): AdminOperation[] {
  return [
    operation({
      method: 'GET',
      path: '/',
      name: 'list_alert_channels',
      summary: 'The channels, by id',
      parameters: { query: ListQuery },
      success: { status: 200, description: 'A page of them, without their secrets', json: ChannelList },
      async handle(asked, reply) {
        const found = await channels.list(ownerIn(asked), asked.query)
        return reply.send({ channels: found, next: nextOf(found, asked.query.limit) })
      },
    }),
    operation({
      method: 'GET',
      path: '/:id',
      name: 'get_alert_channel',
      summary: 'One channel',
      parameters: { path: idPath },
      pathError: 'CHANNEL_UNKNOWN',
      success: { status: 200, description: 'The channel, without its secrets', json: Details },
      refusals: ['CHANNEL_UNKNOWN'],
      async handle(asked, reply) {
        const found = await channels.get(ownerIn(asked), asked.path.id)
        return found === undefined ? sendProblem(reply, 'CHANNEL_UNKNOWN') : reply.send(found)
      },
    }),
  ]
}

function changes({ alerts: { channels } }: ChannelOptions): AdminOperation[] {
  return [
    operation({
      method: 'POST',
      path: '/',
      name: 'add_alert_channel',
      summary: 'Add a channel',
      body: { json: NewChannel.meta({ id: 'NewAlertChannel' }) },
      success: { status: 201, description: 'The channel; of a webhook with its secret, this once', json: Issued },
      refusals: ['NAME_TAKEN', 'TARGET_REFUSED', 'TOO_MANY_CHANNELS', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const added = await channels.add(ownerIn(asked), asked.body, asked.actor)
        if (!added.ok) return sendChannelRefusal(reply, added)
        return reply.code(201).header('location', `/api/alert-channels/${added.value.id}`).send(added.value)
      },
    }),
    operation({
      method: 'PATCH',
      path: '/:id',
      name: 'change_alert_channel',
      summary: 'Change a channel',
      description:
        'Of a new address, the password or token must be sent as well. One that is disabled loses what waits for it.',
      parameters: { path: idPath },
      pathError: 'CHANNEL_UNKNOWN',
      body: { json: ChannelChange.meta({ id: 'AlertChannelChange' }) },
      success: { status: 200, description: 'The changed channel', json: Details },
      refusals: ['CHANNEL_UNKNOWN', 'NAME_TAKEN', 'TARGET_REFUSED', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const changed = await channels.change(ownerIn(asked), asked.path.id, asked.body, asked.actor)
        return changed.ok ? reply.send(changed.value) : sendChannelRefusal(reply, changed)
      },
    }),
    operation({
      method: 'DELETE',
      path: '/:id',
      name: 'remove_alert_channel',
      summary: 'Remove a channel',
      description: 'It is taken off its rules, and what waits for it is not sent.',
      parameters: { path: idPath },
      pathError: 'CHANNEL_UNKNOWN',
      success: { status: 204, description: 'It is removed' },
      refusals: ['CHANNEL_UNKNOWN', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const removed = await channels.remove(ownerIn(asked), asked.path.id, asked.actor)
        return removed.ok ? reply.code(204).send() : sendChannelRefusal(reply, removed)
      },
    }),
  ]
}

function secrets({ alerts: { channels } }: ChannelOptions): AdminOperation[] {
  return [
    operation({
      method: 'POST',
      path: '/:id/rotate',
      name: 'rotate_alert_channel',
      summary: 'A new secret',
      description: 'Of a webhook. For 24 hours notifications are signed with the old secret as well.',
      parameters: { path: idPath },
      pathError: 'CHANNEL_UNKNOWN',
      success: { status: 200, description: 'The channel with its secret, this once', json: Issued },
      refusals: ['CHANNEL_UNKNOWN', 'CHANNEL_WITHOUT_SECRET', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const rotated = await channels.rotate(ownerIn(asked), asked.path.id, asked.actor)
        return rotated.ok ? reply.send(rotated.value) : sendChannelRefusal(reply, rotated)
      },
    }),
    operation({
      method: 'POST',
      path: '/:id/test',
      name: 'test_alert_channel',
      summary: 'Send a test',
      description: 'One attempt, also by a channel that is disabled.',
      parameters: { path: idPath },
      pathError: 'CHANNEL_UNKNOWN',
      success: { status: 200, description: 'What came of it', json: AttemptAnswer.meta({ id: 'AlertAttemptAnswer' }) },
      refusals: ['CHANNEL_UNKNOWN', 'TOO_MANY_REQUESTS', 'OUTCOME_UNKNOWN'],
      async handle(asked, reply) {
        const tested = await channels.test(ownerIn(asked), asked.path.id)
        return tested.ok ? reply.send(attemptAnswer(tested.value)) : sendChannelRefusal(reply, tested)
      },
    }),
  ]
}

export function attemptAnswer({ durationMs, ...rest }: AttemptResult): AttemptAnswer {
  return { ...rest, duration_ms: durationMs }
}

const details = {
  NAME_TAKEN: 'another channel of the same owner has this name',
  TOO_MANY_CHANNELS: `an owner has at most ${bounds.channelsPerOwner} channels`,
  TOO_MANY_REQUESTS: 'so many are sent by hand at most; try again in a minute',
  CHANNEL_WITHOUT_SECRET: 'only webhooks are signed',
  CHANNEL_DISABLED: 'it gets nothing while it is disabled',
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
