/** The rows of the matrix: the fault, and its count in a whole run. */

import type { Harness, Run } from './experiment.ts'
import { alertsToBadReceivers, alertsWhileFrozen, alertsWithWrongClock, dieWithAlerts } from './rows/alerts.ts'
import { clockAheadOfRetention, wrongClock } from './rows/clocks.ts'
import { eraseSeries } from './rows/erase.ts'
import { damageJournal } from './rows/journal.ts'
import { dieAtPoints, killEverything, killInReplay, killService, stopService } from './rows/kills.ts'
import { fewFileHandles, fullJournalDisk, fullPostgresDisk, fullQuestdbDisk } from './rows/limits.ts'
import { changeWhileFrozen, exhaustPostgres, killPostgres } from './rows/postgres.ts'
import { disturbNetwork, freezeQuestdb, killQuestdb, outageOfQuestdb, suspendTable } from './rows/questdb.ts'

export interface MatrixRow {
  row: string
  what: string
  cycles: number
  /** Approximate duration of a whole row. The longest rows start first. */
  minutes: number
  run: Run<Harness>
}

export const matrix: MatrixRow[] = [
  { row: '1a', what: 'service killed', cycles: 110, minutes: 6, run: killService },
  { row: '1b', what: 'service and databases killed', cycles: 20, minutes: 4, run: killEverything },
  { row: '2', what: 'killed at eleven points', cycles: 110, minutes: 8, run: dieAtPoints },
  { row: '3', what: 'stopped by SIGTERM', cycles: 20, minutes: 1.5, run: stopService },
  { row: '4', what: 'journal torn or flipped', cycles: 15, minutes: 2, run: damageJournal },
  { row: '6a', what: 'QuestDB killed', cycles: 20, minutes: 2, run: killQuestdb },
  { row: '6b', what: 'QuestDB frozen', cycles: 1, minutes: 1, run: freezeQuestdb },
  { row: '7', what: 'QuestDB away', cycles: 1, minutes: 1, run: outageOfQuestdb },
  { row: '8a', what: 'sick network', cycles: 1, minutes: 1, run: disturbNetwork },
  { row: '8b', what: 'table suspended, WAL lost', cycles: 4, minutes: 1, run: suspendTable },
  { row: '9a', what: 'PostgreSQL killed', cycles: 20, minutes: 2, run: killPostgres },
  { row: '9b', what: 'PostgreSQL out of connections', cycles: 2, minutes: 0.5, run: exhaustPostgres },
  { row: '10a', what: 'disk of the journal full', cycles: 3, minutes: 0.6, run: fullJournalDisk },
  { row: '10b', what: 'disk of QuestDB full', cycles: 1, minutes: 1.2, run: fullQuestdbDisk },
  { row: '10c', what: 'disk of PostgreSQL full', cycles: 2, minutes: 0.3, run: fullPostgresDisk },
  { row: '13', what: 'clock jumps', cycles: 3, minutes: 1.2, run: wrongClock },
  { row: '14', what: 'killed while it sends again', cycles: 12, minutes: 2.5, run: killInReplay },
  { row: '16', what: 'file handles low', cycles: 2, minutes: 0.4, run: fewFileHandles },
  { row: '26', what: 'changes while PostgreSQL is frozen', cycles: 1, minutes: 3, run: changeWhileFrozen() },
  { row: '21', what: 'erased, then killed or replayed', cycles: 6, minutes: 9, run: eraseSeries },
  { row: '28', what: 'clock ahead, readings expire', cycles: 2, minutes: 1.5, run: clockAheadOfRetention },
  { row: '29a', what: 'killed with alerts at eight points', cycles: 45, minutes: 5, run: dieWithAlerts() },
  { row: '29b', what: 'alerts, databases frozen', cycles: 1, minutes: 2, run: alertsWhileFrozen },
  { row: '29c', what: 'alerts, clock an hour off', cycles: 2, minutes: 1, run: alertsWithWrongClock },
  { row: '29d', what: 'alerts, bad receivers', cycles: 1, minutes: 1.5, run: alertsToBadReceivers },
]
