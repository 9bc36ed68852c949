/**
 * The latest messages of each topic and webhook, from which people write decoders. Senders choose topics and bodies, so the
 * number of places, the messages of each and the bytes of all are bounded: the place without a message for the longest time
 * leaves first. Secrets are masked before a message is kept.
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
/** UTF-16 code units of all texts. */
const lengthMax = 2 * 1024 * 1024

export function createRecentMessages(nowMs: () => number): RecentMessages {
  /** Least recently used first. */
  const kept = new Map<string, RecentMessage[]>()
  let length = 0

  function drop(key: string): void {
    for (const message of kept.get(key) ?? []) length -= lengthOf(message)
    kept.delete(key)
  }

  function dropOldest(): void {
    const [oldest] = kept.keys()
    if (oldest !== undefined) drop(oldest)
  }

  function keep(key: string, message: RecentMessage): void {
    const messages = kept.get(key) ?? []
    kept.delete(key)
    kept.set(key, messages)
    messages.push(message)
    length += lengthOf(message)
    if (messages.length > messagesPerPlace) length -= lengthOf(messages.shift())
    while (kept.size > placesMax || length > lengthMax) dropOldest()
  }

  return {
    add(way, place, { body, parameters = {} }, bytes) {
      if (bytes > messageBytesMax || place.length > placeLengthMax || mayHoldKey(place)) return
      const [text, masked] = [maskedText(body), maskedText(parameters)]
      if (text === undefined || masked === undefined || text.length + masked.length > 2 * messageBytesMax) return
      keep(`${way} ${place}`, { atMs: nowMs(), way, place, text, parameters: JSON.parse(masked) })
    },

    places() {
      const found = [...kept.values()].map(messages => {
        const { way, place, atMs } = messages.at(-1) as RecentMessage
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
    },

    clear() {
      kept.clear()
      length = 0
    },
  }
}

function lengthOf(message: RecentMessage | undefined): number {
  if (message === undefined) return 0
  const { text, place, parameters } = message
  return text.length + place.length + Object.entries(parameters).join().length
}

const secretName = /pass|secret|token|auth|key|credential/i
const mask = '***'

/** Undefined for a value that is not JSON, or is nested too deeply. */
function maskedText(value: unknown): string | undefined {
  try {
    return stringify(value)
  } catch {
    return undefined
  }
}

function stringify(value: unknown): string | undefined {
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
