/** A kind of traffic, as the load generator sees it: who sends, and what each of its requests is about. */

import type { Beginning } from './ledger.ts'
import type { LoadOrder } from './load-order.ts'
import type { MqttPipe } from './mqtt-pipe.ts'
import type { Answer, Pipe } from './pipe.ts'
import type { Random } from './seeded-random.ts'

export interface Sender {
  name: string
  password: string
  /** One that was good before. */
  revokedPassword: string | undefined
  /** So many of the next attempts are made with it. */
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
