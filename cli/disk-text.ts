/** How the disk of the server is used, and when it will be full. */

import type { Status } from '../api/admin/status-answer.ts'
import { bytesText } from './output.ts'

type Disk = Status['disk']

/** Fewer days than that are a problem. */
const daysMin = 14

export function diskText(disk: Disk): string {
  const parts = [
    ['journals', disk.journal_bytes],
    ['QuestDB', disk.questdb_bytes],
    ['PostgreSQL', disk.postgres_bytes],
  ] as const
  const used = parts.flatMap(([name, bytes]) => (bytes === null ? [] : [`${name} ${bytesText(bytes)}`]))
  const free = `${bytesText(disk.free_bytes)} free of ${bytesText(disk.total_bytes)} at ${disk.path}`
  return [free, ...used, forecastText(disk)].join(', ')
}

export function isDiskFillingUp({ days_until_full }: Disk): boolean {
  return days_until_full !== null && days_until_full < daysMin
}

function forecastText({ growth_bytes_per_day: growth, days_until_full: days }: Disk): string {
  if (growth === null) return 'growth unknown (needs four days)'
  if (days === null) return growth > 0 ? `${bytesText(growth)} more per day until readings expire` : 'not growing'
  return `${bytesText(growth)} more per day, full in ${days < 1 ? 'less than a day' : `${Math.floor(days)} days`}`
}
