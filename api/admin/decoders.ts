/** Serves the decoders that people write: lists, adds, changes and removes them, and tries one on recent messages. */

import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { listPage, rowsOfPage } from '../../auth/list-page.ts'
import type { NodeState } from '../../auth/nodes/node-states.ts'
import { createTopicReader } from '../../ingest/decoders/decode.ts'
import {
  DecoderDeclaration,
  DecoderDetails,
  DecoderPage,
  DecoderTopic,
  DecoderTrial,
  NewDecoder,
  ownDecodersMax,
} from '../../ingest/decoders/own-decoder.ts'
import type { DecoderRefusal, OwnDecoders } from '../../ingest/decoders/own-decoders.ts'
import { messagesPerPlace, type RecentMessages } from '../../ingest/decoders/recent-messages.ts'
import { shownMessage, tryDecoder } from '../../ingest/decoders/try-decoder.ts'
import { RecentMessagePage, TriedDecoder } from './answers.ts'
import { type AdminOperation, operation } from './operation.ts'
import { sendProblem } from './problem.ts'
import { recordOperations } from './record-operations.ts'
import { nodeOf } from './rejections.ts'
import { PageQuery } from './request-fields.ts'

export interface DecoderOptions {
  decoders: OwnDecoders
  recent: RecentMessages
  /** The answering node if there are several. */
  nodes?: { own(): Pick<NodeState, 'id' | 'host'> } | undefined
}

const Details = DecoderDetails.meta({ id: 'AdminDecoder' })

const MessagesQuery = z.strictObject({
  topic: DecoderTopic.optional().meta({ description: 'Messages of these topics.' }),
  webhook: z.string().max(40).optional().meta({ description: 'Messages of this webhook.' }),
})

const { list, one, addition, change, removal } = recordOperations({
  prefix: '/api/admin',
  list: '/decoders',
  key: 'name',
  id: z.string().meta({ description: 'The name of a decoder' }),
  unknown: 'DECODER_UNKNOWN',
  refuse: sendRefusal,
})

export function decoderOperations(options: DecoderOptions): AdminOperation[] {
  const { decoders } = options
  return [
    list({
      name: 'admin_list_decoders',
      summary: 'The decoders that people have written, by name',
      query: PageQuery,
      answer: 'A page of them',
      json: DecoderPage.meta({ id: 'AdminDecoderPage' }),
      read({ query: { page } }) {
        const all = decoders.list()
        return { decoders: rowsOfPage(all, page), ...listPage(all.length, page) }
      },
    }),
    addition({
      name: 'admin_add_decoder',
      summary: 'Add a decoder',
      description: 'It decodes messages to its webhook and of its topics at once (docs/sensors.md).',
      body: NewDecoder.meta({ id: 'AdminNewDecoder' }),
      answer: 'The decoder',
      json: Details,
      refusals: ['NAME_TAKEN', 'TOO_MANY_DECODERS'],
      run: ({ body, actor }) => decoders.add(body, actor),
    }),
    ...trials(options),
    one({
      name: 'admin_get_decoder',
      summary: 'One decoder',
      answer: 'The decoder',
      json: Details,
      read: ({ path: { name } }) => decoders.get(name),
    }),
    change({
      name: 'admin_change_decoder',
      summary: 'Change a decoder',
      description: 'Replaces its whole declaration.',
      body: DecoderDeclaration.meta({ id: 'AdminDecoderChange' }),
      answer: 'The changed decoder',
      json: Details,
      run: ({ path: { name }, body, actor }) => decoders.change(name, body, actor),
    }),
    removal({
      name: 'admin_remove_decoder',
      summary: 'Remove a decoder',
      description: 'Messages to its webhook and of its topics are refused from then on.',
      answer: 'It is removed',
      run: ({ path: { name }, actor }) => decoders.remove(name, actor),
    }),
  ]
}

function trials({ recent, nodes }: DecoderOptions): AdminOperation[] {
  const node = () => (nodes === undefined ? {} : { node: nodeOf(nodes.own()) })
  return [
    operation({
      method: 'GET',
      path: '/decoders/messages',
      name: 'admin_list_recent_messages',
      summary: 'Recent messages of sensors in formats of their own',
      description: `From the memory of the node that answers: the latest ${messagesPerPlace} of a topic or webhook, with secrets masked.`,
      parameters: { query: MessagesQuery },
      success: {
        status: 200,
        description: 'Topics and webhooks, latest first, and messages',
        json: RecentMessagePage.meta({ id: 'RecentMessagePage' }),
      },
      handle({ query: { topic, webhook } }, reply) {
        const readTopic = createTopicReader({ topics: topic === undefined ? [] : [topic] })
        const messages = recent.of((way, place) =>
          way === 'mqtt' ? readTopic(place) !== undefined : place === webhook,
        )
        const places = recent
          .places()
          .map(({ latestMs, ...place }) => ({ ...place, at: new Date(latestMs).toISOString() }))
        return reply.send({ ...node(), places, messages: messages.map(shownMessage) } satisfies RecentMessagePage)
      },
    }),
    operation({
      method: 'POST',
      path: '/decoders/try',
      name: 'admin_try_decoder',
      summary: 'Try a decoder on recent messages',
      description: `Decodes the latest ${messagesPerPlace} messages of its topics and of the webhook of its name, and stores nothing.`,
      body: { json: DecoderTrial.meta({ id: 'AdminDecoderTrial' }) },
      success: {
        status: 200,
        description: 'The messages with their readings',
        json: TriedDecoder.meta({ id: 'TriedDecoder' }),
      },
      handle: ({ body }, reply) =>
        reply.send({ ...node(), messages: tryDecoder(body, recent, Date.now()) } satisfies TriedDecoder),
    }),
  ]
}

function sendRefusal(reply: FastifyReply, { code }: DecoderRefusal): FastifyReply {
  const errors =
    code === 'NAME_TAKEN' ? [{ path: 'name', message: 'is taken by a family or another decoder' }] : undefined
  const detail = code === 'TOO_MANY_DECODERS' ? `there are ${ownDecodersMax} decoders` : undefined
  return sendProblem(reply, code, { errors, detail })
}
