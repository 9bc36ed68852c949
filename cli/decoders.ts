/** `barograph decoders`: manages decoders of sensors that people write, and tries them on recent messages. */

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { RecentMessagePage, TriedDecoder } from '../api/admin/decoder-answers.ts'
import { DecoderDetails, DecoderPage, isDecoderName } from '../ingest/decoders/own-decoder.ts'
import { jsonObjectOf } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { withFile } from './command-error.ts'
import { commands, list, operation, type Part, removal, tableOf } from './operation-commands.ts'
import { stepOf } from './option-values.ts'

const name = ['<name>', '', stepOf('decoder name', isDecoderName)] as const
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
    arguments: [name, file],
    examples: ['decoders set garden garden.json'],
    send: 'PATCH /admin/decoders/:name',
    body: declarationOf,
    ...saved,
  }),
  removal('remove', 'remove a decoder', {
    arguments: [name],
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
