/** An experiment on two api processes, two forwarders and two replicas, with topics as the journals. */

import { type Exec, shownPosition } from '../../../ingest/forwarder/applied-positions.ts'
import { stateKey } from '../../../ingest/kafka/client/names.ts'
import { freePort } from '../../../store/process/free-port.ts'
import { isRunning, until } from '../../support/processes.ts'
import { askPostgres } from '../databases.ts'
import { type ExperimentOptions, experiment, type Harness, type TestBed } from '../experiment.ts'
import { createHooks } from '../hooks.ts'
import type { ServiceProcess } from '../service-process.ts'
import type { FaultKafka } from './fault-kafka.ts'
import {
  type ApiProcess,
  apiSettings,
  apiWords,
  type Forwarder,
  holderOf,
  replicaNumbers,
  startBeside,
  startForwarders,
} from './processes.ts'
import { startReaders } from './readers.ts'

export interface ClusterBed extends TestBed {
  kafka: FaultKafka
  apis: ApiProcess[]
  forwarders: Forwarder[]
  counts: Map<string, number>
}

/** Counted from the end of the last fault: replica lock, wait for late requests, leader election, and a busy machine. */
const shownMsMax = 120_000

export async function clusterExperiment(
  harness: Harness,
  options: ExperimentOptions,
  work: (bed: ClusterBed) => Promise<void>,
): Promise<void> {
  const { kafka } = harness
  if (kafka === undefined) throw new Error('a row of the cluster needs brokers')
  const hooks = createHooks()
  try {
    const ports = [await freePort(), await freePort()] as const
    const publicUrl = `http://127.0.0.1:${ports[0]}`
    const first = await apiSettings(hooks, harness.databases, kafka, publicUrl, 1)
    const second = await apiSettings(hooks, harness.databases, kafka, publicUrl, 2)
    const { environment = {} } = options
    const api = { points: true, words: apiWords, ...options, ports }
    await experiment(harness, { ...api, environment: { ...first.environment, ...environment } }, async bed => {
      const beside = { ...second, environment: { ...second.environment, ...environment } }
      const apis = [{ ...bed.service, link: first.link }, await startBeside(bed, beside, ports[1])]
      const forwarders = await startForwarders(kafka, bed, environment)
      await withCluster({ ...bed, kafka, apis, forwarders, counts: new Map<string, number>() }, work)
    })
  } finally {
    await hooks.undo()
  }
}

async function withCluster(bed: ClusterBed, work: (bed: ClusterBed) => Promise<void>): Promise<void> {
  const { tally } = bed
  for (const replica of replicaNumbers) await holderOf(bed.forwarders, replica)
  await bed.untilAcknowledged(100)
  const readers = startReaders(bed)
  await work(bed)
  const endedMs = performance.now()
  await bed.untilAcknowledged(100)
  await bed.load.stop()
  await untilShown(bed)
  await readers.stop()
  const shownMs = Math.round(performance.now() - endedMs)
  tally.shownMs.push(shownMs)
  if (shownMs > shownMsMax) tally.problems.push(`all is shown ${shownMs} ms after the last fault`)
  tally.notes.push([...bed.counts].map(([name, count]) => `${name} ${count}`).join(', '))
  for (const [name, process] of processesOf(bed)) complainOfEnd(bed, name, process)
}

/** Each replica reports that it has all records, and each node shows them. */
async function untilShown({ apis, databases, kafka }: ClusterBed): Promise<void> {
  const { postgresUrl, sql, second } = databases
  for (const [at, replica] of [sql, second?.sql ?? sql].entries()) {
    await until(`replica ${at + 1} has all records`, async () => {
      const journals = await askPostgres<{ journal: string; id: string }>(postgresUrl, 'SELECT * FROM applied_journals')
      const ends = await kafka.ends().catch(() => undefined)
      if (ends === undefined) return false
      for (const [topic, end] of ends) {
        const id = journals.find(({ journal }) => journal === stateKey(topic, at + 1))?.id ?? ''
        // A rebuilt QuestDB has no table of positions yet.
        const shown = await shownPosition(replica as Exec, id).catch(() => undefined)
        if (end > 0 && (shown === undefined || shown < end)) return false
      }
      return true
    })
  }
  for (const api of apis) {
    await until('all is shown', async () => {
      const { lag, points } = await api.status()
      return lag.readings === 0 && points.lag.points === 0
    })
  }
}

const processesOf = ({ apis, forwarders }: ClusterBed) => [
  ...apis.map((api, index) => [`api ${index + 1}`, api] as const),
  ...forwarders.map((forwarder, index) => [`forwarder ${index + 1}`, forwarder] as const),
]

function complainOfEnd({ tally }: ClusterBed, name: string, process: ServiceProcess): void {
  if (!isRunning(process.pid())) tally.problems.push(`${name} has ended by itself: ${process.output().slice(-1500)}`)
}
