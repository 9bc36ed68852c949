/**
 * The latest messages of each topic and webhook, from which people write decoders. Senders choose topics and bodies, so the
 * number of places, the messages of each and the bytes of all are bounded: the place without a message for the longest time
 * leaves first. Few messages are ever looked at, so their secrets are masked when they are shown.
 */

import { mayHoldKey } from '../../auth/keys/key-text.ts'
import type { Message } from './family.ts'

type MessageWay = 'mqtt' | 'webhook'

export interface RecentMessage {
  atMs: number
  way: MessageWay
  /** The topic, or the family of a webhook. */
  place: string
  /** JSON, or the text of a payload that is not JSON. */
  text: string
  /** Query string of a webhook. */
  parameters: Readonly<Record<string, string>>
}

interface RecentPlace {
  way: MessageWay
  place: string
  count: number
  latestMs: number
}

export interface RecentMessages {
  /** `bytes` is the size of the message as it was sent. Leaves out a message that is too large. */
  add(way: MessageWay, place: string, message: Pick<Message, 'body' | 'parameters'>, bytes: number): void
  /** Latest first. */
  places(): RecentPlace[]
  /** The latest of the places that match, latest first. */
  of(matches: (way: MessageWay, place: string) => boolean): RecentMessage[]
  clear(): void
}

export const messagesPerPlace = 10
const placesMax = 100
const placeLengthMax = 256
const messageBytesMax = 8 * 1024
/** Bytes of all messages as they were sent, and of their places. */
const bytesMax = 2 * 1024 * 1024

interface KeptMessage {
  atMs: number
  way: MessageWay
  place: string
  body: unknown
  parameters: Message['parameters']
  bytes: number
}

export function createRecentMessages(nowMs: () => number): RecentMessages {
  /** Least recently used first. */
  const kept = new Map<string, KeptMessage[]>()
  let bytesKept = 0

  function drop(key: string): void {
    for (const { bytes } of kept.get(key) ?? []) bytesKept -= bytes
    kept.delete(key)
  }

  function dropOldest(): void {
    const [oldest] = kept.keys()
    if (oldest !== undefined) drop(oldest)
  }

  function keep(key: string, message: KeptMessage): void {
    const messages = kept.get(key) ?? []
    kept.delete(key)
    kept.set(key, messages)
    messages.push(message)
    bytesKept += message.bytes
    if (messages.length > messagesPerPlace) bytesKept -= messages.shift()?.bytes ?? 0
    while (kept.size > placesMax || bytesKept > bytesMax) dropOldest()
  }

  return {
    add(way, place, { body, parameters }, bytes) {
      if (body === undefined || bytes > messageBytesMax || place.length > placeLengthMax || mayHoldKey(place)) return
      keep(`${way} ${place}`, { atMs: nowMs(), way, place, body, parameters, bytes: bytes + place.length })
    },

    places() {
      const found = [...kept.values()].map(messages => {
        const { way, place, atMs } = messages.at(-1) as KeptMessage
        return { way, place, count: messages.length, latestMs: atMs }
      })
      return found.reverse()
    },

    of(matches) {
      const found = [...kept.values()].filter(([first]) => first !== undefined && matches(first.way, first.place))
      return found
        .flat()
        .reverse()
        .sort((a, b) => b.atMs - a.atMs)
        .slice(0, messagesPerPlace)
        .flatMap(shown)
    },

    clear() {
      kept.clear()
      bytesKept = 0
    },
  }
}

const secretName = /pass|secret|token|auth|key|credential/i
const mask = '***'

/** Nothing of a message that is nested too deeply for JSON.stringify. */
function shown({ atMs, way, place, body, parameters = {} }: KeptMessage): RecentMessage[] {
  try {
    return [{ atMs, way, place, text: maskedText(body), parameters: JSON.parse(maskedText(parameters)) }]
  } catch {
    return []
  }
}

function maskedText(value: unknown): string {
  return JSON.stringify(value, (name, inner: unknown) => {
    const isSecret =
      (name !== '' && secretName.test(name) && !isNested(inner)) || (typeof inner === 'string' && mayHoldKey(inner))
    return isSecret ? mask : inner
  })
}

/** The names within a nested object are masked one by one. */
function isNested(value: unknown): boolean {
  return typeof value === 'object' && value !== null
}
