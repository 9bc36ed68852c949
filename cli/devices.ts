/** `barograph devices`: manages the device registry. */

import type { Command } from 'commander'
import { z } from 'zod'
import { DeviceDetails, IssuedPassword, Rotated } from '../auth/devices/device.ts'
import { EraseReport, MetricEraseReport } from '../service/lifecycle/erasure/erase-records.ts'
import { isMetricName } from '../store/metrics/metric-name.ts'
import type { AdminClient } from './admin-client.ts'
import type { CommandContext } from './command-context.ts'
import { CommandError, exitUsage } from './command-error.ts'
import { addDeviceOptions, changeOf, type DeviceOptions } from './device-options.ts'
import { addDeviceChanges, addTagged, type RotateOptions, rotateAll } from './devices-change.ts'
import { addDevicesImport } from './devices-import.ts'
import { addDevicesList } from './devices-list.ts'
import { printFields, printJson, printTable, printText, type Streams } from './output.ts'

interface Json {
  json?: boolean
}

export function defineDevices(devices: Command, { client, streams }: CommandContext): void {
  addAdd(devices, client, streams)
  addDevicesImport(devices, client, streams)
  addDevicesList(devices, client, streams)
  addShow(devices, client, streams)
  addSet(devices, client, streams)
  addDeviceChanges(devices, client, streams)
  addRotate(devices, client, streams)
  addRemove(devices, client, streams)
  addErase(devices, client, streams)
}

function addAdd(devices: Command, client: AdminClient, streams: Streams): void {
  addDeviceOptions(
    devices.command('add').description('add a device and print its password (shown only once)').argument('<name>'),
  )
    .option('--no-log', 'reject its readings')
    .option('--json', 'print the device and its password as JSON')
    .addHelpText(
      'after',
      '\nExample:\n  barograph devices add kitchen --location-short Kitchen --expected-interval 60 --json',
    )
    .action(async (name: string, options: DeviceOptions & Json) => {
      const issued = await client.json(IssuedPassword, 'POST', '/devices', { name, ...changeOf(options) })
      if (options.json === true) printJson(streams, issued)
      else printPassword(streams, issued)
    })
}

function addShow(devices: Command, client: AdminClient, streams: Streams): void {
  devices
    .command('show')
    .description('show a device')
    .argument('<name>')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExample:\n  barograph devices show kitchen')
    .action(async (name: string, { json }: Json) => {
      printDevice(streams, await client.json(DeviceDetails, 'GET', pathOf(name)), json)
    })
}

const setHelp = `
Examples:
  barograph devices set kitchen --location-short Kitchen --altitude 312
  barograph devices set kitchen --no-log          rejects its readings until --log
  barograph devices set kitchen --tag site:berlin --tag room:kitchen
  barograph devices set kitchen --name attic      keeps the password and the readings
  barograph devices set roof --limits '{"temperature":{"max":60,"spike":null},"pressure":{"flat_hours":12}}'
                                                  suspect above 60 °C, no spike test, flat line after 12 hours
Limits per metric (temperature, humidity, pressure, battery_voltage, battery_percentage): min, max, spike, rate (largest
change per minute), flat_hours and quantum (resolution of the sensor). null disables a test, omitted limits use the
defaults, and --limits replaces all limits set before.`

function addSet(devices: Command, client: AdminClient, streams: Streams): void {
  addDeviceOptions(devices.command('set').description('change a device').argument('<name>'))
    .option('--no-battery', 'not battery-powered')
    .option('--log', 'accept its readings')
    .option('--no-log', 'reject its readings')
    .option('--no-tags', 'take all its tags away')
    .option('--name <name>', 'new name')
    .option('--json', 'print the changed device as JSON')
    .addHelpText('after', setHelp)
    .action(async (name: string, options: DeviceOptions & Json & { name?: string }) => {
      const change = { ...(options.name === undefined ? {} : { name: options.name }), ...changeOf(options) }
      if (Object.keys(change).length === 0) throw new CommandError('nothing to change; see --help', exitUsage)
      printDevice(streams, await client.json(DeviceDetails, 'PATCH', pathOf(name), change), options.json)
    })
}

const rotateHelp = `
The old password stays valid for a grace period (ROTATION_GRACE_HOURS), so that the device can be updated without losing
readings. Use --now when the old password has leaked.

Several devices get theirs as CSV with the columns device and password; with --json as the API answers. The exit status is 1 if
one of them got none.

Examples:
  barograph devices rotate kitchen --json
  barograph devices rotate --tagged site:berlin --output passwords.csv`

function addRotate(devices: Command, client: AdminClient, streams: Streams): void {
  addTagged(
    devices
      .command('rotate')
      .description('issue new passwords for devices and print them (shown only once)')
      .argument('[names...]', 'names of the devices'),
  )
    .option('--now', 'revoke the old passwords at once')
    .option('--output <file>', 'write the passwords to a new file with mode 0600')
    .option('--json', 'print the devices and their passwords as JSON')
    .addHelpText('after', rotateHelp)
    .action(async (names: string[], options: RotateOptions) => {
      const { now, json, output, tagged } = options
      const [name] = names
      if (name === undefined || names.length > 1 || tagged !== undefined || output !== undefined) {
        await rotateAll(client, streams, names, options)
        return
      }
      const rotated = await client.json(Rotated, 'POST', `${pathOf(name)}/rotate${now === true ? '?now=1' : ''}`)
      if (json === true) {
        printJson(streams, rotated)
        return
      }
      printPassword(streams, rotated)
      const until = rotated.old_password_until
      printText(
        streams.stdout,
        until === null ? 'The old password is revoked.\n' : `The old password is valid until ${until}.\n`,
      )
    })
}

function addRemove(devices: Command, client: AdminClient, streams: Streams): void {
  devices
    .command('remove')
    .description('remove a device and revoke its password at once; its readings are kept')
    .argument('<name>')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  barograph devices remove kitchen')
    .action(async (name: string, { json }: Json) => {
      await client.json(z.undefined(), 'DELETE', pathOf(name))
      if (json === true) printJson(streams, { removed: name })
      else printText(streams.stdout, `removed ${name}; its readings are kept; barograph devices erase deletes them\n`)
    })
}

const eraseHelp = `
The device is removed at once if it still exists. The readings of all devices that ever had this name are deleted in the
background; --report shows the progress. With --metric the device stays, and its values of that metric alone are deleted;
if it sends the metric again, it has it as a new one.

Examples:
  barograph devices erase kitchen
  barograph devices erase kitchen --metric co2
  barograph devices erase kitchen --report`

function addErase(devices: Command, client: AdminClient, streams: Streams): void {
  devices
    .command('erase')
    .description('remove a device and delete its readings permanently')
    .argument('<name>')
    .option('--metric <metric>', 'keep the device and delete its values of this metric')
    .option('--report', 'only print the progress')
    .option('--json', 'print the report as JSON')
    .addHelpText('after', eraseHelp)
    .action(async (name: string, { metric, report, json }: EraseOptions) => {
      const isReport = report === true
      const found =
        metric === undefined
          ? await client.json(EraseReport, isReport ? 'GET' : 'POST', `${pathOf(name)}/erase`)
          : await client.json(MetricEraseReport, isReport ? 'GET' : 'DELETE', metricPathOf(name, metric))
      if (json === true) printJson(streams, found)
      else printFields(streams, found)
    })
}

interface EraseOptions extends Json {
  metric?: string
  report?: boolean
}

function metricPathOf(name: string, metric: string): string {
  if (!isMetricName(metric)) throw new CommandError(`"${metric}" is not a name of a metric`, exitUsage)
  return `${pathOf(name)}/metrics/${metric}`
}

function pathOf(name: string): string {
  // Clients resolve these two away, and the request would ask something else.
  if (name === '' || name === '.' || name === '..')
    throw new CommandError(`"${name}" is not a valid device name`, exitUsage)
  return `/devices/${encodeURIComponent(name.toWellFormed())}`
}

function printDevice(streams: Streams, device: DeviceDetails, json: boolean | undefined): void {
  if (json === true) printJson(streams, device)
  else printFields(streams, device)
}

function printPassword(streams: Streams, { device, password }: IssuedPassword): void {
  printTable(streams, [
    ['device', device],
    ['password', password],
  ])
  printText(streams.stdout, 'The password is shown only once.\n')
}
