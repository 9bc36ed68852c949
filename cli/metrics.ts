/** `barograph metrics`: manages the registry of metrics. */

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { InvalidArgumentError } from 'commander'
import { MetricCatalogue, RecentMessagePage, TriedDecoder } from '../api/admin/answers.ts'
import { MetricDetails, MetricPage } from '../auth/metrics/metric-list.ts'
import { DecoderDetails, DecoderPage, isDecoderName } from '../ingest/decoders/own-decoder.ts'
import { metricKinds } from '../store/metrics/metric.ts'
import type { CommandContext } from './command-context.ts'
import { withFile } from './command-error.ts'
import {
  type Column,
  command,
  commands,
  list,
  operation,
  type Part,
  readAll,
  removal,
  tableOf,
} from './operation-commands.ts'
import { jsonObjectOf, jsonObjectOrNone, numberOrNone, stepOf, textOrNone } from './option-values.ts'

const name = ['<name>', '', stepOf('metric name', text => /^[a-z][a-z0-9_]*$/.test(text))] as const
const fields = {
  options: [
    ['--title <text>', 'name for people'],
    ['--unit <unit>', 'UCUM code or usual sign, such as ppm, °C or km/h, or none', textOrNone],
    ['--kind <kind>', 'its kind, which decides the statistics', metricKinds],
    ['--decimals <digits>', 'digits shown behind the point', wholeNumber],
    ['--min <value>', 'smallest value that is accepted, or none', numberOrNone],
    ['--max <value>', 'largest value that is accepted, or none', numberOrNone],
    ['--quality <json>', 'limits beyond which values are flagged as suspect, as JSON, or none', jsonObjectOrNone],
    ['--color <colour>', 'of its lines, such as #1f77b4, or none', textOrNone],
    ['--position <number>', 'place in lists, ascending', wholeNumber],
  ],
  json: 'print the metric as JSON',
  answer: MetricDetails,
} as const

type Row = Omit<MetricCatalogue['metrics'][number], 'aliases'>
const columns: Column<Row>[] = [
  'name',
  'title',
  ['unit', ({ unit_sign }) => unit_sign ?? '-'],
  'kind',
  ['range', ({ min, max }) => (min === null && max === null ? '-' : `${min ?? ''}..${max ?? ''}`)],
]

export const defineMetrics = commands(
  operation('add', 'add a metric', {
    ...fields,
    arguments: [['<name>', 'lower-case letters, digits and "_"; it cannot be changed']],
    help: `A name that the catalogue knows is set up by it; barograph metrics list --catalogue shows them.
With METRICS=open, the default, the first reading with a field of a new name adds a metric, too.`,
    examples: ['metrics add co2', "metrics add sap_flow --title 'Sap flow' --unit L/h --min 0"],
    send: 'POST /admin/metrics',
  }),
  command('list', 'list metrics', {
    options: [
      ['--search <text>', 'only metrics whose name or title contains this text (case-insensitive)'],
      ['--catalogue', 'metrics that are set up by their names instead'],
    ],
    examples: ['metrics list', 'metrics list --search wind --json', 'metrics list --catalogue'],
    async run({ search = '', catalogue }: { search?: string; catalogue?: true }, { apiClient }) {
      if (catalogue === undefined) {
        const found = await readAll(apiClient, MetricPage, '/admin/metrics', { search })
        return { json: found, text: tableOf(found, columns, 'no metrics') }
      }
      const { metrics } = await apiClient.json(MetricCatalogue, 'GET', '/admin/metrics/catalogue')
      const text = search.toLowerCase()
      const found = metrics.filter(({ name, title, aliases }) =>
        [name, title, ...aliases].some(word => word.toLowerCase().includes(text)),
      )
      return { json: found, text: tableOf(found, [...columns, ['also called', ({ aliases }) => aliases.join(', ')]]) }
    },
  }),
  operation('set', 'change a metric', {
    ...fields,
    arguments: [name],
    help: `Kind and unit can change at any time; stored values are not converted and mean the new unit from then on. Of the five that
are built in (temperature, humidity, pressure, battery_voltage, battery_percentage), unit, kind and range stay.`,
    examples: ['metrics set rain --kind counter --unit mm', "metrics set co2 --max none --color '#1f77b4'"],
    send: 'PATCH /admin/metrics/:name',
  }),
  removal('remove', 'remove a metric that no device has or lists', {
    arguments: [name],
    examples: ['metrics remove sap_flow'],
    send: 'DELETE /admin/metrics/:name',
    text: ({ name }) => `removed ${name}`,
  }),
)

function wholeNumber(text: string): number {
  if (!/^\d{1,7}$/.test(text)) throw new InvalidArgumentError('Expected a whole number.')
  return Number(text)
}

const decoderName = ['<name>', '', stepOf('decoder name', isDecoderName)] as const
const file = ['<file>', 'its declaration as JSON, or - for standard input'] as const
const saved = { json: 'print the decoder as JSON', answer: DecoderDetails } as const

interface Given {
  name?: string
  file: string
}

async function declarationOf({ file, ...named }: Given, { streams }: CommandContext): Promise<object> {
  const text = file === '-' ? await textOf(streams.stdin) : withFile(file, 'read', () => readFileSync(file, 'utf8'))
  return { ...jsonObjectOf(file, text), ...named }
}

/** `barograph decoders`: manages decoders of sensors that people write, and tries them on recent messages. */
export const defineDecoders = commands(
  list('list', 'list the decoders', {
    examples: ['decoders list', 'decoders list --json'],
    send: 'GET /admin/decoders',
    answer: DecoderPage,
    none: 'no decoders',
    columns: ['name', ['topics', ({ topics = [] }) => topics.join(' ') || '-'], 'device', 'updated_at'],
  }),
  operation('add', 'add a decoder', {
    arguments: [['<name>', 'the step of its webhook /in/NAME/KEY'], file],
    help: 'docs/sensors.md has the format.',
    examples: ['decoders add garden garden.json'],
    send: 'POST /admin/decoders',
    body: declarationOf,
    ...saved,
  }),
  operation('set', 'replace the declaration of a decoder', {
    arguments: [decoderName, file],
    examples: ['decoders set garden garden.json'],
    send: 'PATCH /admin/decoders/:name',
    body: declarationOf,
    ...saved,
  }),
  removal('remove', 'remove a decoder', {
    arguments: [decoderName],
    examples: ['decoders remove garden'],
    send: 'DELETE /admin/decoders/:name',
    text: ({ name }) => `removed ${name}`,
  }),
  operation('try', 'decode recent messages by a declaration, and store nothing', {
    arguments: [file],
    options: [['--name <name>', 'for messages to the webhook of this name']],
    examples: ['decoders try garden.json --name garden'],
    send: 'POST /admin/decoders/try',
    body: declarationOf,
    answer: TriedDecoder,
    text: triedText,
  }),
  operation('messages', 'list topics and webhooks with recent messages, or the messages', {
    options: [
      ['--topic <topic>', 'the messages of these topics'],
      ['--webhook <name>', 'the messages to this webhook'],
    ],
    examples: ['decoders messages', "decoders messages --topic 'garden/#'"],
    send: 'GET /admin/decoders/messages',
    answer: RecentMessagePage,
    text: ({ places, messages }, { topic, webhook }) =>
      topic === undefined && webhook === undefined
        ? tableOf(places, ['way', 'place', 'count', 'at'], 'no messages since the start of the service')
        : tableOf(messages, ['at', 'place', 'text'], 'no messages'),
  }),
)

function triedText({ messages }: TriedDecoder): readonly Part[] {
  const rows = messages.flatMap(({ place, readings, reason = '' }) => {
    const values = readings.flatMap(({ device, at, values }) =>
      values.map(value => ({ place, device, time: at ?? 'receipt', ...value, fault: value.fault ?? '' })),
    )
    return readings.length > 0 ? values : [{ place, device: '', time: '', metric: '', value: '', fault: reason }]
  })
  return tableOf(
    rows,
    ['place', 'device', 'time', 'metric', 'value', 'fault'],
    'no messages of its topics or its webhook',
  )
}
