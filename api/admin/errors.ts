/** The errors of the admin API; the text is the title of a problem document (problem.ts). */

import { commonErrors, type ErrorTable, serverErrors } from '../http/errors.ts'

const retryAfterSeconds = 5

export const adminErrors = {
  ...serverErrors,
  FORBIDDEN: commonErrors.FORBIDDEN,
  CROSS_SITE: { status: 403, text: 'cross-site request' },
  QUERY_INVALID: { status: 400, text: 'invalid query' },
  BODY_INVALID: { status: 422, text: 'invalid body' },
  CODING_UNSUPPORTED: { status: 415, text: 'unsupported content encoding' },
  // The registry of devices.
  DEVICE_UNKNOWN: commonErrors.DEVICE_UNKNOWN,
  NAME_TAKEN: { status: 409, text: 'name taken' },
  NAME_TWICE: { status: 422, text: 'name twice' },
  REGISTRY_FULL: commonErrors.REGISTRY_FULL,
  TOO_MANY_DEVICES: { status: 413, text: 'too many devices' },
  TOO_MANY_CHANGES: { status: 503, text: 'too many changes', retryAfterSeconds },
  DATABASE_AWAY: commonErrors.DATABASE_AWAY,
  OUTCOME_UNKNOWN: commonErrors.OUTCOME_UNKNOWN,
  OWNER_UNKNOWN: { status: 422, text: 'owner unknown' },
  // Accounts and tenants.
  ACCOUNT_UNKNOWN: { status: 404, text: 'account unknown' },
  EMAIL_TAKEN: { status: 409, text: 'email taken' },
  OPERATOR_STAYS: { status: 409, text: 'operator stays' },
  OPERATOR_OTHER: { status: 409, text: 'other operator' },
  OPERATOR_ONLY: { status: 403, text: 'operator only' },
  OWN_ACCOUNT: { status: 403, text: 'own account' },
  LAST_ADMINISTRATOR: { status: 409, text: 'last administrator' },
  ROLE_IMPOSSIBLE: { status: 409, text: 'role impossible' },
  KEY_UNKNOWN: { status: 404, text: 'key unknown' },
  ACCOUNT_INACTIVE: { status: 409, text: 'account inactive' },
  SCOPE_NOT_ALLOWED: { status: 409, text: 'scope not allowed' },
  TAGS_NOT_ALLOWED: { status: 409, text: 'tags not allowed with these scopes' },
  OWNER_UNVERIFIED: { status: 409, text: 'owner unverified' },
  TOO_MANY_KEYS: { status: 409, text: 'too many keys' },
  INVITATION_UNKNOWN: { status: 404, text: 'invitation unknown' },
  TOO_MANY_INVITATIONS: { status: 409, text: 'too many invitations' },
  SIGN_UP_OFF: { status: 409, text: 'sign-up off' },
  TOO_MANY_REQUESTS: { status: 429, text: 'too many requests' },
  TENANT_UNKNOWN: { status: 404, text: 'tenant unknown' },
  SLUG_TAKEN: { status: 409, text: 'slug taken' },
  TOO_MANY_TENANTS: { status: 409, text: 'too many tenants' },
  TOO_BUSY: { status: 503, text: 'too busy', retryAfterSeconds },
  // Stations.
  STATION_UNKNOWN: commonErrors.STATION_UNKNOWN,
  SN_TAKEN: commonErrors.SN_TAKEN,
  // Metrics.
  METRIC_UNKNOWN: { status: 404, text: 'metric unknown' },
  METRIC_BUILT_IN: { status: 409, text: 'metric built in' },
  METRIC_IN_USE: { status: 409, text: 'metric in use' },
  METRICS_UNKNOWN: { status: 422, text: 'metrics unknown' },
  RANGE_EMPTY: { status: 422, text: 'range empty' },
  // Alerts.
  ALERT_UNKNOWN: { status: 404, text: 'alert unknown' },
  ALERT_RESOLVED: { status: 409, text: 'alert resolved' },
  RULE_UNKNOWN: { status: 404, text: 'rule unknown' },
  RULE_INVALID: { status: 422, text: 'rule invalid' },
  TOO_MANY_RULES: { status: 409, text: 'too many rules' },
  TOO_MANY_PAIRS: { status: 409, text: 'too many pairs' },
  CHANNEL_UNKNOWN: { status: 404, text: 'channel unknown' },
  CHANNELS_UNKNOWN: { status: 422, text: 'channels unknown' },
  CHANNEL_DISABLED: { status: 409, text: 'channel disabled' },
  CHANNEL_WITHOUT_SECRET: { status: 409, text: 'channel without secret' },
  TOO_MANY_CHANNELS: { status: 409, text: 'too many channels' },
  TARGET_REFUSED: { status: 422, text: 'target refused' },
  SILENCE_UNKNOWN: { status: 404, text: 'silence unknown' },
  TOO_MANY_SILENCES: { status: 409, text: 'too many silences' },
  DELIVERY_UNKNOWN: { status: 404, text: 'delivery unknown' },
  PREVIEW_TOO_LARGE: { status: 413, text: 'preview too large' },
  PREVIEW_BUSY: { status: 503, text: 'preview busy', retryAfterSeconds },
  // Annotations.
  ANNOTATION_UNKNOWN: { status: 404, text: 'annotation unknown' },
  TOO_MANY_ANNOTATIONS: { status: 409, text: 'too many annotations' },
  // Nodes.
  NODE_OTHER: { status: 409, text: 'other node' },
  // Backups.
  BACKUP_RUNNING: { status: 409, text: 'backup running' },
  // Retention.
  NO_WAITING_DAYS: { status: 409, text: 'no waiting days' },
  // The archive.
  FILE_NOT_ARCHIVED: { status: 404, text: 'file not archived' },
  ARCHIVE_FAILED: { status: 503, text: 'archive failed', retryAfterSeconds },
  // Imports.
  CONTENT_UNKNOWN: { status: 400, text: 'unknown content' },
  HEADER_INVALID: { status: 400, text: 'invalid header' },
  NO_READINGS: { status: 400, text: 'no readings' },
  NO_POINTS: { status: 400, text: 'no points' },
  BODY_BROKEN: commonErrors.BODY_BROKEN,
  BUSY: { status: 503, text: 'too many imports', retryAfterSeconds },
  STORAGE_FULL: commonErrors.STORAGE_FULL,
  CLOSING: commonErrors.CLOSING,
  STORAGE_FAILED: commonErrors.STORAGE_FAILED,
  // Exports.
  HTTP_VERSION: commonErrors.HTTP_VERSION,
} as const satisfies ErrorTable
export type AdminErrorCode = keyof typeof adminErrors
