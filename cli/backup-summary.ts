/** What a backup holds, as `backup` and `restore` print it. */

import type { BackupResult } from '../service/backup/backup.ts'
import { bytesText } from './output.ts'

export function backupSummary({ files, bytes, rows }: BackupResult): string {
  const counts = Object.entries(rows).map(([table, count]) => `${count} ${table}`)
  return `${files} files, ${bytesText(bytes)}; in QuestDB ${counts.join(' and ')}`
}
