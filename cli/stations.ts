/** `barograph stations`: manages the stations of the air-quality network. */

import { type Command, InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { StationDetails, StationPage } from '../auth/stations/station-details.ts'
import { StationEraseReport } from '../service/lifecycle/erasure/erase-records.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { ownerOf } from './device-options.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

interface StationOptions {
  model?: string
  city?: string
  country?: string
  location?: string
  latitude?: string
  longitude?: string
  timezone?: string
  outdoors?: boolean
  private?: boolean
  owner?: string
}

export function defineStations(stations: Command, { client, streams }: CommandContext): void {
  addAdd(stations, client, streams)
  addList(stations, client, streams)
  addSet(stations, client, streams)
  addRemove(stations, client, streams)
}

function addOptions(command: Command): Command {
  return command
    .option('--city <text>', 'city; an empty text clears it, here and below')
    .option('--country <code>', 'ISO code of two letters')
    .option('--location <text>', 'description of the place')
    .option('--latitude <degrees>', 'from -90 to 90')
    .option('--longitude <degrees>', 'from -180 to 180')
    .option('--timezone <zone>', 'IANA time zone; UTC by default')
    .option('--outdoors', 'stands outdoors')
    .option('--no-outdoors', 'stands indoors')
    .option('--private', 'only its owner and administrators may read it')
    .option('--no-private', 'everybody with an API key may read it')
    .option('--owner <account>', 'e-mail address or id of the account that owns it')
    .option('--json', 'print the station as JSON')
}

function addAdd(stations: Command, client: AdminClient, streams: Streams): void {
  addOptions(
    stations
      .command('add')
      .description('add a station')
      .argument('<sn>', 'serial number: letters, digits, ".", "_" and "-"; it cannot be changed')
      .argument('<model>'),
  )
    .addHelpText('after', '\nExample:\n  barograph stations add IN-1001 M4 --city Delhi --country IN --outdoors')
    .action(async (sn: string, model: string, options: StationOptions & Json) => {
      const body = { sn, model, ...changeOf(options) }
      printStation(streams, await client.json(StationDetails, 'POST', '/stations', body), options.json)
    })
}

const listHelp = '\nExamples:\n  barograph stations list\n  barograph stations list --search delhi --json'

function addList(stations: Command, client: AdminClient, streams: Streams): void {
  stations
    .command('list')
    .description('list stations')
    .option('--search <text>', 'only those whose sn, model, city or location contains this text (case-insensitive)')
    .option('--json', 'print as JSON')
    .addHelpText('after', listHelp)
    .action(async ({ search, json }: { search?: string } & Json) => {
      const found = await readAll(client, search ?? '')
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no stations\n')
      else printTable(streams, [['sn', 'model', 'city', 'private', 'last data'], ...found.map(rowOf)])
    })
}

async function readAll(client: AdminClient, search: string): Promise<StationDetails[]> {
  const found: StationDetails[] = []
  for (let page: number | null = 1; page !== null; ) {
    const query = new URLSearchParams({ search, page: String(page) })
    const answer: StationPage = await client.json(StationPage, 'GET', `/stations?${query}`)
    found.push(...answer.stations)
    page = answer.next
  }
  return found
}

function rowOf({ sn, model, city, last_data_at, ...station }: StationDetails): string[] {
  return [sn, model, city || '-', station.private ? 'yes' : 'no', last_data_at ?? 'never']
}

const setHelp = `
Examples:
  barograph stations set IN-1001 --private --owner ada@example.com
  barograph stations set IN-1001 --city ""        clears the city`

function addSet(stations: Command, client: AdminClient, streams: Streams): void {
  addOptions(stations.command('set').description('change a station').argument('<sn>'))
    .option('--model <text>', 'model of the sensor', nonEmpty)
    .addHelpText('after', setHelp)
    .action(async (sn: string, options: StationOptions & Json) => {
      const change = changeOf(options)
      if (Object.keys(change).length === 0) throw new CommandError('nothing to change; see --help', exitUsage)
      printStation(streams, await client.json(StationDetails, 'PATCH', pathOf(sn), change), options.json)
    })
}

const removeHelp = `
The station is removed at once. Its points are erased in the background; --report shows the progress, also afterwards.
Where the report says failed, the same command erases the points again.

Examples:
  barograph stations remove IN-1001
  barograph stations remove IN-1001 --report`

function addRemove(stations: Command, client: AdminClient, streams: Streams): void {
  stations
    .command('remove')
    .description('remove a station and delete its points permanently')
    .argument('<sn>')
    .option('--report', 'only print how far the points of the station that was removed are erased')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', removeHelp)
    .action(async (sn: string, { report, json }: Json & { report?: boolean }) => {
      if (report === true) {
        const found = await client.json(StationEraseReport, 'GET', `${pathOf(sn)}/erase`)
        if (json === true) printJson(streams, found)
        else printFields(streams, found)
        return
      }
      await client.json(z.undefined(), 'DELETE', pathOf(sn))
      if (json === true) printJson(streams, { removed: sn })
      else printText(streams.stdout, `removed ${sn}; its points are being erased, see --report\n`)
    })
}

/** Only what was said; an empty text clears a field. */
function changeOf({ owner, ...options }: StationOptions & Json): Record<string, unknown> {
  const said = Object.entries(options).filter(([name, value]) => name !== 'json' && value !== undefined)
  const change = Object.fromEntries(said.map(([name, value]) => [name, value === '' ? null : value]))
  return owner === undefined ? change : { ...change, owner: ownerOf(owner) }
}

function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a text.')
  return text
}

function pathOf(sn: string): string {
  // Clients resolve these two away, and the request would ask something else.
  if (sn === '' || sn === '.' || sn === '..') throw new CommandError(`"${sn}" is not a valid sn`, exitUsage)
  return `/stations/${encodeURIComponent(sn.toWellFormed())}`
}

function printStation(streams: Streams, station: StationDetails, json: boolean | undefined): void {
  if (json === true) printJson(streams, station)
  else printFields(streams, station)
}
