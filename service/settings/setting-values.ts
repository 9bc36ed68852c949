/** Declares the kinds of values of settings: how their text is parsed and when it is refused. */

import { isIP, isIPv6 } from 'node:net'
import { z } from 'zod'
import { familyNames } from '../../ingest/decoders/decoders.ts'
import type { LineNames } from '../../ingest/formats/line-protocol-names.ts'
import { ownFamilies } from '../../ingest/mqtt/decoded-message.ts'
import type { DecodedBroker } from '../../ingest/mqtt/mqtt.ts'
import { isTopicFilter } from '../../ingest/mqtt/topics.ts'
import { readStatedUnits } from '../../store/metrics/stated-units.ts'
import { metrics } from '../../store/tables.ts'

export const gibibyte = 1024 ** 3
const byteUnits: Record<string, number> = { '': 1, KiB: 1024, MiB: 1024 ** 2, GiB: gibibyte, TiB: 1024 ** 4 }

export const bytes = z
  .string()
  .regex(/^\d+ ?(KiB|MiB|GiB|TiB)?$/, 'must be a size such as 512MiB or 20GiB')
  .transform(text => Number.parseInt(text, 10) * (byteUnits[text.replace(/^\d+ ?/, '')] ?? 1))

export const range = z
  .string()
  .regex(/^-?\d+(\.\d+)?\.\.-?\d+(\.\d+)?$/, 'must be two numbers such as -90..85')
  .transform(text => {
    const [min = 0, max = 0] = text.split(/\.\.(?=-?\d)/).map(Number)
    return { min, max }
  })
  .refine(({ min, max }) => min < max, 'must begin with the smaller number')

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine(value => value >= min && value <= max, `must be from ${min} to ${max}`)

export const list = z.string().transform(text => text.split(',').map(part => part.trim()))

export const lineFields = z
  .string()
  .transform(text => text.split(',').map(readLineField))
  .refine(fields => !fields.includes(undefined), 'must be fields with their metrics such as temp=temperature')
  .transform(fields => fields.filter(field => field !== undefined))

export const statedUnits = z.string().transform((text, context) => {
  const read = readStatedUnits(text)
  if (read.ok) return read.units
  context.addIssue({ code: 'custom', message: `must be metrics with their units: ${read.reason}` })
  return z.NEVER
})

/** Kafka mechanisms that need only a name and a password. */
export const saslMechanisms = ['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512', 'OAUTHBEARER'] as const

const brokersMax = 100

/** `host:port` of each broker. */
export const brokers = list.refine(
  parts => parts.length <= brokersMax && parts.every(isBroker),
  'must be comma-separated addresses such as kafka-1:9092',
)

/** A database may be reached by a socket, without a host. */
export const databaseUrl = (protocol: RegExp, example: string) =>
  z.string().refine(text => readUrl(text, protocol) !== undefined, `must be an address such as ${example}`)

/** A folder by its full path, or a bucket with a prefix of names. */
export const archiveUrl = z
  .string()
  .refine(
    text => /^(file:\/\/\/[^?#%]{1,1000}|s3:\/\/[a-z0-9.-]{3,63}(\/[A-Za-z0-9._/-]{0,500})?)$/.test(text),
    'must be an address such as file:///var/archive or s3://bucket/prefix',
  )
  .transform(text => new URL(text))

export const serverUrl = (protocol: RegExp, example: string) =>
  z.string().refine(text => Boolean(readUrl(text, protocol)?.hostname), `must be an address such as ${example}`)

export const providerUrl = z.string().refine(isProviderUrl, 'must be an https address')

/** Parses `[measurement:]field=metric`. */
function readLineField(text: string): LineNames['fields'][number] | undefined {
  const [names = '', metricName, ...more] = text.trim().split('=')
  const metric = metrics.find(name => name === metricName)
  const parts = names.split(':')
  const [field, measurement] = parts.toReversed()
  if (metric === undefined || more.length > 0 || parts.length > 2 || !field || measurement === '') return undefined
  return measurement === undefined ? { field, metric } : { measurement, field, metric }
}

/** Undefined unless the user name, the password and the path can be decoded. */
function readUrl(text: string, protocol: RegExp): URL | undefined {
  const url = URL.parse(text)
  if (url === null || !protocol.test(url.protocol)) return undefined
  try {
    for (const part of [url.username, url.password, url.pathname]) decodeURIComponent(part)
    return url
  } catch {
    return undefined
  }
}

/** Secrets are sent there; plain text is allowed only to this machine. */
function isProviderUrl(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || url.hash !== '' || url.username !== '') return false
  const isLocal = ['localhost', '127.0.0.1', '[::1]'].includes(url.hostname)
  return url.protocol === 'https:' || (url.protocol === 'http:' && isLocal)
}

function isBroker(text: string): boolean {
  const [, host = '', port = ''] = /^(\[[^\]]{2,45}\]|[A-Za-z0-9_.-]{1,253}):(\d{1,5})$/.exec(text) ?? []
  const isHost = host.startsWith('[') ? isIPv6(host.slice(1, -1)) : host !== ''
  return isHost && Number(port) >= 1 && Number(port) <= 65_535
}

/** 32 random bytes have 43 characters in base64. */
export function isStrongSecret(secret: string): boolean {
  const sample = /secret|example|change|your/i
  return secret.length >= 43 && new Set(secret).size >= 10 && !sample.test(secret)
}

export function isOrigin(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && url.origin === text
}

/** The host has to fit a browser's policy: no wildcard, no IPv6 address, and no characters that end the directive. */
export function isFrameOrigin(text: string): boolean {
  return isOrigin(text) && /^https?:\/\/[a-z0-9.-]+(?::\d+)?$/.test(text)
}

export function isNetwork(text: string): boolean {
  const [, address = '', prefix = '1'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? []
  const prefixMax = isIP(address) === 4 ? 32 : 128
  return isIP(address) !== 0 && Number(prefix) >= 1 && Number(prefix) <= prefixMax
}

/** Each is a connection. */
const mqttBrokersMax = 16
/** Maximum filters of a broker. */
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
    brokers.length > mqttBrokersMax || brokers.some(({ subscriptions }) => subscriptions.length > filtersMax)
  return isTooMuch ? `at most ${mqttBrokersMax} brokers with ${filtersMax} filters` : brokers
}

function readSubscription(word: string): Subscription | string {
  const at = word.indexOf('=')
  const [family, filter] = [word.slice(0, Math.max(at, 0)), word.slice(at + 1)]
  const names = [...familyNames, ownFamilies]
  if (!names.includes(family)) return `a decoder is one of ${names.join(', ')}`
  return isTopicFilter(filter) ? { family, filter } : `${family} has no valid topic filter`
}
