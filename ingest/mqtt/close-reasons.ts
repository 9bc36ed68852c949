/** Reasons for the end of a connection: the label of the metric, and the reason code for clients of MQTT 5. */

import type { ReasonCode } from './reason-codes.ts'

export const closeReasons = {
  client: 'success',
  malformed: 'malformedPacket',
  protocol_error: 'protocolError',
  too_large: 'packetTooLarge',
  quota: 'quotaExceeded',
  receive_maximum: 'receiveMaximumExceeded',
  topic_alias: 'topicAliasInvalid',
  retain: 'retainNotSupported',
  shared_subscription: 'sharedSubscriptionsNotSupported',
  wildcard_subscription: 'wildcardSubscriptionsNotSupported',
  subscription_identifier: 'subscriptionIdentifiersNotSupported',
  timeout: 'keepAliveTimeout',
  protocol_version: 'unsupportedProtocolVersion',
  client_identifier: 'clientIdentifierNotValid',
  authentication_method: 'badAuthenticationMethod',
  unauthorized: 'badUserNameOrPassword',
  forbidden: 'notAuthorized',
  throttled: 'connectionRateExceeded',
  revoked: 'notAuthorized',
  topic: 'topicNameInvalid',
  taken_over: 'sessionTakenOver',
  not_stored: 'serverBusy',
  unavailable: 'serverUnavailable',
  failed: 'unspecifiedError',
  stopping: 'serverShuttingDown',
} as const satisfies Record<string, ReasonCode>
export type CloseReason = keyof typeof closeReasons

/** Ends that the client cannot prevent: they are caused by this service or by the network. */
const ordinary: ReadonlySet<CloseReason> = new Set([
  'client',
  'timeout',
  'not_stored',
  'unavailable',
  'failed',
  'stopping',
])

export function isClientFault(reason: CloseReason): boolean {
  return !ordinary.has(reason)
}
