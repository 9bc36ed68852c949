/** What crosses between the main thread and a worker: plain data that can be posted. */

import type { MessagePort } from 'node:worker_threads'
import type { QuestdbAddress } from '../store/questdb/client/questdb-address.ts'
import type { AnalysedDevice } from './analysed-device.ts'
import type { ComparePreset } from './answers/compare-answer.ts'
import type { FinishedBody } from './kept/finish.ts'
import type { Frame } from './kept/live-body.ts'
import type { FailureCode } from './query-failed.ts'
import type { StatsLive } from './stats/live.ts'

/** Given to a worker once, when it starts. */
export interface WorkerSettings {
  readonly questdb: QuestdbAddress
  readonly timeZone: string
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** A body is shorter than this. */
  readonly bodyBytesMax: number
  /** Readings that an analysis may be made of. */
  readonly rowsMax: number
}

/** A worker says at `control` that it has begun, and is told there to stop. */
export type Task<Question> = Question & { readonly control: MessagePort }

export interface LatestQuestion {
  /** The fleet as `encodeFleet` wrote it. */
  readonly fleet: string
  /** Whether the fleet is a part of all active devices, so that QuestDB should read only theirs. */
  readonly narrowed: boolean
  readonly nowUs: number
  readonly startUs: number
  readonly endUs: number
}

export interface DayQuestion {
  readonly symbol: string
  readonly startUs: number
  readonly endUs: number
}

export interface CompareQuestion {
  readonly a: AnalysedDevice
  readonly b: AnalysedDevice
  readonly preset: ComparePreset
  readonly withTimes: boolean
  readonly nowMs: number
  /** No reading is later: some are a little ahead of our clock. */
  readonly newestUs: number
  /** Hours from this moment on come from the readings, earlier ones may come from their view. */
  readonly rawFromUs: number
}

export interface DetailQuestion {
  readonly device: AnalysedDevice
  /** At most so many for each metric; undefined: all. */
  readonly points: number | undefined
  readonly withTimes: boolean
  readonly nowMs: number
  /** As above. */
  readonly rawFromUs: number
}

export interface StatsQuestion {
  readonly device: AnalysedDevice
  readonly days: number
  /** The grid's; undefined: as the readings have it. */
  readonly stepSeconds: number | undefined
  readonly nowMs: number
  /** As above. */
  readonly newestUs: number
}

export interface DailyQuestion {
  readonly device: AnalysedDevice
  readonly days: number
  readonly nowMs: number
}

export interface PastQuestion {
  readonly device: AnalysedDevice
  readonly nowMs: number
}

/** What each question of the light pool is called and asks for. */
export interface LightQuestions {
  readonly latest: LatestQuestion
  readonly day: DayQuestion
  readonly compare: CompareQuestion
  readonly detail: DetailQuestion
  readonly daily: DailyQuestion
  readonly past: PastQuestion
}

/** The same for the analysis pool; days are asked of it when they are many. */
export interface AnalysisQuestions {
  readonly stats: StatsQuestion
  readonly daily: DailyQuestion
}

/** What a task comes to: a whole body, or one that is filled in when it is given out. */
export type Finished = FinishedBody | Frame<StatsLive>

export type TaskResult =
  | { readonly ok: true; readonly finished: Finished }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string }
