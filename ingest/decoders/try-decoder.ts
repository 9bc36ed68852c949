/** Tries a decoder on recent messages: the same engine and the same check of values as on messages that arrive. */

import type { Fields } from '../field-names.ts'
import { createReadingCheck } from '../reading.ts'
import { createDecoder, createTopicReader } from './decode.ts'
import { type DecoderTrial, ownFamily, type TriedMessage } from './own-decoder.ts'
import type { RecentMessage, RecentMessages } from './recent-messages.ts'

const check = createReadingCheck({ collectsCustom: true })

export function tryDecoder(
  { name = '', ...declaration }: DecoderTrial,
  recent: Pick<RecentMessages, 'of'>,
  nowMs: number,
): TriedMessage[] {
  const decode = createDecoder(ownFamily(name, declaration))
  const readTopic = createTopicReader(declaration)
  const hasTopics = (declaration.topics ?? []).length > 0
  const messages = recent.of((way, place) =>
    way === 'webhook' ? place === name : hasTopics && readTopic(place) !== undefined,
  )
  return messages.map(message => {
    const { way, place, text, parameters, atMs } = message
    const body: unknown = JSON.parse(text)
    const decoded = decode(way === 'mqtt' ? { topic: place, body } : { body, parameters })
    const shown = shownMessage(message)
    if (decoded.kind !== 'readings') return { ...shown, readings: [], reason: decoded.reason }
    return { ...shown, readings: decoded.readings.map(fields => triedReading(fields, Math.max(atMs, nowMs))) }
  })
}

export function shownMessage({ atMs, way, place, text }: RecentMessage): Omit<TriedMessage, 'readings'> {
  return { at: new Date(atMs).toISOString(), way, place, text }
}

function triedReading(fields: Fields, nowMs: number): TriedMessage['readings'][number] {
  const { device, timestamp, ...values } = fields
  const checked = check(fields, nowMs)
  const faults = { ...checked.outOfRange, ...(checked.ok ? {} : checked.errors) }
  const at = typeof timestamp === 'number' ? new Date(timestamp).toISOString() : null
  const tried = Object.entries(values).map(([metric, value]) => {
    const fault = Object.hasOwn(faults, metric) ? faults[metric] : undefined
    return { metric, value, ...(fault !== undefined && { fault }) }
  })
  return { device: String(device), at, values: tried }
}
