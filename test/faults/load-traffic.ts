/** A kind of traffic for the load generator: its senders and the contents of each request. */

import type { Beginning } from './ledger.ts'
import type { LoadOrder, Login } from './loads.ts'
import type { Answer, MqttPipe, Pipe } from './pipe.ts'
import type { Random } from './seeded-random.ts'

export interface Sender extends Login {
  revokedPassword: string | undefined
  revokedTurns: number
  pipe: Pipe
  /** The MQTT connection of the same device, if it publishes. */
  mqtt: MqttPipe | undefined
  random: Random
}

export interface Outgoing {
  request: string
  /** A request with an idempotency key is repeated until it is answered. */
  isRepeated?: boolean
  attempts: Beginning[]
  /** The status of each row, or undefined if the response does not determine it. */
  statusesOf(answer: Answer): (number | undefined)[]
}

export interface Traffic {
  /** The next request of a sender. A request that cannot be rejected may be pipelined. */
  next(sender: Sender, mayBeRefused: boolean): Outgoing
  /** A bulk import by the administrator, if the traffic has imports. */
  nextImport?(sender: Sender, adminToken: string): Outgoing
}

/** `takeSequences` returns the first of `count` consecutive numbers. */
export type CreateTraffic = (order: LoadOrder, takeSequences: (count: number) => number) => Traffic

/** Statuses of the rows of a partly stored request. Counts that do not add up leave every row undetermined. */
export function statusesOfPart(
  rows: readonly unknown[],
  { stored, rejected }: { stored: number; rejected: number },
  rejectedAt: readonly number[],
): (number | undefined)[] {
  const isWhole = stored + rejected === rows.length && rejectedAt.length === rejected
  return rows.map((_, at) => (isWhole ? (rejectedAt.includes(at) ? 400 : 200) : undefined))
}
