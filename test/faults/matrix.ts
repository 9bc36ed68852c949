/** The rows of the matrix: what is done to the service, and how often in a whole run. */

import type { Harness, Run, Surroundings } from './experiment.ts'
import { failingReceivers, manyAtOnce, silentWithoutPostgres } from './rows/alert-fleets.ts'
import { alertsToBadReceivers, alertsWhileFrozen, alertsWithWrongClock, dieWithAlerts } from './rows/alerts.ts'
import { idleConnections, misbehavingClients, pipelinedRequests } from './rows/clients.ts'
import { clockAhead, clockAheadOfRetention, slowDisk, wrongClock } from './rows/clocks.ts'
import { eraseSeries } from './rows/erase.ts'
import { cutPower, damageJournal } from './rows/journal.ts'
import { dieAtPoints, killEverything, killInReplay, killService, secondProcess, stopService } from './rows/kills.ts'
import { fewFileHandles, fullJournalDisk, fullPostgresDisk, fullQuestdbDisk, noRights } from './rows/limits.ts'
import { killParents } from './rows/orphans.ts'
import { changeWhileFrozen, exhaustPostgres, freezePostgres, killPostgres } from './rows/postgres.ts'
import {
  disturbNetwork,
  freezeQuestdb,
  internalErrors,
  killQuestdb,
  outageOfQuestdb,
  poisonRow,
  slowLink,
  suspendTable,
} from './rows/questdb.ts'

interface RowFacts {
  row: string
  what: string
  cycles: number
  /** What these take, about: the longest rows begin first. */
  minutes: number
}

interface SharingRow extends RowFacts {
  startsDatabases?: false
  run: Run<Harness>
}

interface StartingRow extends RowFacts {
  startsDatabases: true
  run: Run<Surroundings>
}

export type MatrixRow = SharingRow | StartingRow

export const matrix: MatrixRow[] = [
  { row: '1a', what: 'service killed', cycles: 110, minutes: 6, run: killService },
  { row: '1b', what: 'service and databases killed', cycles: 20, minutes: 4, run: killEverything },
  { row: '2', what: 'killed at eleven points', cycles: 110, minutes: 8, run: dieAtPoints },
  { row: '3', what: 'stopped by SIGTERM', cycles: 20, minutes: 1.5, run: stopService },
  { row: '4', what: 'journal torn or flipped', cycles: 15, minutes: 2, run: damageJournal },
  { row: '5', what: 'simulated power cuts', cycles: 2000, minutes: 2, run: cutPower },
  { row: '6a', what: 'QuestDB killed', cycles: 20, minutes: 2, run: killQuestdb },
  { row: '6b', what: 'QuestDB frozen', cycles: 1, minutes: 1, run: freezeQuestdb },
  { row: '7', what: 'QuestDB away', cycles: 1, minutes: 1, run: outageOfQuestdb },
  { row: '8a', what: 'sick network', cycles: 1, minutes: 1, run: disturbNetwork },
  { row: '8b', what: 'internal errors of QuestDB', cycles: 2, minutes: 0.5, run: internalErrors },
  { row: '8c', what: 'poison rows', cycles: 2, minutes: 0.5, run: poisonRow },
  { row: '8d', what: 'table suspended, WAL lost', cycles: 4, minutes: 1, run: suspendTable },
  { row: '9a', what: 'PostgreSQL killed', cycles: 20, minutes: 2, run: killPostgres },
  { row: '9b', what: 'PostgreSQL frozen', cycles: 1, minutes: 0.5, run: freezePostgres },
  { row: '9c', what: 'PostgreSQL out of connections', cycles: 2, minutes: 0.5, run: exhaustPostgres },
  { row: '10a', what: 'disk of the journal full', cycles: 3, minutes: 0.6, run: fullJournalDisk },
  { row: '10b', what: 'disk of QuestDB full', cycles: 1, minutes: 1.2, run: fullQuestdbDisk },
  { row: '10c', what: 'disk of PostgreSQL full', cycles: 2, minutes: 0.3, run: fullPostgresDisk },
  { row: '12', what: 'syncs of 0.2 to 2 s', cycles: 3, minutes: 1, run: slowDisk },
  { row: '13', what: 'clock jumps', cycles: 3, minutes: 1.2, run: wrongClock },
  { row: '14', what: 'killed while it sends again', cycles: 12, minutes: 2.5, run: killInReplay },
  { row: '16a', what: 'file handles low', cycles: 2, minutes: 0.4, run: fewFileHandles },
  { row: '16b', what: 'no rights on the journal', cycles: 1, minutes: 0.2, run: noRights },
  { row: '17', what: 'second process', cycles: 4, minutes: 0.6, run: secondProcess },
  { row: '18', what: 'misbehaving clients', cycles: 2, minutes: 0.3, run: misbehavingClients },
  { row: '22', what: 'clock ahead for a while', cycles: 4, minutes: 1.5, run: clockAhead },
  { row: '23', what: 'slow link, limited requests', cycles: 2, minutes: 3, run: slowLink },
  { row: '24', what: 'idle connections, few files', cycles: 1, minutes: 1, run: idleConnections },
  { row: '25', what: 'pipelined requests', cycles: 1, minutes: 0.5, run: pipelinedRequests },
  { row: '26', what: 'changes while PostgreSQL is frozen', cycles: 1, minutes: 3, run: changeWhileFrozen() },
  { row: '21', what: 'erased, then killed or replayed', cycles: 6, minutes: 9, run: eraseSeries },
  { row: '27', what: 'parents killed', cycles: 6, minutes: 1.5, run: killParents },
  { row: '28', what: 'clock ahead, readings expire', cycles: 2, minutes: 1.5, run: clockAheadOfRetention },
  { row: '29a', what: 'killed with alerts at eight points', cycles: 45, minutes: 5, run: dieWithAlerts() },
  { row: '29b', what: 'alerts, databases frozen', cycles: 1, minutes: 2, run: alertsWhileFrozen },
  { row: '29c', what: 'alerts, clock an hour off', cycles: 2, minutes: 1, run: alertsWithWrongClock },
  { row: '29d', what: 'alerts, bad receivers', cycles: 1, minutes: 1.5, run: alertsToBadReceivers },
  { row: '29e', what: '500 silent while PostgreSQL is away', cycles: 1, minutes: 13, run: silentWithoutPostgres },
  { row: '29f', what: '50,000 alerts at once, killed', cycles: 1, minutes: 4, run: manyAtOnce },
  { row: '29g', what: 'receivers that fail for long', cycles: 1, minutes: 5, run: failingReceivers },
]
