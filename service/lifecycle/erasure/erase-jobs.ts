/** Runs the erase jobs at the leading node, one after the other at low priority, and retries until they succeed. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Devices } from '../../../auth/devices/devices.ts'
import type { Metrics } from '../../../auth/metrics/metrics.ts'
import { type ChangeFeed, noFeed } from '../../../auth/nodes/change-feed.ts'
import type { Stations } from '../../../auth/stations/stations.ts'
import type { Ingest, PointsIngest } from '../../../ingest/ingest.ts'
import { attributed } from '../../../store/limits/attributed-work.ts'
import type { Log } from '../../../store/log.ts'
import { createQuestdbClient } from '../../../store/questdb/client/questdb-client.ts'
import type { Questdb } from '../../../store/questdb/questdb.ts'
import { type QuestdbReplica, replicaFault } from '../../../store/questdb/questdb-replicas.ts'
import type { Store } from '../../../store/store.ts'
import type { Archive } from '../archive/archive.ts'
import { type ErasedReplica, EraseFailure } from './erase-in-replica.ts'
import {
  type EraseEnd,
  type EraseJob,
  type EraseReport,
  endJob,
  type MetricEraseReport,
  noteDelay,
  noteValues,
  readErased,
  readMetricReport,
  readReport,
  readStationReport,
  type StationEraseReport,
  takeJob,
} from './erase-records.ts'
import { createEraseRequests, type EraseRequests, refuseErased } from './erase-requests.ts'
import { createEraseSteps, type EraseSteps, type EraseStepsOptions } from './erase-steps.ts'

export interface EraseJobs extends EraseRequests {
  /** Resolves the outcome of the last request; false while it is unknown. */
  reconcile(): Promise<boolean>
  /** Report of the newest job for this name. */
  report(name: string): Promise<EraseReport | undefined>
  /** Report of the newest job for this metric of a device of this name. */
  metricReport(name: string, metric: string): Promise<MetricEraseReport | undefined>
  /** Report of the newest job for a station of this `sn`. */
  stationReport(sn: string): Promise<StationEraseReport | undefined>
  /** Resumes jobs of the last process. */
  resume(): void
  /** Running jobs resume after the next start. */
  close(): Promise<void>
}

interface EraseJobsOptions extends Pick<EraseStepsOptions, 'whileNoDayExpires' | 'syncNames' | 'forgetSeries'> {
  ingest: EraseStepsOptions['ingest'] & {
    readings: Pick<Ingest, 'refuseSeries'>
    points: Pick<PointsIngest, 'refuseSeries'>
  }
  devices: Pick<Devices, 'get' | 'removeNamed' | 'reconcile'>
  metrics: Pick<Metrics, 'removeSeries' | 'reconcile'>
  stations: Pick<Stations, 'registry' | 'remove'>
  store: Pick<Store, 'postgres' | 'questdb'>
  /** Ordered by number; by default, the store's QuestDB has all rows. */
  replicas?: readonly (QuestdbReplica<Pick<Questdb, 'address' | 'ready' | 'state' | 'commitMode'>> &
    Pick<ErasedReplica, 'isLost'>)[]
  /** Removes a device, or the values of a metric, from data about it that was passed on, such as alerts. */
  forgetDevices?: (job: Pick<EraseJob, 'numbers' | 'name' | 'metric' | 'requestedAt'>) => Promise<void>
  /** Removes entries about a device or station of this name from memory. */
  forgetName?: (name: string) => void
  /** Erased before QuestDB; undefined without an archive. */
  archive?: Pick<Archive, 'erase'>
  feed?: ChangeFeed
  /** True if this node runs the jobs; undefined for a single process. */
  leads?: () => boolean
  log: Log
}

const execTimeoutMs = 60_000

export function createEraseJobs(options: EraseJobsOptions): EraseJobs {
  const { devices, metrics, ingest, store, feed = noFeed, leads = () => true, log } = options
  const { replicas = [{ number: 1, questdb: store.questdb }] } = options
  const { postgres } = store
  const closing = new AbortController()
  const { signal } = closing
  function requireLead(): void {
    if (!leads()) throw new NotLeading()
  }
  const clients = replicas.map(({ questdb }) => createQuestdbClient(questdb.address.http))
  const steps = createEraseSteps({
    ...options,
    settle: feed.settle,
    replicas: replicas.map((replica, at) => ({
      ...replica,
      async exec(sql) {
        requireLead()
        const client = clients[at] as (typeof clients)[number]
        return await client.exec(sql, execTimeoutMs).catch(error => {
          throw replicaFault(replicas, replica, error)
        })
      },
    })),
    async pause(ms) {
      await sleep(ms, undefined, { signal, ref: false })
      requireLead()
    },
    signal,
    noteValues: (id, values) => noteValues(postgres, id, values),
    noteDelay: (job, reason) => noteDelay(postgres, job, reason),
  })
  /** Number of crashes in which a QuestDB that does not sync may have lost erasures. */
  let doubts = 0
  let doubtsSettled = 0
  const loop = createEraseLoop({ leads, work, signal, log })
  const resume = loop.ask

  async function work(): Promise<void> {
    if (doubts > doubtsSettled) await eraseAgain()
    await runWaiting(options, steps, { signal, requireLead })
  }

  /** Checks all series that were ever erased. */
  async function eraseAgain(): Promise<void> {
    await steps.untilQuestdbIsUp()
    const doubtsBefore = doubts
    for (const rowsOf of ['readings', 'measurements', 'points'] as const) {
      await steps.eraseAgain(rowsOf, await readErased(postgres, rowsOf))
    }
    doubtsSettled = doubtsBefore
  }

  function doubt(): void {
    doubts++
    resume()
  }

  ingest.readings.onLost(doubt)
  ingest.points.onLost(doubt)
  for (const { questdb } of replicas) atStart(questdb, doubt)
  refuseErased({ ...options, feed, pool: postgres, added: resume })
  return {
    ...createEraseRequests({ ...options, feed, added: resume }),
    reconcile: async () => (await devices.reconcile()) && (await metrics.reconcile()),
    report: name => readReport(postgres, name),
    metricReport: (name, metric) => readMetricReport(postgres, name, metric),
    stationReport: sn => readStationReport(postgres, sn),
    resume,
    close: async () => {
      closing.abort()
      for (const client of clients) client.close()
      await loop.ended()
    },
  }
}

/** Crashes while the service was down are unknown. */
function atStart(questdb: Pick<Questdb, 'ready' | 'commitMode'>, doubt: () => void): void {
  questdb.ready.then(
    () => {
      if (questdb.commitMode() !== 'sync') doubt()
    },
    () => undefined,
  )
}

/** False while a request's outcome is unknown: its job may be committed after the search for jobs. */
async function areOutcomesKnown({ devices, metrics, stations }: EraseJobsOptions): Promise<boolean> {
  await stations.registry()
  return (await devices.reconcile()) && (await metrics.reconcile())
}

async function runWaiting(
  options: EraseJobsOptions,
  steps: EraseSteps,
  { signal, requireLead }: { signal: AbortSignal; requireLead: () => void },
): Promise<void> {
  const { postgres } = options.store
  for (;;) {
    const areKnown = await areOutcomesKnown(options)
    requireLead()
    const job = await takeJob(postgres)
    if (job === undefined && areKnown) return
    if (job === undefined) throw new Error('the outcome of the last request is not known yet')
    const work = { kind: 'erase', id: String(job.id) } as const
    const end = await attributed(work, () => runJob(job, options, steps, signal))
    if (!(await endJob(postgres, job, end))) throw new NotLeading()
    const { rowsOf, symbols, numbers } = job
    options.log.info({ rowsOf, ...(rowsOf === 'readings' ? { symbols } : { numbers }), ...end }, 'erase job finished')
  }
}

/** The job was written together with the removal. If that was not confirmed, memory has to be updated first. */
async function learnRemoval({ rowsOf }: EraseJob, { devices, metrics, stations }: EraseJobsOptions): Promise<void> {
  if (rowsOf === 'points') await stations.registry()
  else if (rowsOf === 'measurements' && !(await metrics.reconcile())) {
    throw new Error('it is not known yet whether the metric is taken away')
  } else if (!(await devices.reconcile())) throw new Error('it is not known yet whether the device is removed')
}

/** Returns how the job ended. Rejects for temporary faults, which the report names. */
async function runJob(
  job: EraseJob,
  options: EraseJobsOptions,
  steps: EraseSteps,
  signal: AbortSignal,
): Promise<EraseEnd> {
  const { store, archive, forgetDevices, forgetName } = options
  try {
    await learnRemoval(job, options)
    const erase = () => steps.erase(job)
    const { rows, damaged } = await (archive === undefined ? erase() : archive.erase(job.rowsOf, job, erase))
    const numbers = job.device === null ? job.numbers : [job.device]
    if (job.rowsOf !== 'measurements') forgetName?.(job.name)
    if (job.rowsOf !== 'points') await forgetDevices?.({ ...job, numbers })
    return damaged.length === 0 ? { rows } : { rows, error: damagedText(damaged) }
  } catch (error) {
    if (error instanceof EraseFailure) return { error: error.message }
    const reason = error instanceof Error ? error.message : String(error)
    if (!signal.aborted && !(error instanceof NotLeading))
      await noteDelay(store.postgres, job, reason).catch(() => undefined)
    throw error
  }
}

const namesShownMax = 20

/** Bounded error of the report: 10,000 dead letters may be damaged. */
function damagedText(names: readonly string[]): string {
  const more = names.length - namesShownMax
  const shown = names.toSorted().slice(0, namesShownMax).join(', ')
  return `damaged dead letters were not erased: ${shown}${more > 0 ? ` and ${more} more` : ''}; discard them and erase again`
}

interface EraseLoopOptions {
  leads: () => boolean
  /** Called once at a time. */
  work: () => Promise<void>
  signal: AbortSignal
  log: Log
}

interface EraseLoop {
  /** Requests work at this node, or at its successor as the leader. */
  ask(): void
  ended(): Promise<void>
}

class NotLeading extends Error {}

const retryMsMin = 1_000
const retryMsMax = 60_000
/** Interval at which a node checks whether it leads. */
const leadsEveryMs = 500

function createEraseLoop({ leads, work, signal, log }: EraseLoopOptions): EraseLoop {
  let running: Promise<void> | undefined
  /** True if work was requested while the last call ended. */
  let isAsked = false
  let retryMs = retryMsMin

  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => undefined)

  async function tryWork(): Promise<void> {
    isAsked = false
    try {
      await work()
      retryMs = retryMsMin
    } catch (error) {
      isAsked = true
      if (signal.aborted || error instanceof NotLeading) return
      log.warn({ err: error }, 'erase job failed, retrying')
      await pause(retryMs)
      retryMs = Math.min(retryMs * 2, retryMsMax)
    }
  }

  async function run(): Promise<void> {
    while (isAsked && !signal.aborted) {
      if (leads()) await tryWork()
      else await pause(leadsEveryMs)
    }
  }

  function ask(): void {
    isAsked = true
    running ??= run().finally(() => {
      running = undefined
      if (isAsked && !signal.aborted) ask()
    })
  }

  return {
    ask,
    ended: async () => await running,
  }
}
