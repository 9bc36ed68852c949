/** Runs the erase jobs, one after the other, behind everything else; what stands in the way is waited for. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Changed } from '../../auth/devices/commits.ts'
import type { Devices } from '../../auth/devices/devices.ts'
import type { Metrics } from '../../auth/metrics/metrics.ts'
import type { SeriesRemoved } from '../../auth/metrics/series-removal.ts'
import type { Station } from '../../auth/stations/station.ts'
import type { StationChanged } from '../../auth/stations/station-changes.ts'
import type { Stations } from '../../auth/stations/stations.ts'
import type { Log } from '../../store/log.ts'
import { createQuestdbClient } from '../../store/questdb/client/questdb-client.ts'
import type { Store } from '../../store/store.ts'
import {
  type EraseEnd,
  type EraseJob,
  type EraseReport,
  endJob,
  insertJob,
  insertMetricJob,
  insertStationJob,
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
import { createEraseSteps, EraseFailure, type EraseSteps, type EraseStepsOptions } from './erase-steps.ts'

export interface EraseJobs {
  /**
   * Has the readings erased of every device that has the name or had it when it was removed; one that has it is removed
   * before this resolves.
   */
  request(name: string, by: string): Promise<Changed<EraseReport>>
  /** Finds out what came of the last request; false while it cannot be found out. */
  reconcile(): Promise<boolean>
  /** Of the newest job for this name. */
  report(name: string): Promise<EraseReport | undefined>
  /**
   * Takes a metric away from the device of this name, and has its values erased, also those of jobs that failed. A device that
   * sends it again has it as a new one. Rejects as `Metrics.removeSeries` does.
   */
  requestMetric(name: string, metric: string, by: string): Promise<SeriesRemoved<MetricEraseReport> | DeviceUnknown>
  /** Of the newest job for this metric of a device of this name. */
  metricReport(name: string, metric: string): Promise<MetricEraseReport | undefined>
  /** Removes a station, and has its points erased. Rejects as `Stations.remove` does. */
  removeStation(station: Station, by: string): Promise<StationChanged<undefined>>
  /** Of the newest job for a station of this `sn`. */
  stationReport(sn: string): Promise<StationEraseReport | undefined>
  /** Takes up what the last process left. */
  resume(): void
  /** What is under way goes on after the next start. */
  close(): Promise<void>
}

interface DeviceUnknown {
  ok: false
  code: 'DEVICE_UNKNOWN'
}

export interface EraseJobsOptions
  extends Pick<EraseStepsOptions, 'ingest' | 'whileNoDayExpires' | 'syncNames' | 'forgetSeries'> {
  devices: Pick<Devices, 'get' | 'removeNamed' | 'reconcile'>
  metrics: Pick<Metrics, 'removeSeries' | 'reconcile'>
  stations: Pick<Stations, 'registry' | 'remove'>
  store: Pick<Store, 'postgres' | 'questdb'>
  log: Log
}

const execTimeoutMs = 60_000
const retryMsMin = 1_000
const retryMsMax = 60_000

export function createEraseJobs(options: EraseJobsOptions): EraseJobs {
  const { devices, metrics, ingest, store, log } = options
  const { postgres } = store
  const questdb = createQuestdbClient(store.questdb.address.http)
  const closing = new AbortController()
  const { signal } = closing
  const pause = async (ms: number) => {
    await sleep(ms, undefined, { signal, ref: false })
  }
  const steps = createEraseSteps({
    ...options,
    exec: sql => questdb.exec(sql, execTimeoutMs),
    pause,
    signal,
    noteValues: (id, values) => noteValues(postgres, id, values),
  })
  let running: Promise<void> | undefined

  /** Once more when a job was asked for while the last one ended. */
  let asked = false
  /** A QuestDB that does not sync may have lost, with a crash, that readings were erased. */
  let doubts = 0
  let doubtsSettled = 0
  function resume(): void {
    asked = true
    running ??= runAll().finally(() => {
      running = undefined
    })
  }

  async function runAll(): Promise<void> {
    let retryMs = retryMsMin
    while (asked && !signal.aborted) {
      asked = false
      try {
        if (doubts > doubtsSettled) await eraseAgain()
        await runWaiting(options, steps, signal)
        retryMs = retryMsMin
      } catch (error) {
        if (signal.aborted) return
        log.warn({ err: error }, 'erase job failed, retrying')
        asked = true
        await pause(retryMs).catch(() => undefined)
        retryMs = Math.min(retryMs * 2, retryMsMax)
      }
    }
  }

  /** Looks through all that was ever erased. */
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
  atStart(store, doubt)
  return {
    ...createRemovals(options, resume),
    reconcile: async () => (await devices.reconcile()) && (await metrics.reconcile()),
    report: name => readReport(postgres, name),
    metricReport: (name, metric) => readMetricReport(postgres, name, metric),
    stationReport: sn => readStationReport(postgres, sn),
    resume,
    close: async () => {
      closing.abort()
      questdb.close()
      await running
    },
  }
}

/** What removes devices and stations, and writes their jobs in the same transaction. */
function createRemovals(
  { devices, metrics, stations }: EraseJobsOptions,
  resume: () => void,
): Pick<EraseJobs, 'request' | 'requestMetric' | 'removeStation'> {
  async function request(name: string, by: string): Promise<Changed<EraseReport>> {
    const requested = await devices.removeNamed(
      name,
      (transaction, namesakes) => insertJob(transaction, name, namesakes, by),
      by,
    )
    // There may be a job where the outcome is unknown, too.
    if (requested.ok || requested.code === 'OUTCOME_UNKNOWN') resume()
    return requested
  }

  const requestMetric: EraseJobs['requestMetric'] = async (name, metric, by) => {
    const device = devices.get(name)
    if (device === undefined) return { ok: false, code: 'DEVICE_UNKNOWN' }
    try {
      return await metrics.removeSeries(device.number, metric, (transaction, series) =>
        insertMetricJob(transaction, { device, metric, series, by }),
      )
    } finally {
      // There may be a job where the outcome is unknown, too.
      resume()
    }
  }

  async function removeStation(station: Station, by: string): Promise<StationChanged<undefined>> {
    const numbers = [...station.series.values()]
    try {
      return await stations.remove(station, by, transaction => insertStationJob(transaction, station.sn, numbers))
    } finally {
      // There may be a job where the outcome is unknown, too.
      resume()
    }
  }

  return { request, requestMetric, removeStation }
}

/** A crash while we were not there is seen by nobody. */
function atStart({ questdb }: EraseJobsOptions['store'], doubt: () => void): void {
  questdb.ready.then(
    () => {
      if (questdb.commitMode() !== 'sync') doubt()
    },
    () => undefined,
  )
}

/** Whether it is known of each request what became of it: otherwise its job may be committed later than it is looked for. */
async function areOutcomesKnown({ devices, metrics, stations }: EraseJobsOptions): Promise<boolean> {
  await stations.registry()
  return (await devices.reconcile()) && (await metrics.reconcile())
}

async function runWaiting(options: EraseJobsOptions, steps: EraseSteps, signal: AbortSignal): Promise<void> {
  const { postgres } = options.store
  for (;;) {
    const areKnown = await areOutcomesKnown(options)
    const job = await takeJob(postgres)
    if (job === undefined && areKnown) return
    if (job === undefined) throw new Error('it is not known yet what became of the last request')
    const end = await runJob(job, options, steps, signal)
    await endJob(postgres, job.id, end)
    const { rowsOf, symbols, numbers } = job
    options.log.info({ rowsOf, ...(rowsOf === 'readings' ? { symbols } : { numbers }), ...end }, 'erase job finished')
  }
}

/** How it ended, well or badly; rejects for what may pass, which is noted in the report. */
async function runJob(
  job: EraseJob,
  { devices, metrics, stations, store }: EraseJobsOptions,
  steps: EraseSteps,
  signal: AbortSignal,
): Promise<EraseEnd> {
  try {
    // The job was written together with the removal; where that was not confirmed, memory has to learn of it first.
    if (job.rowsOf === 'points') await stations.registry()
    else if (job.rowsOf === 'measurements' && !(await metrics.reconcile())) {
      throw new Error('it is not known yet whether the metric is taken away')
    } else if (!(await devices.reconcile())) throw new Error('it is not known yet whether the device is removed')
    return { rows: await steps.erase(job) }
  } catch (error) {
    if (error instanceof EraseFailure) return { error: error.message }
    const reason = error instanceof Error ? error.message : String(error)
    if (!signal.aborted) await noteDelay(store.postgres, job.id, reason).catch(() => undefined)
    throw error
  }
}
