/** Rows 10 and 16: no disk space, and no file handles. Unstored readings are not acknowledged, and the service recovers. */

import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { familyOf, isRunning, until } from '../../support/processes.ts'
import { eachCycle, type TestBed } from '../experiment.ts'
import { complainOfSilence } from './questdb.ts'

const isRoot = process.getuid?.() === 0

type Limit = 'fsize' | 'nofile'

/** Only the soft limit is set, so that it can be raised again without privileges. */
function setLimit(pid: number, limit: Limit, value: number | 'unlimited'): void {
  // Runs as the owner of the process: root in a container may lack the privilege to set limits of other users.
  const { uid, gid } = statSync(`/proc/${pid}`)
  const options = { encoding: 'utf8', ...(isRoot ? { uid, gid } : {}) } as const
  const { status, stderr } = spawnSync('prlimit', [`--pid=${pid}`, `--${limit}=${value}:`], options)
  if (status !== 0) throw new Error(`prlimit: ${stderr}`)
}

/** Segments of the journal cannot grow. */
export const fullJournalDisk = eachCycle({ importEveryMs: 700, points: true }, async bed => {
  for (let times = 0; times < 3; times++) {
    await sleep(700 + bed.random.below(500))
    const refused = refusals(bed)
    setLimit(bed.service.pid(), 'fsize', 50_000 + bed.random.below(200_000))
    await until('readings are refused', () => refusals(bed) > refused)
    const { code } = await bed.service.ready()
    if (code !== 503) bed.tally.problems.push(`with a full disk readiness says ${code}`)
    setLimit(bed.service.pid(), 'fsize', 'unlimited')
    // The service recovers without intervention.
    await bed.untilTaken()
  }
})

function refusals(bed: TestBed): number {
  return bed.ledger().attempts.filter(({ status }) => status === 503).length
}

/** The journal keeps the rows that QuestDB rejects, or accepts without applying. */
export const fullQuestdbDisk = eachCycle({ importEveryMs: 700 }, async bed => {
  await sleep(700)
  const fromMs = Date.now()
  const pid = bed.databases.pid('questdb')
  setLimit(pid, 'fsize', 200_000)
  await sleep(5000)
  setLimit(pid, 'fsize', 'unlimited')
  await complainOfSilence(bed, fromMs)
  await sleep(500)
})

export const fullPostgresDisk = eachCycle({}, async bed => {
  await sleep(500)
  const fromMs = Date.now()
  limitPostgres(bed, 8192)
  const { status } = await bed.service.admin('POST', `/devices/${bed.devices[3]?.name}/rotate?now=1`)
  bed.tally.notes.push(`a change with no room for PostgreSQL is answered ${status}`)
  await sleep(2000)
  limitPostgres(bed, 'unlimited')
  await bed.untilRevoked()
  await complainOfSilence(bed, fromMs)
})

/** The server and its backends, some of which may end meanwhile. New ones inherit the limit of the server. */
function limitPostgres({ databases }: TestBed, bytes: number | 'unlimited'): void {
  for (const pid of familyOf(databases.pid('postgres'))) {
    try {
      setLimit(pid, 'fsize', bytes)
    } catch (error) {
      if (isRunning(pid)) throw error
    }
  }
}

export const fewFileHandles = eachCycle({ environment: { JOURNAL_MAX: '2MiB' } }, async bed => {
  await sleep(700)
  const pid = bed.service.pid()
  const open = readdirSync(`/proc/${pid}/fd`).length
  setLimit(pid, 'nofile', open)
  await sleep(3000)
  setLimit(pid, 'nofile', 4096)
  await bed.untilTaken()
})
