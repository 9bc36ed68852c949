/** `barograph stations`: manages the stations of the air-quality network. */

import { InvalidArgumentError } from 'commander'
import { z } from 'zod'
import { StationDetails, StationPage } from '../auth/stations/station.ts'
import { StationEraseReport } from '../service/lifecycle/erasure/erase-records.ts'
import { command, commands, list, operation } from './operation-commands.ts'
import { ownerOf, stepOf, textOrEmpty } from './option-values.ts'

const options = [
  ['--city <text>', 'city; an empty text clears it, here and below', textOrEmpty],
  ['--country <code>', 'ISO code of two letters', textOrEmpty],
  ['--location <text>', 'description of the place', textOrEmpty],
  ['--latitude <degrees>', 'from -90 to 90', textOrEmpty],
  ['--longitude <degrees>', 'from -180 to 180', textOrEmpty],
  ['--timezone <zone>', 'IANA time zone; UTC by default', textOrEmpty],
  ['--outdoors', 'stands outdoors'],
  ['--no-outdoors', 'stands indoors'],
  ['--private', 'only its owner and administrators may read it'],
  ['--no-private', 'everybody with an API key may read it'],
  ['--owner <account>', 'e-mail address or id of the account that owns it', ownerOf],
] as const
const sn = ['<sn>', '', stepOf('sn')] as const
const station = { json: 'print the station as JSON', answer: StationDetails }

export const defineStations = commands(
  operation('add', 'add a station', {
    ...station,
    arguments: [['<sn>', 'serial number: letters, digits, ".", "_" and "-"; it cannot be changed'], ['<model>']],
    options,
    examples: ['stations add IN-1001 M4 --city Delhi --country IN --outdoors'],
    send: 'POST /admin/stations',
  }),
  list('list', 'list stations', {
    options: [
      ['--search <text>', 'only those whose sn, model, city or location contains this text (case-insensitive)'],
    ],
    examples: ['stations list', 'stations list --search delhi --json'],
    send: 'GET /admin/stations',
    answer: StationPage,
    none: 'no stations',
    columns: ['sn', 'model', 'city', 'private', ['last data', ({ last_data_at }) => last_data_at ?? 'never']],
  }),
  operation('set', 'change a station', {
    ...station,
    arguments: [sn],
    options: [...options, ['--model <text>', 'model of the sensor', nonEmpty]],
    examples: [
      'stations set IN-1001 --private --owner ada@example.com',
      'stations set IN-1001 --city ""        clears the city',
    ],
    send: 'PATCH /admin/stations/:sn',
  }),
  command('remove', 'remove a station and delete its points permanently', {
    arguments: [sn],
    options: [['--report', 'only print how far the points of the station that was removed are erased']],
    json: 'print the result as JSON',
    help: `The station is removed at once. Its points are erased in the background; --report shows the progress, also afterwards.
Where the report says failed, the same command erases the points again.`,
    examples: ['stations remove IN-1001', 'stations remove IN-1001 --report'],
    async run({ sn, report }: { sn: string; report?: true }, { apiClient }) {
      const path = `/admin/stations/${encodeURIComponent(sn)}`
      if (report === true) {
        const found = await apiClient.json(StationEraseReport, 'GET', `${path}/erase`)
        return { json: found, text: [found] }
      }
      await apiClient.json(z.undefined(), 'DELETE', path)
      return { json: { removed: sn }, text: [`removed ${sn}; its points are being erased, see --report`] }
    },
  }),
)

function nonEmpty(text: string): string {
  if (text === '') throw new InvalidArgumentError('Expected a text.')
  return text
}
