/** `barograph devices import FILE`: adds the devices of a CSV file and prints their passwords. */

import { createReadStream, writeSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { z } from 'zod'
import { type DeviceRequest, deviceSettings, IssuedPassword } from '../auth/devices/device.ts'
import type { AdminClient } from './admin-client.ts'
import { CommandError, messageOf } from './command-error.ts'
import { readDeviceCsv } from './device-csv.ts'
import { command } from './operation-commands.ts'
import { printText } from './output.ts'
import { openForOwner, passwordsCsv } from './passwords.ts'

/** The server adds all devices of a request or none. */
const devicesPerRequest = 10_000

interface ImportOptions {
  file: string
  output?: string
  json?: true
}

export const devicesImport = command(
  'import',
  'add the devices of a CSV file and print their passwords (shown only once)',
  {
    arguments: [['<file>', 'CSV file with a header line, or - for standard input']],
    options: [['--output <file>', 'write the passwords to a new file with mode 0600']],
    json: 'print the passwords as JSON instead of CSV',
    help: `The header names the columns, in any order; only device, its name, is required:
  device,${deviceSettings.join(',')}
owner is the e-mail address or the id of an account. log_switch and battery are yes or no, or true or false. quality_limits is JSON, as in devices set --limits. metrics are names with blanks between them, and tags such as site:berlin have semicolons between them. profile and battery_type are words, as in devices set.
An empty cell leaves a column unset. If any line is invalid, no device is added.`,
    examples: [
      'devices import devices.csv --output passwords.csv',
      'devices import devices.csv --json > passwords.json',
    ],
    async run({ file, output, json }: ImportOptions, { client, streams }) {
      const wanted = readDeviceCsv(await readFile(file, streams.stdin), file)
      // The passwords need a place before a device is added.
      const descriptor = output === undefined ? undefined : openForOwner(output)
      const { issued, fault } = await makeAll(client, wanted)
      const passwords = json === true ? `${JSON.stringify(issued)}\n` : passwordsCsv(issued)
      if (descriptor === undefined) printText(streams.stdout, passwords)
      else writeSync(descriptor, passwords)
      const where = output === undefined ? 'their passwords are shown only once' : `their passwords are in ${output}`
      printText(streams.stderr, `added ${issued.length} devices${issued.length === 0 ? '' : `; ${where}`}\n`)
      if (fault !== undefined) throw fault
      return undefined
    },
  },
)

async function readFile(file: string, stdin: Readable): Promise<string> {
  try {
    return await text(file === '-' ? stdin : createReadStream(file))
  } catch (error) {
    throw new CommandError(`${file} cannot be read: ${messageOf(error)}`)
  }
}

/** Returns a fault with the earlier answers, because their passwords cannot be requested again. */
async function makeAll(
  client: AdminClient,
  wanted: DeviceRequest[],
): Promise<{ issued: IssuedPassword[]; fault?: unknown }> {
  const issued: IssuedPassword[] = []
  try {
    for (let from = 0; from < wanted.length; from += devicesPerRequest) {
      const slice = wanted.slice(from, from + devicesPerRequest)
      issued.push(...(await client.json(z.array(IssuedPassword), 'POST', '/devices', slice)))
    }
    return { issued }
  } catch (fault) {
    return { issued, fault }
  }
}
