/** An operation of this family, and what the contract says of it by its permission and its kind. */

import type { Client } from '../../../auth/accounts/account-parts.ts'
import type { Permission, Principal } from '../../../auth/policy.ts'
import type { Operation } from '../../http/operation.ts'
import type { ErrorCode } from './errors.ts'
import { credentialsOf, functionName, validationErrors } from './published.ts'
import type { Aliases } from './validation.ts'

/** Below this, all of them lie. */
export const accountsPrefix = '/v1/auth'

export interface AccountOperation<Body = unknown, Path = unknown, Query = unknown>
  extends Operation<ErrorCode, Path, Query, Body> {
  /** Whom it serves; without one, everybody, whatever they send along. */
  permission?: Permission
  aliases?: Aliases
  /** It answers JSON of its schema, nothing (204), a redirect (302), or a page for a browser. */
  handle(asked: Asked<Body, Path, Query>): Promise<Answer>
}

export interface Asked<Body = unknown, Path = unknown, Query = unknown> {
  body: Body
  path: Path
  query: Query
  /** Who asks; undefined for an operation that serves everybody. */
  principal: Principal | undefined
  client: Client
  /** Finds out who asks where that does not decide about the operation. */
  identify(): Promise<Principal | undefined>
  /** A cookie of this name; undefined where it is missing or comes twice. */
  cookie(name: string): string | undefined
  /** Whether a page of another site has sent it. */
  isCrossSite: boolean
}

export type Answer =
  | { ok: true; value?: unknown; cookies?: readonly string[] }
  | { ok: true; location: string; cookies?: readonly string[] }
  | { ok: true; page: Page; cookies?: readonly string[] }
  | { ok: false; code: ErrorCode; retryAfterSeconds?: number }
  | { ok: false; code: 'FIELD_MISSING'; field: string }

/** What a browser shows; it may also say there that something went wrong. */
export interface Page {
  status: 200 | 400
  html: string
  /** Beside those of every answer. */
  headers: Record<string, string>
}

/** Keeps the types of one operation together; those that carry it out need not know them. */
export function operation<Body = undefined, Path = undefined, Query = undefined>(
  declared: AccountOperation<Body, Path, Query>,
): AccountOperation {
  const { permission, credentials = [], body, parameters, others } = declared
  const isChecked = body !== undefined || parameters !== undefined
  return {
    ...declared,
    name: functionName(accountsPrefix, declared as Operation),
    credentials: permission === undefined ? credentials : credentialsOf(permission),
    others: isChecked ? { ...others, 422: validationErrors } : { ...others },
  } as AccountOperation
}
