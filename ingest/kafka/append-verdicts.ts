/** Interprets a failed attempt to append: whether the group may be in the topic nevertheless, and whether to retry. */

import { NotSent, OtherKafka, Refused, TooLate } from './kafka-errors.ts'

export interface Verdict {
  /** Also true when the broker may store it later. */
  mayBeStored: boolean
  tryAgain: boolean
}

/** Nothing was appended, and a retry would get the same answer. */
const refused: Verdict = { mayBeStored: false, tryAgain: false }
/** Nothing was appended, and the cause may be temporary. */
const notNow: Verdict = { mayBeStored: false, tryAgain: true }
/** A retry with the same sequence number stores the group once. */
const inDoubt: Verdict = { mayBeStored: true, tryAgain: true }

/** By the error's name in the answer to a `Produce` request. Errors not listed here are in doubt. */
const verdicts: Record<string, Verdict> = {
  // Rejected before the append.
  MESSAGE_TOO_LARGE: refused,
  RECORD_LIST_TOO_LARGE: refused,
  INVALID_TOPIC_EXCEPTION: refused,
  INVALID_REQUIRED_ACKS: refused,
  INVALID_TIMESTAMP: refused,
  INVALID_RECORD: refused,
  INVALID_REQUEST: refused,
  UNSUPPORTED_VERSION: refused,
  UNSUPPORTED_FOR_MESSAGE_FORMAT: refused,
  UNSUPPORTED_COMPRESSION_TYPE: refused,
  POLICY_VIOLATION: refused,
  TOPIC_AUTHORIZATION_FAILED: refused,
  CLUSTER_AUTHORIZATION_FAILED: refused,
  // The number does not follow the last one that the broker knows: it has lost acknowledged records. The next group gets the next
  // epoch, which begins at 0 for any broker. (A broker that has forgotten an idle producer accepts any number.)
  OUT_OF_ORDER_SEQUENCE_NUMBER: refused,
  // The same error from brokers before 2.5.
  UNKNOWN_PRODUCER_ID: refused,
  // The broker knows a later epoch: neither this attempt nor earlier ones can be appended any more.
  INVALID_PRODUCER_EPOCH: refused,
  // The request was damaged in transit. The checksum is verified before the append.
  CORRUPT_MESSAGE: notNow,
  // Replicas are counted before the append.
  NOT_ENOUGH_REPLICAS: notNow,
  // Counted again afterwards: the leader has it.
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: inDoubt,
  // The leader has it, but the replicas did not have it in time.
  REQUEST_TIMED_OUT: inDoubt,
  // These occur before an append, and also after one when the broker lost the partition while it waited for the replicas.
  NOT_LEADER_OR_FOLLOWER: inDoubt,
  UNKNOWN_TOPIC_OR_PARTITION: inDoubt,
  KAFKA_STORAGE_ERROR: inDoubt,
  UNKNOWN_SERVER_ERROR: inDoubt,
  // The group is stored, but the broker has forgotten its offset. Brokers keep the last five, so this does not happen with one
  // request in flight. Without the offset it cannot be reported as stored.
  DUPLICATE_SEQUENCE_NUMBER: { mayBeStored: true, tryAgain: false },
}

/** For an error in or before the appending request. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof NotSent) return notNow
  if (error instanceof TooLate || error instanceof OtherKafka) return refused
  if (error instanceof Refused) return verdicts[error.code] ?? inDoubt
  return inDoubt
}

/** For an error in finding the leader or getting a producer number. */
export function verdictBefore(error: unknown): Verdict {
  return { ...verdictOf(error), mayBeStored: false }
}
