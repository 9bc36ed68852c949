/** Names of devices in notifications, including removed devices unless they are to be erased. */

import type { Transaction } from '../../store/postgres/transaction.ts'
import type { AlertDevice } from '../core/devices.ts'
import { noDevice } from '../core/rule.ts'
import type { Member } from './member-rows.ts'

type Named = Pick<AlertDevice, 'name' | 'location_short'>

export async function devicesNamed(
  transaction: Transaction,
  members: readonly Member[],
  deviceOf: (number: number) => Named | undefined,
): Promise<(number: number) => Named | undefined> {
  const removed = members
    .map(({ device }) => device)
    .filter(device => device !== noDevice && deviceOf(device) === undefined)
  if (removed.length === 0) return deviceOf
  const text = `SELECT number, name, location_short FROM devices WHERE number = ANY($1::int[])
    AND NOT EXISTS (SELECT FROM erase_jobs WHERE rows_of = 'readings' AND devices.number = ANY(numbers))`
  const { rows } = await transaction.query<Named & { number: number }>(text, [removed])
  const names = new Map(rows.map(row => [row.number, row]))
  return number => deviceOf(number) ?? names.get(number)
}
