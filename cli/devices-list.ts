/** `barograph devices list`: all devices, or those that match a search. */

import type { Command } from 'commander'
import type { DeviceDetails } from '../auth/devices/device.ts'
import { DevicePage } from '../auth/devices/device-page.ts'
import type { AdminClient } from './admin-client.ts'
import { printJson, printTable, printText, type Streams } from './output.ts'

export function addDevicesList(devices: Command, client: AdminClient, streams: Streams): void {
  devices
    .command('list')
    .description('list devices')
    .option('--search <text>', 'only devices whose name, location or tags contain this text (case-insensitive)')
    .option('--json', 'print as JSON')
    .addHelpText('after', '\nExamples:\n  barograph devices list\n  barograph devices list --search site:berlin --json')
    .action(async ({ search, json }: { search?: string; json?: boolean }) => {
      const found = await readAllDevices(client, search ?? '')
      if (json === true) printJson(streams, found)
      else if (found.length === 0) printText(streams.stdout, 'no devices\n')
      else printTable(streams, [['name', 'location', 'log', 'last seen', 'password'], ...found.map(rowOf)])
    })
}

/** All whose name, location or tags contain the text. */
export async function readAllDevices(client: AdminClient, search: string): Promise<DeviceDetails[]> {
  const found: DeviceDetails[] = []
  for (let page: number | null = 1; page !== null; ) {
    const query = new URLSearchParams({ search, page: String(page) })
    const answer: DevicePage = await client.json(DevicePage, 'GET', `/devices?${query}`)
    found.push(...answer.devices)
    page = answer.next
  }
  return found
}

function rowOf({ name, location_short, log_switch, last_seen, credential }: DeviceDetails): string[] {
  return [name, location_short || '-', log_switch ? 'yes' : 'no', last_seen ?? 'never', credential]
}
