/** `barograph devices suspend`, `resume`, `tag`, `untag` and `rotate`: one change of many devices. */

import { writeSync } from 'node:fs'
import type { Command } from 'commander'
import { bulkDevicesMax, DeviceBulkAnswer, notTried } from '../api/admin/device-bulk-answer.ts'
import { createTagMatcher, TagMatch } from '../auth/devices/tag.ts'
import { composed } from '../store/plain-text.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { readAllDevices } from './devices-list.ts'
import { collected } from './option-values.ts'
import { printJson, printTable, printText, type Streams } from './output.ts'
import { openForOwner, passwordsCsv } from './passwords.ts'

interface ChosenDevices {
  /** Devices with all of these. */
  tagged?: string[]
}

interface ChangeOptions extends ChosenDevices {
  json?: boolean
}

export interface RotateOptions extends ChangeOptions {
  now?: boolean
  output?: string
}

/** What is said of a device of which the change was made. */
const doneWords = { suspend: 'suspended', resume: 'resumed', tag: 'tagged', untag: 'untagged' } as const
type Action = keyof typeof doneWords

const manyHelp = `
Prints the outcome for each device. The exit status is 1 if one of them was not changed; the others are changed.`

export function addDeviceChanges(devices: Command, client: AdminClient, streams: Streams): void {
  const change = (action: Action, more: object) => async (names: string[], options: ChangeOptions) => {
    const chosen = await chosenDevices(client, names, options)
    const came = await changeAll(client, chosen, { action, ...more })
    const { done, failed } = came.answer
    if (options.json === true) printJson(streams, { done, failed })
    else printTable(streams, rowsOf(chosen, came, doneWords[action]))
    throwFault(came, chosen.length)
  }
  addChosen(devices.command('suspend').description('refuse the readings of devices until they are resumed'))
    .addHelpText(
      'after',
      `${manyHelp}\n\nExamples:\n  barograph devices suspend porch attic\n${taggedExample('suspend')}`,
    )
    .action((names: string[], options: ChangeOptions) => change('suspend', {})(names, options))
  addChosen(devices.command('resume').description('accept the readings of devices again'))
    .addHelpText('after', `${manyHelp}\n\nExample:\n${taggedExample('resume')}`)
    .action((names: string[], options: ChangeOptions) => change('resume', {})(names, options))
  addChosen(devices.command('tag').description('give devices a tag, in place of one of the same key').argument('<tag>'))
    .addHelpText('after', `${manyHelp}\n\nExample:\n  barograph devices tag site:berlin porch attic`)
    .action((tag: string, names: string[], options: ChangeOptions) => change('tag', { tag })(names, options))
  addChosen(
    devices
      .command('untag')
      .description('take a tag away from devices')
      .argument('<tag>', 'the tag, or site:* for any tag of the key site'),
  )
    .addHelpText('after', `${manyHelp}\n\nExample:\n  barograph devices untag 'room:*' --tagged site:berlin`)
    .action((tag: string, names: string[], options: ChangeOptions) => change('untag', { tag })(names, options))
}

const taggedExample = (action: Action) => `  barograph devices ${action} --tagged site:berlin`

function addChosen(command: Command): Command {
  return addTagged(command.argument('[names...]', 'names of the devices')).option('--json', 'print the result as JSON')
}

export function addTagged(command: Command): Command {
  return command.option(
    '--tagged <tag>',
    'instead of names, all devices with this tag, or with site:* any tag of the key site; once for each that must hold',
    collected,
  )
}

/** New passwords of several devices, as CSV; each is shown this once. */
export async function rotateAll(client: AdminClient, streams: Streams, names: string[], options: RotateOptions) {
  const { now = false, output, json } = options
  const chosen = await chosenDevices(client, names, options)
  // Before anything is changed, so that the passwords have a place to go.
  const descriptor = output === undefined ? undefined : openForOwner(output)
  const came = await changeAll(client, chosen, { action: 'rotate', now })
  const { issued, failed } = came.answer
  const passwords = json === true ? `${JSON.stringify(came.answer)}\n` : passwordsCsv(issued)
  if (descriptor === undefined) printText(streams.stdout, passwords)
  else writeSync(descriptor, passwords)
  const where = output === undefined ? 'shown only once' : `in ${output}`
  printText(streams.stderr, `${issued.length} new ${issued.length === 1 ? 'password' : 'passwords'}, ${where}\n`)
  for (const { device, reason } of failed) printText(streams.stderr, `${JSON.stringify(device)}: ${reason}\n`)
  throwFault(came, chosen.length)
}

/** Each once. */
async function chosenDevices(client: AdminClient, names: string[], { tagged }: ChosenDevices): Promise<string[]> {
  if ((names.length === 0) === (tagged === undefined)) {
    throw new CommandError('name the devices or choose them with --tagged', exitUsage)
  }
  if (tagged === undefined) return [...new Set(names.map(composed))]
  const tags = tagged.map(tagOf)
  const hasThem = createTagMatcher(tags)
  // The search finds more than the tag: all that contain its text.
  const listed = await readAllDevices(client, (tags[0] ?? '').replace(/\*$/, ''))
  const found = listed.filter(hasThem).map(({ name }) => name)
  if (found.length === 0) throw new CommandError(`no device has ${tags.join(' and ')}`)
  return [...new Set(found)]
}

function tagOf(text: string): string {
  const tag = TagMatch.safeParse(text)
  if (tag.success) return tag.data
  throw new CommandError(`--tagged ${text}: ${tag.error.issues[0]?.message}`, exitUsage)
}

interface Came {
  answer: DeviceBulkAnswer
  /** Why the last request has no answer; of its devices nobody knows. */
  fault?: unknown
  /** Of so many devices, the first ones, the service has told. */
  told: number
}

/** A fault comes with what was told before it: nobody can ask for those passwords again. */
async function changeAll(client: AdminClient, devices: readonly string[], change: object): Promise<Came> {
  const answer: DeviceBulkAnswer = { done: 0, failed: [], issued: [] }
  for (let from = 0; from < devices.length; from += bulkDevicesMax) {
    const batch = devices.slice(from, from + bulkDevicesMax)
    try {
      const part = await client.json(DeviceBulkAnswer, 'POST', '/device-changes', { ...change, devices: batch })
      answer.done += part.done
      answer.failed.push(...part.failed)
      answer.issued.push(...part.issued)
    } catch (fault) {
      return { answer, fault, told: from }
    }
    // What ended this batch would end the next one, too.
    if (answer.failed.at(-1)?.reason === notTried) {
      const others = devices.slice(from + bulkDevicesMax)
      answer.failed.push(...others.map(device => ({ device, reason: notTried })))
      break
    }
  }
  return { answer, told: devices.length }
}

function rowsOf(devices: readonly string[], { answer, told }: Came, done: string): string[][] {
  const reasons = new Map(answer.failed.map(({ device, reason }) => [device, `not ${done}: ${reason}`]))
  return devices.slice(0, told).map(device => [device, reasons.get(device) ?? done])
}

function throwFault({ answer, fault, told }: Came, count: number): void {
  if (fault !== undefined) {
    const reason = fault instanceof Error ? fault.message : String(fault)
    throw new CommandError(
      told === 0 ? reason : `${reason}\n  the outcome of ${count - told} of ${count} devices is unknown`,
    )
  }
  if (answer.failed.length > 0) throw new CommandError(`not done for ${answer.failed.length} of ${count} devices`)
}
