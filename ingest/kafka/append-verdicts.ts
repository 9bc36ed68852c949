/** What a failed attempt to append says: whether the group may be in the topic all the same, and whether to try again. */

import { NotSent, OtherKafka, Refused, TooLate } from './kafka-errors.ts'

export interface Verdict {
  /** Also of what the broker may do later. */
  mayBeStored: boolean
  tryAgain: boolean
}

/** Nothing was appended, and the same request has the same answer. */
const refused: Verdict = { mayBeStored: false, tryAgain: false }
/** Nothing was appended, and the cause may pass. */
const notNow: Verdict = { mayBeStored: false, tryAgain: true }
/** Sent again with the same sequence number, the group is stored once. */
const inDoubt: Verdict = { mayBeStored: true, tryAgain: true }

/** By the name of the error in the answer to a request `Produce`. What is not named here is in doubt. */
const verdicts: Record<string, Verdict> = {
  // Refused before the append.
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
  // The number does not follow the last one that the broker knows: it has lost what was acknowledged. The next group has the
  // next epoch, which begins at 0 wherever the broker is. (A broker that has forgotten an idle producer takes any number.)
  OUT_OF_ORDER_SEQUENCE_NUMBER: refused,
  // The same, by brokers before 2.5.
  UNKNOWN_PRODUCER_ID: refused,
  // The broker knows a later epoch than ours: of this attempt and of earlier ones nothing is appended any more.
  INVALID_PRODUCER_EPOCH: refused,
  // It was damaged on the way, and the checksum is tested before the append.
  CORRUPT_MESSAGE: notNow,
  // Replicas are counted before the append.
  NOT_ENOUGH_REPLICAS: notNow,
  // Counted again after it: the leader has it.
  NOT_ENOUGH_REPLICAS_AFTER_APPEND: inDoubt,
  // The leader has it, the replicas had it not in time.
  REQUEST_TIMED_OUT: inDoubt,
  // These come before an append, and also for a group that was appended when the broker lost the partition while it waited for
  // the replicas.
  NOT_LEADER_OR_FOLLOWER: inDoubt,
  UNKNOWN_TOPIC_OR_PARTITION: inDoubt,
  KAFKA_STORAGE_ERROR: inDoubt,
  UNKNOWN_SERVER_ERROR: inDoubt,
  // It is stored, and the broker no longer knows where: it keeps the offsets of the last five, so with one in flight this does
  // not happen. Without its offset it cannot be reported as stored.
  DUPLICATE_SEQUENCE_NUMBER: { mayBeStored: true, tryAgain: false },
}

/** Of an error in or before the request that appends. */
export function verdictOf(error: unknown): Verdict {
  if (error instanceof NotSent) return notNow
  if (error instanceof TooLate || error instanceof OtherKafka) return refused
  if (error instanceof Refused) return verdicts[error.code] ?? inDoubt
  return inDoubt
}

/** Of an error of what has to be known before: the leader, the number of the producer. */
export function verdictBefore(error: unknown): Verdict {
  return { ...verdictOf(error), mayBeStored: false }
}
