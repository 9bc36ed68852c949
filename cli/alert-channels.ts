/** `barograph alerts channels`: manages where notifications go. */

import { readFileSync } from 'node:fs'
import { text as textOf } from 'node:stream/consumers'
import { Argument, type Command } from 'commander'
import { z } from 'zod'
import { Channel, type ChannelKindName, channelSettings, IssuedChannel } from '../alerts/core/channel.ts'
import { AttemptAnswer } from '../alerts/core/delivery.ts'
import { ChannelList } from '../api/alerts/channels.ts'
import type { AdminClient } from './admin-client.ts'
import { jsonObjectOf, listAll, recordId } from './alert-options.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface ChannelOptions extends Json {
  name?: string
  target?: string
  settingsFile?: string
  enable?: boolean
  disable?: boolean
}

type Standard = CommandContext['streams']

export function defineAlertChannels(channels: Command, { apiClient, streams }: CommandContext): void {
  addList(channels, apiClient, streams)
  addAdd(channels, apiClient, streams)
  addSet(channels, apiClient, streams)
  addTest(channels, apiClient, streams)
  addRotate(channels, apiClient, streams)
  addRemove(channels, apiClient, streams)
}

/** The setting that says where a channel leads to. */
const targetOf: Record<ChannelKindName, string> = {
  webhook: 'url',
  email: 'to',
  alertmanager: 'url',
  ntfy: 'url',
  slack: 'url',
  mqtt: 'topic',
}

const addHelp = `
The target is an address with https, of email a mail address, of mqtt a topic. Addresses are secrets, which others see among
the arguments of a program: - reads it from standard input. Passwords and tokens come from a file of JSON.

Examples:
  barograph alerts channels add on-call email ada@example.com
  barograph alerts channels add chat slack - < address
  barograph alerts channels add phone ntfy https://ntfy.example/alerts --settings-file token.json`

function addAdd(channels: Command, client: AdminClient, streams: Standard): void {
  channels
    .command('add')
    .description('add a channel; of a webhook the secret is printed, this once')
    .argument('<name>')
    .addArgument(new Argument('<kind>', 'of these').choices(Object.keys(channelSettings)))
    .argument('<target>', 'where it leads to, or - for standard input')
    .option(
      '--settings-file <file>',
      'other settings, as JSON: {"token":…}, {"username":…,"password":…}, {"retain":true}',
    )
    .option('--json', 'print the channel as JSON')
    .addHelpText('after', addHelp)
    .action(async (name: string, kind: ChannelKindName, target: string, { settingsFile, json }: ChannelOptions) => {
      const settings = { ...settingsIn(settingsFile), [targetOf[kind]]: await targetIn(target, streams) }
      printIssued(streams, await client.json(IssuedChannel, 'POST', '/alert-channels', { name, kind, settings }), json)
    })
}

const setHelp = `
With a new target, password or token have to be given again.

Examples:
  barograph alerts channels set 2 --disable
  barograph alerts channels set 2 --target https://example.com/hook`

function addSet(channels: Command, client: AdminClient, streams: Standard): void {
  channels
    .command('set')
    .description('change a channel')
    .argument('<id>', 'id of the channel', recordId)
    .option('--name <text>', 'name')
    .option('--target <target>', 'where it leads to, or - for standard input')
    .option('--settings-file <file>', 'other settings, as JSON')
    .option('--enable', 'send to it again')
    .option('--disable', 'send nothing; what waits for it is dropped')
    .option('--json', 'print the channel as JSON')
    .addHelpText('after', setHelp)
    .action(async (id: string, options: ChannelOptions) => {
      const change = await changeOf(id, options, client, streams)
      if (Object.keys(change).length === 0) throw new CommandError('nothing to change; see --help', exitUsage)
      const changed = await client.json(Channel, 'PATCH', `/alert-channels/${id}`, change)
      if (options.json === true) printJson(streams, changed)
      else printFields(streams, changed)
    })
}

async function changeOf(
  id: string,
  { name, target, settingsFile, enable, disable }: ChannelOptions,
  client: AdminClient,
  streams: Standard,
): Promise<Record<string, unknown>> {
  const settings = settingsIn(settingsFile)
  if (target !== undefined) {
    const { kind } = await client.json(Channel, 'GET', `/alert-channels/${id}`)
    settings[targetOf[kind]] = await targetIn(target, streams)
  }
  return {
    ...(name === undefined ? {} : { name }),
    ...(Object.keys(settings).length === 0 ? {} : { settings }),
    ...(enable === true ? { enabled: true } : {}),
    ...(disable === true ? { enabled: false } : {}),
  }
}

function addTest(channels: Command, client: AdminClient, streams: Streams): void {
  channels
    .command('test')
    .description('send a test, and print the outcome')
    .argument('<id>', 'id of the channel', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts channels test 2')
    .action(async (id: string, { json }: Json) => {
      const answer = await client.json(AttemptAnswer, 'POST', `/alert-channels/${id}/test`)
      if (json === true) printJson(streams, answer)
      else printFields(streams, answer)
      if (answer.outcome === 'written') throw new CommandError(`the test was ${answer.answer}`)
      if (answer.outcome !== 'delivered') throw new CommandError('the test was not delivered')
    })
}

function addRotate(channels: Command, client: AdminClient, streams: Streams): void {
  channels
    .command('rotate')
    .description('print a new secret of a webhook; the old one signs as well for 24 hours')
    .argument('<id>', 'id of the channel', recordId)
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts channels rotate 2')
    .action(async (id: string, { json }: Json) => {
      printIssued(streams, await client.json(IssuedChannel, 'POST', `/alert-channels/${id}/rotate`), json)
    })
}

function addList(channels: Command, client: AdminClient, streams: Streams): void {
  channels
    .command('list')
    .description('list the channels of all accounts')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts channels list')
    .action(async ({ json }: Json) => {
      const path = '/alert-channels?limit=1000'
      const found = await listAll(client, path, ChannelList, ({ channels, next }) => ({ rows: channels, next }))
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no channels\n')
      else printTable(streams, [['id', 'owner', 'kind', 'state', 'name', 'target'], ...found.map(rowOf)])
    })
}

function rowOf({ id, owner, kind, enabled, disabled_reason, failing_since, name, target, notice }: Channel): string[] {
  const working = notice ?? 'enabled'
  const state = enabled
    ? failing_since === null
      ? working
      : `failing since ${failing_since}`
    : `disabled${reasonText(disabled_reason)}`
  return [String(id), owner === null ? '-' : String(owner), kind, state, name, target]
}

function reasonText(reason: string | null): string {
  return reason === null ? '' : ` (${reason})`
}

function addRemove(channels: Command, client: AdminClient, streams: Streams): void {
  channels
    .command('remove')
    .description('remove a channel, and take it off its rules')
    .argument('<id>', 'id of the channel', recordId)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph alerts channels remove 2')
    .action(async (id: string, { json }: Json) => {
      await client.json(z.undefined(), 'DELETE', `/alert-channels/${id}`)
      if (json === true) printJson(streams, { removed: Number(id) })
      else printText(streams.stdout, `removed channel ${id}\n`)
    })
}

async function targetIn(target: string, { stdin }: Standard): Promise<string> {
  return target === '-' ? (await textOf(stdin)).trim() : target
}

function settingsIn(file: string | undefined): Record<string, unknown> {
  if (file === undefined) return {}
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  return jsonObjectOf(file, text)
}

function printIssued(streams: Streams, issued: IssuedChannel, json: boolean | undefined): void {
  if (json === true) {
    printJson(streams, issued)
    return
  }
  const { secret, ...channel } = issued
  printFields(streams, channel)
  if (secret !== undefined) printText(streams.stdout, `\nSecret, shown only once:\n${secret}\n`)
}
