/** Declares outcomes: a value, or the reason of a refusal. */

export type AccountErrorCode =
  | 'ACCOUNT_INACTIVE'
  | 'ACCOUNT_UNKNOWN'
  | 'CREDENTIALS_WRONG'
  | 'EMAIL_TAKEN'
  | 'EMAIL_UNVERIFIED'
  | 'GRANT_DECIDED'
  | 'GRANT_EXPIRED'
  | 'GRANT_FOREIGN'
  | 'GRANT_UNKNOWN'
  | 'IDENTITY_NOT_LINKED'
  | 'KEY_UNKNOWN'
  | 'LAST_ADMINISTRATOR'
  | 'OPERATOR_STAYS'
  | 'LINK_UNKNOWN'
  | 'PASSWORD_WRONG'
  | 'PROVIDER_UNKNOWN'
  | 'REGISTRATION_CLOSED'
  | 'REGISTRATION_INVITED'
  | 'SCOPE_NOT_ALLOWED'
  | 'SESSION_TOO_OLD'
  | 'TAGS_NOT_ALLOWED'
  | 'TENANT_INACTIVE'
  | 'TENANT_TOKEN_INVALID'
  | 'TENANT_UNKNOWN'
  | 'TOKEN_INVALID'
  | 'TOKEN_REPLAYED'
  | 'TOO_MANY_KEYS'
  | 'TOO_MANY_LINKS'
  | 'TOO_MANY_REQUESTS'
  | 'TOO_MANY_VIEWS'
  | 'VIEW_NAME_TAKEN'
  | 'VIEW_NOT_SHAREABLE'
  | 'VIEW_UNKNOWN'

export interface AccountRefusal {
  ok: false
  code: AccountErrorCode
  retryAfterSeconds?: number
}

export type Outcome<Value> = { ok: true; value: Value } | AccountRefusal

export function accepted<Value>(value: Value): { ok: true; value: Value } {
  return { ok: true, value }
}

export function refused(code: AccountErrorCode): AccountRefusal {
  return { ok: false, code }
}
