/**
 * Declares decoders that people write: data in the shape of a family. The checks bound the time of their patterns, which read
 * messages of strangers.
 */

import { z } from 'zod'
import { listPageFields } from '../../auth/list-page.ts'
import { MetricName } from '../../store/metrics/metric-name.ts'
import type { Family, FieldRule } from './family.ts'
import { unitFault } from './family.ts'

export const ownDecodersMax = 100
const textLengthMax = 128

/** `own` is a word of MQTT_BROKERS. The others are paths of the admin API. */
const reservedNames: ReadonlySet<string> = new Set(['own', 'messages', 'try'])

/** The step of an address: `/in/NAME/KEY`. */
const DecoderName = z
  .string()
  .regex(/^[a-z][a-z0-9_-]{0,39}$/, 'must be 1 to 40 of a-z, 0-9, "_" and "-", and begin with a letter')
  .refine(name => !reservedNames.has(name), 'is a name that the service itself uses')

export function isDecoderName(text: string): boolean {
  return DecoderName.safeParse(text).success
}

const text = z.string().max(textLengthMax, `must have at most ${textLengthMax} characters`)
const Pointer = text.regex(
  /^(?:\/[^/]+)*$/,
  'must be a JSON pointer such as /data/values, or empty for the whole message',
)
const TimePointer = text.regex(
  /^(?:\/[^/ ]+)+(?: UTC)?$/,
  'must be a JSON pointer such as /ts, or /ts UTC for a text without a zone',
)
const faulty = (faultOf: (text: string) => string | undefined) =>
  text.min(1, 'must not be empty').superRefine((value, context) => {
    const fault = faultOf(value)
    if (fault !== undefined) context.addIssue({ code: 'custom', message: fault })
  })

const Rule = z.strictObject({
  path: faulty(pathFault).meta({
    description: 'Path below the values: levels with "/", "*" for any text, "#" for a number.',
  }),
  metric: z
    .string()
    .max(textLengthMax)
    .nullable()
    .meta({ description: 'The metric, with "#" for the number of the path; null leaves the field out.' }),
  unit: text.optional().meta({
    description:
      'The unit of the sender, such as °F, with ">" and another unit where the catalogue has none; "not" inverts.',
  }),
})

export const DecoderTopic = faulty(topicFault)

const shape = {
  topics: z
    .array(DecoderTopic)
    .max(10)
    .optional()
    .meta({ description: 'Topics such as garden/{device}; none for webhooks alone.' }),
  device: z
    .array(faulty(text => (text.trim() === '' ? 'must not be empty' : undefined)))
    .min(1, 'must have an element')
    .max(5)
    .meta({
      description: 'The first one with all its parts: {/pointer}, {?parameter}, {device} of the topic, or a text.',
    }),
  time: z.array(TimePointer).max(5).optional().meta({ description: 'The first one with a time counts.' }),
  each: Pointer.optional().meta({ description: 'A list whose elements are messages of their own.' }),
  values: z
    .array(Pointer)
    .min(1)
    .max(10)
    .optional()
    .meta({ description: 'Objects with values; default is the message.' }),
  fields: z.array(Rule).max(100).optional(),
  drops_others: z.boolean().optional().meta({ description: 'Whether fields without a rule are left out.' }),
  has_texts: z.boolean().optional().meta({ description: 'Whether texts with numbers are values without a rule.' }),
}

export const DecoderDeclaration = z.strictObject(shape).superRefine(checkTogether)
export type DecoderDeclaration = z.infer<typeof DecoderDeclaration>

export const NewDecoder = z.strictObject({ name: DecoderName, ...shape }).superRefine(checkTogether)
export type NewDecoder = z.infer<typeof NewDecoder>

/** The name may be missing. The messages have its topics, or came to the webhook of its name. */
export const DecoderTrial = z.strictObject({ name: DecoderName.optional(), ...shape }).superRefine(checkTogether)
export type DecoderTrial = z.infer<typeof DecoderTrial>

export const DecoderDetails = z.object({ name: z.string(), ...shape, updated_at: z.iso.datetime() })
export type DecoderDetails = z.infer<typeof DecoderDetails>

export const DecoderPage = z.object({ decoders: z.array(DecoderDetails), ...listPageFields })
export type DecoderPage = z.infer<typeof DecoderPage>

const TriedValue = z.object({
  metric: z.string(),
  value: z.unknown(),
  fault: z.string().optional().meta({ description: 'Why the value is not stored.' }),
})

export const TriedMessage = z.object({
  at: z.iso.datetime(),
  way: z.enum(['mqtt', 'webhook']),
  place: z.string().meta({ description: 'The topic, or the name of the webhook.' }),
  text: z.string().meta({ description: 'The body as JSON, with secrets as ***.' }),
  readings: z.array(
    z.object({
      device: z.string(),
      at: z.iso.datetime().nullable().meta({ description: 'Null for the time of receipt.' }),
      values: z.array(TriedValue),
    }),
  ),
  reason: z.string().optional().meta({ description: 'Why the message has no readings.' }),
})
export type TriedMessage = z.infer<typeof TriedMessage>

export function ownFamily(name: string, declaration: DecoderDeclaration): Family {
  const { topics, device, time, each, values, fields, drops_others, has_texts } = declaration
  const rules = fields?.map(
    ({ path, metric, unit }): FieldRule => (unit === undefined ? [path, metric] : [path, metric, unit]),
  )
  return { name, topics, device, time, each, values, fields: rules, dropsOthers: drops_others, hasTexts: has_texts }
}

type Context = z.RefinementCtx<DecoderDeclaration>

function checkTogether({ topics = [], device, fields = [] }: DecoderDeclaration, context: Context): void {
  const fail = (path: (string | number)[], message: string) => context.addIssue({ code: 'custom', path, message })
  const levels = new Set(topics.flatMap(topic => topic.split('/').map(level => namedLevel(level)?.name)))
  for (const [at, template] of device.entries()) {
    const fault = deviceFault(template, levels)
    if (fault !== undefined) fail(['device', at], fault)
  }
  for (const [at, { path, metric, unit }] of fields.entries()) {
    if (metric === null) continue
    const checked = MetricName.safeParse(metric.replaceAll('#', '1'))
    if (!checked.success) fail(['fields', at, 'metric'], checked.error.issues[0]?.message ?? '')
    if (countOf(metric, '#') > countOf(path, '#')) fail(['fields', at, 'metric'], 'has more # than the path')
    const fault = unit === undefined ? undefined : unitFault(metric, unit)
    if (fault !== undefined) fail(['fields', at, 'unit'], fault)
  }
}

function countOf(text: string, part: string): number {
  return text.split(part).length - 1
}

/** `{name}` or `{name+}`. */
function namedLevel(level: string): { name: string; isSeveral: boolean } | undefined {
  const [, name, several] = /^\{([a-z][a-z0-9_]*)(\+?)\}$/.exec(level) ?? []
  return name === undefined ? undefined : { name, isSeveral: several !== '' }
}

/** One wildcard of several levels, since two of them would try all divisions of a topic. */
function topicFault(topic: string): string | undefined {
  const levels = topic.split('/')
  if (levels[0] === 'readings') return 'readings/ has a format of its own'
  const named = levels.map(namedLevel)
  const names = named.flatMap(level => level?.name ?? [])
  if (new Set(names).size < names.length) return 'has a name twice'
  const isSeveral = (level: string, at: number) => level === '**' || level === '#' || named[at]?.isSeveral === true
  if (levels.filter(isSeveral).length > 1) return 'has more than one of **, # and {name+}'
  if (levels.slice(0, -1).includes('#')) return 'must have # at the end'
  const isWrong = (level: string, at: number) =>
    named[at] === undefined && !['+', '**', '#'].includes(level) && /[+#{}*]/.test(level)
  return levels.some(isWrong) ? 'must have levels such as garden, +, {device} or #' : undefined
}

/** Another character must separate two wildcards of a level, so that a pattern has one way to match. */
function pathFault(path: string): string | undefined {
  for (const level of path.split('/')) {
    if (level === '') return 'must have a name between "/"'
    if (countOf(level, '*') > 1 || countOf(level, '#') > 2) return 'must have at most one * and two # in a level'
    if (/[*#][0-9]*[*#]/.test(level)) return 'must have another character than a digit between * and #'
  }
  return undefined
}

function deviceFault(template: string, levels: ReadonlySet<string | undefined>): string | undefined {
  for (const [, place = ''] of template.matchAll(/\{([^{}]*)\}/g)) {
    const isPlace = place.startsWith('/') || (place.startsWith('?') && place.length > 1)
    if (!isPlace && !levels.has(place)) return `{${place}} is not a level of the topics, a {/pointer} or a {?parameter}`
  }
  return /[{}]/.test(template.replace(/\{[^{}]*\}/g, '')) ? 'has a brace without its other one' : undefined
}
