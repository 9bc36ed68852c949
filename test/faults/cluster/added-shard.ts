/**
 * A shard is added while readings come in and processes die. A shard has readings from the start of a UTC day on that is more than 25 hours
 * away, so the processes and the devices have clocks that are ahead, and that are set to shortly before that day when each process knows the
 * new shard. Nothing is sent at that moment, since no two processes see it at the same time.
 */

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { firstDayUs } from '../../../cli/add-shard.ts'
import { readingsTable } from '../../../store/tables.ts'
import { barograph } from '../../support/command-line.ts'
import { until } from '../../support/processes.ts'
import type { ClockPeriod } from '../clock.ts'
import { setClockFile } from '../clock.ts'
import { type ShardCount, settingsFor, startFaultDatabases } from '../databases.ts'
import type { Harness, Surroundings } from '../experiment.ts'
import { createHooks } from '../hooks.ts'
import { injecting } from '../injection/settings.ts'
import { numberOf, untilApplied } from '../questdb-sql.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { Tally } from '../tally.ts'
import { type ClusterBed, clusterExperiment } from './cluster-experiment.ts'
import { startFaultKafka } from './fault-kafka.ts'
import { type FaultName, happen, happenAny, rest, startAgain, untilHeld } from './faults.ts'

/** What happens beside each step of the addition; fewer than there are steps leave the later ones alone. */
interface FaultsBeside {
  /** The new QuestDB starts, the command runs. */
  added: readonly FaultName[]
  /** The processes are started again with the new setting, one after the other. */
  restarted: readonly FaultName[]
  /** From shortly before the day on; a number stands for so many of any kind. */
  dayBegins: readonly FaultName[] | number
}

const usual = {
  added: ['holder killed', 'api killed'],
  restarted: ['QuestDB killed', 'PostgreSQL killed', 'all brokers killed', 'QuestDB of shard 2 killed'],
} as const satisfies Omit<FaultsBeside, 'dayBegins'>

const faultsPerExperiment = 12
/** Until the day begins: as long as an addition takes and more, and when the clocks are set. */
const aheadMs = 3 * 3_600_000
const shortlyMs = 5000
/** Until the command asks which day is the first one. */
const slackMs = 900_000

/** With databases and topics of its own, since their times are ahead then. */
export async function addShardMeanwhile(
  brokers: 1 | 3,
  shards: ShardCount,
  surroundings: Surroundings,
  tally: Tally,
  seed: number,
  cycles: number,
): Promise<void> {
  for (let done = 0; done < cycles; done += faultsPerExperiment) {
    const hooks = createHooks()
    try {
      const folder = join(surroundings.folder, `shard-${seed + done}`)
      mkdirSync(folder, { mode: 0o711 })
      const databases = await startFaultDatabases(hooks, folder, shards)
      const kafka = await startFaultKafka(hooks, folder, brokers, shards)
      const beside = usual.added.length + usual.restarted.length
      const dayBegins = Math.max(0, Math.min(faultsPerExperiment, cycles - done) - beside)
      await addShard({ ...surroundings, folder, databases, kafka }, tally, seed + done, { ...usual, dayBegins })
    } finally {
      await hooks.undo()
    }
  }
}

/** Once for each harness. */
async function addShard(harness: Harness, tally: Tally, seed: number, beside: FaultsBeside): Promise<void> {
  const fromMs = firstDayUs(Date.now() + slackMs) / 1000
  const clockFile = join(harness.folder, `clock-${seed}`)
  const clock: ClockPeriod[] = []
  const setAhead = (untilDayMs: number) => {
    const seconds = Math.floor((fromMs - untilDayMs - Date.now()) / 1000)
    clock.push({ fromMs: clock.length === 0 ? Number.NEGATIVE_INFINITY : Date.now(), offsetMs: seconds * 1000 })
    setClockFile(clockFile, seconds)
  }
  setAhead(aheadMs)
  const environment = injecting({ FAULT_CLOCK_FILE: clockFile })
  const options = { seed, tally, environment, clockFile, importEveryMs: 2000, clock }
  await clusterExperiment(harness, options, async bed => {
    await addTo(bed, new Date(fromMs).toISOString().slice(0, 10), beside)
    const goOn = bed.load.pause()
    setAhead(shortlyMs)
    for (const api of bed.apis) {
      await until('the process sees its clock', () => api.output().includes('"msg":"clock stepped forward"'))
    }
    goOn()
    await happenInTurn(bed, beside.dayBegins)
    await until('the day has begun', () => Date.now() + (clock.at(-1)?.offsetMs ?? 0) > fromMs)
  })
  await complainUnlessUsed(harness, tally)
}

/** As an operator does it (docs/scaling.md). */
async function addTo(bed: ClusterBed, day: string, { added, restarted }: FaultsBeside): Promise<void> {
  const beside = (name: FaultName | undefined) => (name === undefined ? undefined : happen(bed, name))
  const { databases, kafka } = bed
  await rest(bed)
  await Promise.all([databases.addQuestdb(), beside(added[0])])
  const settings = settingsFor(databases, databases.questdb.http.port)
  const environment = { ...settings, ...kafka.settings.forward, DATA_DIR: join(bed.folder, 'operator') }
  const command = async () => {
    const { status, stderr } = await barograph(['shards', 'add', '--from', day], { environment })
    if (status !== 0) throw new Error(`no shard is added: ${stderr}`)
  }
  await Promise.all([command(), beside(added[1])])
  const { QUESTDB_SHARDS = '' } = settings
  for (const [index, process] of [...bed.apis, ...bed.forwarders].entries()) {
    process.environment['QUESTDB_SHARDS'] = QUESTDB_SHARDS
    await Promise.all([startAnew(process), beside(restarted[index])])
  }
  await untilHeld(bed)
}

async function startAnew(process: ServiceProcess): Promise<void> {
  await process.end('SIGTERM')
  await startAgain(process)
}

async function happenInTurn(bed: ClusterBed, names: FaultsBeside['dayBegins']): Promise<void> {
  const count = typeof names === 'number' ? names : names.length
  for (let index = 0; index < count; index++) {
    await rest(bed)
    await (typeof names === 'number' ? happenAny(bed, index) : happen(bed, names[index] as FaultName))
    await untilHeld(bed)
  }
}

async function complainUnlessUsed({ databases }: Harness, tally: Tally): Promise<void> {
  const added = databases.furtherQuestdbs.at(-1)
  if (added === undefined) throw new Error('no QuestDB was added')
  await untilApplied(added.sql)
  const rows = numberOf((await added.sql(`SELECT count() FROM ${readingsTable}`))[0]?.[0])
  tally.notes.push(`${rows} readings are on the shard that was added`)
  if (rows === 0) tally.problems.push('no reading is on the shard that was added')
}
