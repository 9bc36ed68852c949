/** `barograph alerts channels`: manages where notifications go. */

import { readFileSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text as textOf } from 'node:stream/consumers'
import { Option } from 'commander'
import { Channel, type ChannelKindName, channelSettings, IssuedChannel } from '../alerts/core/channel.ts'
import { AttemptAnswer, DeliveryDetails, deliveryStates } from '../alerts/core/delivery.ts'
import { ChannelList } from '../api/alerts/channels.ts'
import { DeliveryList } from '../api/alerts/deliveries.ts'
import { withFile } from './command-error.ts'
import { commands, list, operation, removal, tableOf } from './operation-commands.ts'
import { attemptFailure, countUpTo, jsonObjectOf, recordId, recordNumber } from './option-values.ts'

const id = ['<id>', 'id of the channel', recordNumber] as const
const issued = {
  answer: IssuedChannel,
  text: ({ secret, ...channel }: IssuedChannel) => [
    channel,
    ...(secret === undefined ? [] : [`\nSecret, shown only once:\n${secret}`]),
  ],
}

/** The setting with the address of a channel. */
const targetOf: Record<ChannelKindName, string> = {
  webhook: 'url',
  email: 'to',
  alertmanager: 'url',
  ntfy: 'url',
  slack: 'url',
  apprise: 'url',
  mqtt: 'topic',
}

interface NewFields {
  name: string
  kind: ChannelKindName
  target: string
  settings_file?: string
}

interface SetFields {
  target?: string
  settings_file?: string
  enable?: true
  disable?: true
}

export const defineAlertChannels = commands(
  list('list', 'list the channels of all accounts', {
    examples: ['alerts channels list'],
    send: 'GET /alert-channels?limit=1000',
    answer: ChannelList,
    none: 'no channels',
    columns: ['id', 'owner', 'kind', ['state', stateOf], 'name', 'target'],
  }),
  operation('add', 'add a channel; of a webhook the secret is printed, this once', {
    ...issued,
    arguments: [
      ['<name>'],
      ['<kind>', 'of these', Object.keys(channelSettings)],
      ['<target>', 'where it leads to, or - for standard input'],
    ],
    options: [
      [
        '--settings-file <file>',
        'other settings, as JSON: {"token":…}, {"username":…,"password":…}, {"urls":…,"tag":…}, {"retain":true}',
      ],
    ],
    json: 'print the channel as JSON',
    help: `The target is an address with https, of email a mail address, of mqtt a topic. Addresses are secrets, which others see among
the arguments of a program: - reads it from standard input. Passwords and tokens come from a file of JSON.`,
    examples: [
      'alerts channels add on-call email ada@example.com',
      'alerts channels add chat slack - < address',
      'alerts channels add phone ntfy https://ntfy.example/alerts --settings-file token.json',
    ],
    send: 'POST /alert-channels',
    body: async ({ name, kind, target, settings_file }: NewFields, { streams }) => ({
      name,
      kind,
      settings: { ...settingsIn(settings_file), [targetOf[kind]]: await targetIn(target, streams) },
    }),
  }),
  operation('set', 'change a channel', {
    arguments: [id],
    options: [
      ['--name <text>', 'name'],
      ['--target <target>', 'where it leads to, or - for standard input'],
      ['--settings-file <file>', 'other settings, as JSON'],
      ['--enable', 'send to it again'],
      ['--disable', 'send nothing; what waits for it is dropped'],
    ],
    json: 'print the channel as JSON',
    help: 'With a new target, password or token have to be given again.',
    examples: ['alerts channels set 2 --disable', 'alerts channels set 2 --target https://example.com/hook'],
    send: 'PATCH /alert-channels/:id',
    async body({ target, settings_file, enable, disable, ...fields }: SetFields, { apiClient, streams }, { id }) {
      const settings = settingsIn(settings_file)
      if (target !== undefined) {
        const { kind } = await apiClient.json(Channel, 'GET', `/alert-channels/${id}`)
        settings[targetOf[kind]] = await targetIn(target, streams)
      }
      const enabled = disable === true ? false : enable
      return { ...fields, enabled, settings: Object.keys(settings).length === 0 ? undefined : settings }
    },
    answer: Channel,
  }),
  operation('test', 'send a test, and print the outcome', {
    arguments: [id],
    examples: ['alerts channels test 2'],
    send: 'POST /alert-channels/:id/test',
    answer: AttemptAnswer,
    failure: attemptFailure('the test'),
  }),
  operation('rotate', 'print a new secret of a webhook; the old one signs as well for 24 hours', {
    ...issued,
    arguments: [id],
    examples: ['alerts channels rotate 2'],
    send: 'POST /alert-channels/:id/rotate',
  }),
  removal('remove', 'remove a channel, and take it off its rules', {
    arguments: [id],
    examples: ['alerts channels remove 2'],
    send: 'DELETE /alert-channels/:id',
    text: ({ id }) => `removed channel ${id}`,
  }),
)

function stateOf({ enabled, disabled_reason, failing_since, notice }: Channel): string {
  if (!enabled) return disabled_reason === null ? 'disabled' : `disabled (${disabled_reason})`
  return failing_since === null ? (notice ?? 'enabled') : `failing since ${failing_since}`
}

async function targetIn(target: string, { stdin }: { stdin: Readable }): Promise<string> {
  return target === '-' ? (await textOf(stdin)).trim() : target
}

function settingsIn(file: string | undefined): Record<string, unknown> {
  return file === undefined
    ? {}
    : jsonObjectOf(
        file,
        withFile(file, 'read', () => readFileSync(file, 'utf8')),
      )
}

const deliveryId = ['<id>', 'id of the notification', recordId] as const

/** `barograph alerts deliveries`: shows notifications with their attempts, and sends them again. */
export const defineAlertDeliveries = commands(
  operation('list', 'list the newest notifications', {
    options: [
      ['--channel <id>', 'deliveries of this channel only', recordId],
      ['--state <state>', 'only these', deliveryStates],
      new Option('--limit <count>', 'how many').argParser(countUpTo(1000)).default(100),
    ],
    examples: ['alerts deliveries list --state waiting'],
    send: 'GET /alert-deliveries',
    answer: DeliveryList,
    asJson: ({ deliveries }) => deliveries,
    text: ({ deliveries }) =>
      tableOf(
        deliveries,
        [
          'id',
          ['made', 'created_at'],
          ['state', ({ written, state }) => (written ? 'written' : state)],
          ...(['attempts', 'kind', 'channel', 'rule'] as const),
        ],
        'no notifications',
      ),
  }),
  operation('show', 'show a notification with its attempts', {
    arguments: [deliveryId],
    examples: ['alerts deliveries show 17'],
    send: 'GET /alert-deliveries/:id',
    answer: DeliveryDetails,
    text: ({ attempt_list, ...fields }) => [
      fields,
      ...(attempt_list.length === 0
        ? []
        : [
            '',
            ...tableOf(attempt_list, [
              'at',
              'status',
              ['ms', 'duration_ms'],
              'error',
              ['answer', ({ answer }) => answer],
            ]),
          ]),
    ],
  }),
  operation('replay', 'send a notification again, with the same id', {
    arguments: [deliveryId],
    examples: ['alerts deliveries replay 17'],
    send: 'POST /alert-deliveries/:id/replay',
    answer: AttemptAnswer,
    failure: attemptFailure('it'),
  }),
)
