/** MQTT_BROKERS and MQTT_DECODERS: topics of sensors with their decoders, at outside brokers and at our own listener. */

import { z } from 'zod'
import { familyNames } from '../../ingest/decoders/decoders.ts'
import { ownFamilies } from '../../ingest/mqtt/decoded-message.ts'
import type { DecodedBroker } from '../../ingest/mqtt/mqtt.ts'
import { isTopicFilter } from '../../ingest/mqtt/topics.ts'
import { serverUrl } from './setting-values.ts'

/** Each is a connection. */
const brokersMax = 16
/** Of a broker. */
const filtersMax = 50
const brokerUrl = serverUrl(/^mqtts?:$/, '')

type Subscription = DecodedBroker['subscriptions'][number]

export const mqttDecoders = z.string().transform((text, context): readonly Subscription[] => {
  const words = text.trim().split(/\s+/)
  const found = words.length > filtersMax ? [`at most ${filtersMax} filters`] : words.map(readSubscription)
  const fault = found.find(one => typeof one === 'string')
  if (fault === undefined) return found.filter(one => typeof one !== 'string')
  context.addIssue({ code: 'custom', message: `must be filters such as zigbee2mqtt=zigbee2mqtt/#: ${fault}` })
  return z.NEVER
})

export const mqttBrokers = z.string().transform((text, context): readonly DecodedBroker[] => {
  const brokers = readBrokers(text.trim().split(/\s+/))
  if (typeof brokers !== 'string') return brokers
  const example = 'mqtt://user:password@host zigbee2mqtt=zigbee2mqtt/#'
  context.addIssue({ code: 'custom', message: `must be addresses with topic filters such as ${example}: ${brokers}` })
  return z.NEVER
})

/** An address begins a broker, to which the filters behind it belong. A text is the fault, without the address. */
function readBrokers(words: readonly string[]): DecodedBroker[] | string {
  const brokers: { url: string; subscriptions: Subscription[] }[] = []
  for (const word of words) {
    if (brokerUrl.safeParse(word).success) {
      brokers.push({ url: word, subscriptions: [] })
      continue
    }
    const subscriptions = brokers.at(-1)?.subscriptions
    if (subscriptions === undefined) return 'the first word must be the address of a broker'
    const subscription = readSubscription(word)
    if (typeof subscription === 'string') return subscription
    subscriptions.push(subscription)
  }
  if (brokers.some(({ subscriptions }) => subscriptions.length === 0)) return 'each broker needs a topic filter'
  const isTooMuch =
    brokers.length > brokersMax || brokers.some(({ subscriptions }) => subscriptions.length > filtersMax)
  return isTooMuch ? `at most ${brokersMax} brokers with ${filtersMax} filters` : brokers
}

function readSubscription(word: string): Subscription | string {
  const at = word.indexOf('=')
  const [family, filter] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1)]
  const names = [...familyNames, ownFamilies]
  if (!names.includes(family)) return `a decoder is one of ${names.join(', ')}`
  return isTopicFilter(filter) ? { family, filter } : `${family} has no valid topic filter`
}
