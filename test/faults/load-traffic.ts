/** A kind of traffic, as the load generator sees it: who sends, and what each of its requests is about. */

import type { Beginning } from './ledger.ts'
import type { LoadOrder, Login } from './loads.ts'
import type { Answer, MqttPipe, Pipe } from './pipe.ts'
import type { Random } from './seeded-random.ts'

export interface Sender extends Login {
  revokedPassword: string | undefined
  revokedTurns: number
  pipe: Pipe
  /** The same, where the device publishes over MQTT. */
  mqtt: MqttPipe | undefined
  random: Random
}

export interface Outgoing {
  request: string
  /** Sent again until it is answered: it has an idempotency key. */
  isRepeated?: boolean
  attempts: Beginning[]
  /** What the answer says of each; undefined for what it does not tell. */
  statusesOf(answer: Answer): (number | undefined)[]
}

export interface Traffic {
  /** The next request of a sender. One that must not be refused can have others behind it on the connection. */
  next(sender: Sender, mayBeRefused: boolean): Outgoing
  /** A bulk import by the administrator, where there are any. */
  nextImport?(sender: Sender, adminToken: string): Outgoing
}

/** `takeSequences` gives the first number of so many in a row. */
export type CreateTraffic = (order: LoadOrder, takeSequences: (count: number) => number) => Traffic

/** Statuses of the rows of a request of which a part was stored: counts that do not add up tell nothing of a row. */
export function statusesOfPart(
  rows: readonly unknown[],
  { stored, rejected }: { stored: number; rejected: number },
  rejectedAt: readonly number[],
): (number | undefined)[] {
  const isWhole = stored + rejected === rows.length && rejectedAt.length === rejected
  return rows.map((_, at) => (isWhole ? (rejectedAt.includes(at) ? 400 : 200) : undefined))
}
