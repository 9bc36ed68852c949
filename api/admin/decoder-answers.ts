/** Declares the admin API's answers on recent messages of sensors and on tried decoders. */

import { z } from 'zod'
import { TriedMessage } from '../../ingest/decoders/own-decoder.ts'
import { RejectionPage } from './rejection-answers.ts'

export type { DecoderDetails, DecoderPage, NewDecoder } from '../../ingest/decoders/own-decoder.ts'

const node = RejectionPage.shape.node

export const RecentMessagePage = z.object({
  /** The answering node: each node keeps its own messages. */
  node,
  places: z.array(
    z.object({
      ...TriedMessage.pick({ way: true, place: true }).shape,
      /** Kept messages. */
      count: z.int().positive(),
      /** Time of the latest one. */
      at: z.iso.datetime(),
    }),
  ),
  /** Messages of the topic or webhook of the query, latest first. */
  messages: z.array(TriedMessage.omit({ readings: true, reason: true })),
})
export type RecentMessagePage = z.infer<typeof RecentMessagePage>

export const TriedDecoder = z.object({ node, messages: z.array(TriedMessage) })
export type TriedDecoder = z.infer<typeof TriedDecoder>
