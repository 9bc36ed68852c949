/** What crosses between the main thread and a worker: plain data that can be posted. */

import type { MessagePort } from 'node:worker_threads'
import type { FinishedBody } from './finish.ts'

/** Where QuestDB speaks the PostgreSQL protocol. */
export interface PgAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/** Where QuestDB speaks HTTP. */
export interface HttpAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** The value of the Authorization header. */
  readonly authorization: string | undefined
}

/** Given to a worker once, when it starts. */
export interface WorkerSettings {
  readonly questdb: PgAddress
  readonly questdbHttp: HttpAddress
  readonly timeZone: string
  readonly connectTimeoutMs: number
  readonly statementTimeoutMs: number
  /** A body is shorter than this. */
  readonly bodyBytesMax: number
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

/** What each question of the light pool is called and asks for. */
export interface LightQuestions {
  readonly latest: LatestQuestion
  readonly day: DayQuestion
}

export type FailureCode = 'DATABASE_AWAY' | 'TIMED_OUT' | 'TOO_LARGE' | 'CANCELLED'

export type TaskResult =
  | { readonly ok: true; readonly finished: FinishedBody }
  | { readonly ok: false; readonly code: FailureCode; readonly reason: string }

/** The world's failures, thrown inside a worker; its door turns them into an answer. */
export class QuestionFailed extends Error {
  readonly code: FailureCode

  constructor(code: FailureCode, message: string) {
    super(message)
    this.code = code
  }
}
