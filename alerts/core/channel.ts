/** A channel: the target of notifications, by kind. */

import { z } from 'zod'
import { parseEmailAddress } from '../../auth/accounts/email-address.ts'
import { plainText } from '../../store/plain-text.ts'

/** Only the form is checked here. The target is checked when it is set, and at each connection. */
const Address = plainText({ min: 1, max: 2000 }).meta({ description: 'An address, with https.' })

const MailAddress = z
  .string()
  .max(320)
  .transform((text, context) => {
    const parsed = parseEmailAddress(text)
    if (parsed.ok) return parsed.email
    context.addIssue({ code: 'custom', message: parsed.reason })
    return z.NEVER
  })
  .meta({ type: 'string', format: 'email' })

const topicBytesMax = 512

/** No wildcards, nothing of the broker itself (MQTT 5, 4.7), and no readings, which the service takes from there. */
const Topic = plainText({ min: 1, max: topicBytesMax })
  .refine(topic => new TextEncoder().encode(topic).length <= topicBytesMax, `must have at most ${topicBytesMax} bytes`)
  .refine(topic => !/[+#]/.test(topic), 'must not contain "+" or "#"')
  .refine(topic => !topic.startsWith('$'), 'must not begin with "$"')
  .refine(topic => topic.split('/')[0] !== 'readings', 'must not be below readings/, where readings are taken from')

const WebhookSettings = z.strictObject({ url: Address })
const EmailSettings = z.strictObject({ to: MailAddress })
const AlertmanagerSettings = z.strictObject({
  url: Address.meta({ description: 'Before /api/v2/alerts.' }),
  username: plainText({ min: 1, max: 200 }).optional(),
  password: plainText({ min: 1, max: 200 }).optional(),
})
const NtfySettings = z.strictObject({
  url: Address.meta({ description: 'Of the topic: https://ntfy.sh/topic.' }),
  token: plainText({ min: 1, max: 200 }).optional(),
})
const SlackSettings = z.strictObject({ url: Address })
const AppriseSettings = z.strictObject({
  url: Address.meta({ description: 'Address of an API server of Apprise: https://apprise.example/notify/KEY.' }),
  urls: plainText({ min: 1, max: 2000 }).optional().meta({
    description: 'Addresses of services in the form of Apprise, for an address that ends in /notify.',
  }),
  tag: plainText({ min: 1, max: 200 }).optional().meta({ description: 'Restricts the services of KEY.' }),
})
const MqttSettings = z.strictObject({
  topic: Topic,
  retain: z.boolean().default(false).meta({ description: 'One retained message a device, below the topic.' }),
})

export const channelSettings = {
  webhook: WebhookSettings,
  email: EmailSettings,
  alertmanager: AlertmanagerSettings,
  ntfy: NtfySettings,
  slack: SlackSettings,
  apprise: AppriseSettings,
  mqtt: MqttSettings,
}
export type ChannelKindName = keyof typeof channelSettings
export type ChannelSettings<Kind extends ChannelKindName> = z.infer<(typeof channelSettings)[Kind]>

const kindNames = Object.keys(channelSettings) as [ChannelKindName, ...ChannelKindName[]]
const ChannelName = plainText({ min: 1, max: 64 })
const fields = { name: ChannelName, enabled: z.boolean().default(true) }

const newOf = <Kind extends ChannelKindName>(kind: Kind) =>
  z
    .strictObject({ ...fields, kind: z.literal(kind), settings: channelSettings[kind] })
    .meta({ id: `New${kind.charAt(0).toUpperCase()}${kind.slice(1)}Channel` })

export const NewChannel = z.discriminatedUnion('kind', [
  newOf('webhook'),
  newOf('email'),
  newOf('alertmanager'),
  newOf('ntfy'),
  newOf('slack'),
  newOf('apprise'),
  newOf('mqtt'),
])
export type NewChannel = z.infer<typeof NewChannel>

/** The kind stays. */
export const ChannelChange = z
  .strictObject({
    name: ChannelName,
    enabled: z.boolean(),
    settings: z.record(z.string(), z.union([z.string().max(2000), z.boolean(), z.null()])).meta({
      description: 'Settings of its kind that change. Null removes a setting. Secrets that are not named stay.',
    }),
  })
  .partial()
  .refine(change => Object.keys(change).length > 0, 'must name at least one field to change')
  .meta({ minProperties: 1 })
export type ChannelChange = z.infer<typeof ChannelChange>

const disabledReasons = ['gone', 'failing', 'unsubscribed', 'crashed'] as const

/** The public form of a channel, without addresses and other secrets. */
export const Channel = z.object({
  id: z.int(),
  /** An account; null: of the service. */
  owner: z.int().nullable(),
  name: z.string(),
  kind: z.enum(kindNames),
  enabled: z.boolean(),
  disabled_reason: z.enum(disabledReasons).nullable().meta({
    description:
      'Why the service has disabled it: it answered 410, it failed for five days, by a link, or two of its notifications ended the service.',
  }),
  /** Secret settings are left out. */
  settings: z.record(z.string(), z.union([z.string(), z.boolean()])),
  target: z.string().meta({ description: 'The host, the mail address or the topic.' }),
  notice: z.string().nullable().meta({
    description: 'Why notifications do not arrive at present, as far as it is known before one is sent.',
  }),
  failing_since: z.iso.datetime().nullable(),
  version: z.int(),
  created_at: z.iso.datetime(),
})
export type Channel = z.infer<typeof Channel>

/** The signing secret of a webhook is shown once, in this answer. */
export const IssuedChannel = Channel.extend({ secret: z.string().optional() })
export type IssuedChannel = z.infer<typeof IssuedChannel>
