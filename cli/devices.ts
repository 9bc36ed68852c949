/** `barograph devices`: manages the device registry. */

import { Option } from 'commander'
import { AdminDevicePage, UnknownDevicePage } from '../api/admin/answers.ts'
import { DeviceDetails, IssuedPassword } from '../auth/devices/device.ts'
import { EraseReport, MetricEraseReport } from '../service/lifecycle/erasure/erase-records.ts'
import { isMetricName } from '../store/metrics/metric-name.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { deviceFields, deviceOptions, withoutChoice } from './device-columns.ts'
import { deviceChanges } from './devices-change.ts'
import { devicesImport } from './devices-import.ts'
import { command, commands, list, type OptionRow, operation, removal } from './operation-commands.ts'
import { numberOrNone, stepOf } from './option-values.ts'

const name = ['<name>', '', stepOf('device name')] as const

/** The options of `devices add` and `devices set` that describe a device. */
const options: readonly OptionRow[] = [
  ...deviceOptions,
  new Option('--interval <seconds>', 'its name before').argParser(numberOrNone).hideHelp(),
]
const fields = { ...deviceFields, log: 'log_switch', interval: 'expected_interval_seconds' }

export const defineDevices = commands(
  operation('add', 'add a device and print its password (shown only once)', {
    arguments: [['<name>']],
    options: [...options, ['--no-log', 'reject its readings']],
    json: 'print the device and its password as JSON',
    examples: ['devices add kitchen --location-short Kitchen --expected-interval 60 --json'],
    send: 'POST /admin/devices',
    fields,
    body: deviceBody,
    answer: IssuedPassword,
    text: issued => [issued, 'The password is shown only once.'],
  }),
  devicesImport,
  list('list', 'list devices', {
    options: [['--search <text>', 'only devices whose name, location or tags contain this text (case-insensitive)']],
    examples: ['devices list', 'devices list --search site:berlin --json'],
    send: 'GET /admin/devices',
    answer: AdminDevicePage,
    none: 'no devices',
    columns: [
      'name',
      ['location', 'location_short'],
      'state',
      ['log', 'log_switch'],
      ['last seen', ({ last_seen }) => last_seen ?? 'never'],
      ['password', 'credential'],
    ],
  }),
  list('unknown', 'list devices that send in a format of sensors and are not registered', {
    help: 'Since the start of the service (of several nodes, of the one that answers). devices add registers one.',
    examples: ['devices unknown'],
    send: 'GET /admin/unknown-devices',
    answer: UnknownDevicePage,
    none: 'no unknown devices',
    columns: [
      'name',
      'family',
      'way',
      'sender',
      'owner',
      ['last seen', 'at'],
      ['first seen', 'first_at'],
      'messages',
      'metrics',
    ],
  }),
  operation('show', 'show a device', {
    arguments: [name],
    examples: ['devices show kitchen'],
    send: 'GET /admin/devices/:name',
    answer: DeviceDetails,
  }),
  operation('set', 'change a device', {
    arguments: [name],
    options: [
      ...options,
      ['--no-battery', 'not battery-powered'],
      ['--log', 'accept its readings'],
      ['--no-log', 'reject its readings'],
      ['--no-tags', 'take all its tags away'],
      ['--name <name>', 'new name'],
    ],
    json: 'print the changed device as JSON',
    help: `Examples:
  barograph devices set kitchen --location-short Kitchen --altitude 312
  barograph devices set kitchen --no-log          rejects its readings until --log
  barograph devices set kitchen --tag site:berlin --tag room:kitchen
  barograph devices set kitchen --name attic      keeps the password and the readings
  barograph devices set roof --limits '{"temperature":{"max":60,"spike":null},"pressure":{"flat_hours":12}}'
                                                  suspect above 60 °C, no spike test, flat line after 12 hours
Limits per metric (temperature, humidity, pressure, battery_voltage, battery_percentage): min, max, spike, rate (largest
change per minute), flat_hours and quantum (resolution of the sensor). null disables a test, omitted limits use the
defaults, and --limits replaces all limits set before.`,
    send: 'PATCH /admin/devices/:name',
    fields,
    body: deviceBody,
    answer: DeviceDetails,
  }),
  deviceChanges,
  removal('remove', 'remove a device and revoke its password at once; its readings are kept', {
    arguments: [name],
    examples: ['devices remove kitchen'],
    send: 'DELETE /admin/devices/:name',
    text: ({ name }) => `removed ${name}; its readings are kept; barograph devices erase deletes them`,
  }),
  command('erase', 'remove a device and delete its readings permanently', {
    arguments: [name],
    options: [
      ['--metric <metric>', 'keep the device and delete its values of this metric', metricName],
      ['--report', 'only print the progress'],
    ],
    json: 'print the report as JSON',
    help: `The device is removed at once if it still exists. The readings of all devices that ever had this name are deleted in the
background; --report shows the progress. With --metric the device stays, and its values of that metric alone are deleted;
if it sends the metric again, it has it as a new one.`,
    examples: ['devices erase kitchen', 'devices erase kitchen --metric co2', 'devices erase kitchen --report'],
    async run({ name, metric, report }: { name: string; metric?: string; report?: true }, { apiClient }) {
      const path = `/admin/devices/${encodeURIComponent(name.toWellFormed())}`
      const found =
        metric === undefined
          ? await apiClient.json(EraseReport, report ? 'GET' : 'POST', `${path}/erase`)
          : await apiClient.json(MetricEraseReport, report ? 'GET' : 'DELETE', `${path}/metrics/${metric}`)
      return { json: found, text: [found] }
    },
  }),
)

function metricName(text: string): string {
  if (isMetricName(text)) return text
  throw new CommandError(`"${text}" is not a name of a metric`, exitUsage)
}

/** `tags` is false with --no-tags, and true without it, unless there are tags. */
function deviceBody({ tags = true, ...fields }: { tags?: string[] | boolean }): object {
  return { ...withoutChoice(fields), tags: tags === true ? undefined : tags || [] }
}
