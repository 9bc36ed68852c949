/** `barograph devices suspend`, `resume`, `tag`, `untag` and `rotate`: one change of many devices. */

import { writeSync } from 'node:fs'
import { bulkDevicesMax, DeviceBulkAnswer, notTried } from '../api/admin/answers.ts'
import { DevicePage, Rotated } from '../auth/devices/device.ts'
import { createTagMatcher, TagMatch } from '../auth/devices/tag.ts'
import { composed } from '../store/plain-text.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext, Define } from './command-context.ts'
import { CommandError, exitUsage, messageOf } from './command-error.ts'
import { type ArgumentRow, type CommandRow, command, commands, readAll } from './operation-commands.ts'
import { collected, stepOf } from './option-values.ts'
import { printText } from './output.ts'
import { openForOwner, passwordsCsv } from './passwords.ts'

interface ChosenDevices {
  names: string[]
  /** Devices with all of these. */
  tagged?: string[]
}

interface RotateOptions extends ChosenDevices {
  now?: boolean
  output?: string
  json?: boolean
}

const names: ArgumentRow = ['[names...]', 'names of the devices']
const tagged = [
  '--tagged <tag>',
  'instead of names, all devices with this tag, or with site:* any tag of the key site; once for each that must hold',
  collected,
] as const

export const deviceChanges = commands(
  change('suspend', 'suspended', 'refuse the readings of devices until they are resumed', {
    examples: ['devices suspend porch attic', 'devices suspend --tagged site:berlin'],
  }),
  change('resume', 'resumed', 'accept the readings of devices again', {
    examples: ['devices resume --tagged site:berlin'],
  }),
  change('tag', 'tagged', 'give devices a tag, in place of one of the same key', {
    arguments: [['<tag>'], names],
    examples: ['devices tag site:berlin porch attic'],
  }),
  change('untag', 'untagged', 'take a tag away from devices', {
    arguments: [['<tag>', 'the tag, or site:* for any tag of the key site'], names],
    examples: ["devices untag 'room:*' --tagged site:berlin"],
  }),
  command('rotate', 'issue new passwords for devices and print them (shown only once)', {
    arguments: [names],
    options: [
      tagged,
      ['--now', 'revoke the old passwords at once'],
      ['--output <file>', 'write the passwords to a new file with mode 0600'],
    ],
    json: 'print the devices and their passwords as JSON',
    help: `The old password stays valid for a grace period (ROTATION_GRACE_HOURS), so that the device can be updated without losing
readings. Use --now when the old password has leaked.

Several devices get theirs as CSV with the columns device and password; with --json as the API answers. The exit status is 1 if
one of them got none.`,
    examples: ['devices rotate kitchen --json', 'devices rotate --tagged site:berlin --output passwords.csv'],
    run: rotate,
  }),
)

function change(action: string, done: string, description: string, row: CommandRow): Define {
  return command(action, description, {
    arguments: [names],
    options: [tagged],
    json: 'print the result as JSON',
    help: 'Prints the outcome for each device. The exit status is 1 if one of them was not changed; the others are changed.',
    ...row,
    async run({ tag, ...chosen }: ChosenDevices & { tag?: string }, { apiClient }) {
      const devices = await chosenDevices(apiClient, chosen)
      const result = await changeAll(apiClient, devices, { action, tag })
      const reasons = new Map(result.failed.map(({ device, reason }) => [device, `not ${done}: ${reason}`]))
      const rows = devices.slice(0, result.known).map(device => [device, reasons.get(device) ?? done])
      const json = { done: result.done, failed: result.failed }
      return { json, text: [rows], failure: failureOf(result, devices.length) }
    },
  })
}

async function rotate(options: RotateOptions, context: CommandContext) {
  const { names, now, output, tagged } = options
  const [name, ...others] = names
  if (name === undefined || others.length > 0 || tagged !== undefined || output !== undefined) {
    return await rotateAll(options, context)
  }
  const path = `/admin/devices/${encodeURIComponent(stepOf('device name')(name).toWellFormed())}/rotate`
  const rotated = await context.apiClient.json(Rotated, 'POST', now === true ? `${path}?now=1` : path)
  const { old_password_until: until, ...issued } = rotated
  const old = until === null ? 'The old password is revoked.' : `The old password is valid until ${until}.`
  return { json: rotated, text: [issued, 'The password is shown only once.', old] }
}

/** Prints the new passwords of several devices as CSV. Each is shown this once. */
async function rotateAll(options: RotateOptions, { apiClient, streams }: CommandContext): Promise<undefined> {
  const { now = false, output, json } = options
  const chosen = await chosenDevices(apiClient, options)
  // The passwords need a place before a device is changed.
  const descriptor = output === undefined ? undefined : openForOwner(output)
  const result = await changeAll(apiClient, chosen, { action: 'rotate', now })
  const { done, failed, issued } = result
  const passwords = json === true ? `${JSON.stringify({ done, failed, issued })}\n` : passwordsCsv(issued)
  if (descriptor === undefined) printText(streams.stdout, passwords)
  else writeSync(descriptor, passwords)
  const where = output === undefined ? 'shown only once' : `in ${output}`
  printText(streams.stderr, `${issued.length} new ${issued.length === 1 ? 'password' : 'passwords'}, ${where}\n`)
  for (const { device, reason } of failed) printText(streams.stderr, `${JSON.stringify(device)}: ${reason}\n`)
  const failure = failureOf(result, chosen.length)
  if (failure !== undefined) throw new CommandError(failure)
}

/** Names each device once. */
async function chosenDevices(client: AdminClient, { names, tagged }: ChosenDevices): Promise<string[]> {
  if ((names.length === 0) === (tagged === undefined)) {
    throw new CommandError('name the devices or choose them with --tagged', exitUsage)
  }
  if (tagged === undefined) return [...new Set(names.map(composed))]
  const tags = tagged.map(tagOf)
  const hasTags = createTagMatcher(tags)
  // The search finds all devices that contain the text of the tag.
  const search = (tags[0] ?? '').replace(/\*$/, '')
  const listed = await readAll(client, DevicePage, '/admin/devices', { search })
  const found = listed.filter(hasTags).map(({ name }) => name)
  if (found.length === 0) throw new CommandError(`no device has ${tags.join(' and ')}`)
  return [...new Set(found)]
}

function tagOf(text: string): string {
  const tag = TagMatch.safeParse(text)
  if (tag.success) return tag.data
  throw new CommandError(`--tagged ${text}: ${tag.error.issues[0]?.message}`, exitUsage)
}

interface Result extends DeviceBulkAnswer {
  /** Number of the first devices with a known outcome. */
  known: number
  /** Reason why the last request has no answer. */
  fault?: unknown
}

/** Returns a fault with the earlier answers, because their passwords cannot be requested again. */
async function changeAll(client: AdminClient, devices: readonly string[], change: object): Promise<Result> {
  const result: Result = { done: 0, failed: [], issued: [], known: devices.length }
  for (let from = 0; from < devices.length; from += bulkDevicesMax) {
    const batch = devices.slice(from, from + bulkDevicesMax)
    try {
      const part = await client.json(DeviceBulkAnswer, 'POST', '/admin/device-changes', { ...change, devices: batch })
      result.done += part.done
      result.failed.push(...part.failed)
      result.issued.push(...part.issued)
    } catch (fault) {
      return { ...result, known: from, fault }
    }
    // The reason that ended this batch would end the next one, too.
    if (result.failed.at(-1)?.reason === notTried) {
      const others = devices.slice(from + bulkDevicesMax)
      result.failed.push(...others.map(device => ({ device, reason: notTried })))
      break
    }
  }
  return result
}

function failureOf({ failed, known, fault }: Result, count: number): string | undefined {
  if (fault !== undefined) {
    const reason = messageOf(fault)
    return known === 0 ? reason : `${reason}\n  the outcome of ${count - known} of ${count} devices is unknown`
  }
  return failed.length > 0 ? `not done for ${failed.length} of ${count} devices` : undefined
}
