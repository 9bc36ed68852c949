/** MQTT_BROKERS: outside brokers with the topics of sensors and their decoders. */

import { z } from 'zod'
import { familyNames } from '../../ingest/decoders/decoders.ts'
import type { DecodedBroker } from '../../ingest/mqtt/mqtt.ts'
import { isTopicFilter } from '../../ingest/mqtt/topics.ts'
import { serverUrl } from './setting-values.ts'

/** Each is a connection. */
const brokersMax = 16
/** Of a broker. */
const filtersMax = 50
const brokerUrl = serverUrl(/^mqtts?:$/, '')

export const mqttBrokers = z.string().transform((text, context): readonly DecodedBroker[] => {
  const brokers = readBrokers(text.trim().split(/\s+/))
  if (typeof brokers !== 'string') return brokers
  const example = 'mqtt://user:password@host zigbee2mqtt=zigbee2mqtt/#'
  context.addIssue({ code: 'custom', message: `must be addresses with topic filters such as ${example}: ${brokers}` })
  return z.NEVER
})

/** An address begins a broker, to which the filters behind it belong. A text is the fault, without the address. */
function readBrokers(words: readonly string[]): DecodedBroker[] | string {
  const brokers: { url: string; subscriptions: DecodedBroker['subscriptions'][number][] }[] = []
  for (const word of words) {
    if (brokerUrl.safeParse(word).success) {
      brokers.push({ url: word, subscriptions: [] })
      continue
    }
    const at = word.indexOf('=')
    const [family, filter] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1)]
    const subscriptions = brokers.at(-1)?.subscriptions
    if (subscriptions === undefined) return 'the first word must be the address of a broker'
    if (!familyNames.includes(family)) return `a decoder is one of ${familyNames.join(', ')}`
    if (!isTopicFilter(filter)) return `${family} has no valid topic filter`
    subscriptions.push({ family, filter })
  }
  if (brokers.some(({ subscriptions }) => subscriptions.length === 0)) return 'each broker needs a topic filter'
  const isTooMuch =
    brokers.length > brokersMax || brokers.some(({ subscriptions }) => subscriptions.length > filtersMax)
  return isTooMuch ? `at most ${brokersMax} brokers with ${filtersMax} filters` : brokers
}
