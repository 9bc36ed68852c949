/** The errors of requests to Kafka. */

/** No suitable broker has answered. The request is retried later. */
export class KafkaAway extends Error {
  override name = 'KafkaAway'
}

/** The topic is missing, or was deleted and created again. */
export class TopicMissing extends Error {
  override name = 'TopicMissing'
}

/** The cluster or the topic differs from the journal in PostgreSQL: it must be neither written nor read. */
export class OtherKafka extends Error {
  override name = 'OtherKafka'
}

/** The records at the offset were deleted, or it lies after the end. */
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

/** The deadline passed before the request was sent. */
export class TooLate extends Error {
  override name = 'TooLate'
}

/** The connection broke, or no answer arrived in time: the request may have been executed, or may be even later. */
export class Unanswered extends Error {
  override name = 'Unanswered'
}

/** The broker has answered with an error. */
export class Refused extends Error {
  override name = 'Refused'
  /** Its name in Kafka's protocol documentation, such as `NOT_ENOUGH_REPLICAS`. */
  readonly code: string

  constructor(code: string, explanation: string | null | undefined) {
    super(explanation ? `${code}: ${explanation}` : code)
    this.code = code
  }
}

/** True for failures of Kafka, false for our own bugs. */
export function isKafkaError(error: unknown): error is Error {
  return [KafkaAway, TopicMissing, OtherKafka, OffsetOutOfRange, NotSent, Unanswered, Refused].some(
    kind => error instanceof kind,
  )
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
