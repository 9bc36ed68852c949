/** What a request to Kafka fails with. */

/** No broker that could answer has answered: it is tried again later. */
export class KafkaAway extends Error {
  override name = 'KafkaAway'
}

/** There is no such topic, or it was deleted and made again since. */
export class TopicMissing extends Error {
  override name = 'TopicMissing'
}

/** The cluster or the topic is not the one that PostgreSQL knows as the journal: nothing may be appended to it or read from it. */
export class OtherKafka extends Error {
  override name = 'OtherKafka'
}

/** The records at the offset are gone, or it is behind the end. */
export class OffsetOutOfRange extends Error {
  override name = 'OffsetOutOfRange'
  readonly start: number
  readonly end: number

  constructor(topic: string, offset: number, { start, end }: { start: number; end: number }) {
    super(`${topic} has the offsets from ${start} to before ${end}, and ${offset} was asked for`)
    this.start = start
    this.end = end
  }
}

/** There was no connection, so the request cannot have been executed. */
export class NotSent extends Error {
  override name = 'NotSent'
}

/** The request was not to be sent any more, and was not. */
export class TooLate extends Error {
  override name = 'TooLate'
}

/** The connection was cut, or there was no answer in time: the request may have been executed, and may be even later. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

/** The broker has answered with an error. */
export class Refused extends Error {
  override name = 'Refused'
  /** As Kafka's documentation of the protocol names it, such as `NOT_ENOUGH_REPLICAS`. */
  readonly code: string

  constructor(code: string, explanation: string | null | undefined) {
    super(explanation ? `${code}: ${explanation}` : code)
    this.code = code
  }
}

/** Whether it is Kafka that failed, and not a part of ours. */
export function isKafkaError(error: unknown): error is Error {
  return [KafkaAway, TopicMissing, OtherKafka, OffsetOutOfRange, NotSent, Unanswered, Refused].some(
    kind => error instanceof kind,
  )
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
