/**
 * Reason codes of MQTT 5, and the reasons for the end of a connection: the label of the metric, and the reason code
 * for clients.
 */

/** The reason codes in use, by their names in MQTT 5, 2.4. */
export const reasonCodes = {
  success: 0x00,
  noSubscriptionExisted: 0x11,
  unspecifiedError: 0x80,
  malformedPacket: 0x81,
  protocolError: 0x82,
  unsupportedProtocolVersion: 0x84,
  clientIdentifierNotValid: 0x85,
  badUserNameOrPassword: 0x86,
  notAuthorized: 0x87,
  serverUnavailable: 0x88,
  serverBusy: 0x89,
  serverShuttingDown: 0x8b,
  badAuthenticationMethod: 0x8c,
  keepAliveTimeout: 0x8d,
  sessionTakenOver: 0x8e,
  topicFilterInvalid: 0x8f,
  topicNameInvalid: 0x90,
  packetIdentifierInUse: 0x91,
  packetIdentifierNotFound: 0x92,
  receiveMaximumExceeded: 0x93,
  topicAliasInvalid: 0x94,
  packetTooLarge: 0x95,
  quotaExceeded: 0x97,
  payloadFormatInvalid: 0x99,
  retainNotSupported: 0x9a,
  sharedSubscriptionsNotSupported: 0x9e,
  connectionRateExceeded: 0x9f,
  subscriptionIdentifiersNotSupported: 0xa1,
  wildcardSubscriptionsNotSupported: 0xa2,
} as const
export type ReasonCode = keyof typeof reasonCodes

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
