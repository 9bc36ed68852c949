/** Declares the operations of this family. Permission and kind of an operation decide its published contract. */

import type { Client } from '../../../auth/accounts/account-parts.ts'
import type { Permission, Principal } from '../../../auth/policy.ts'
import type { Operation } from '../../http/operation.ts'
import type { ErrorCode } from './errors.ts'
import { credentialsOf, functionName, validationErrors } from './published.ts'
import type { Aliases } from './validation.ts'

/** Prefix of all paths of this family. */
export const accountsPrefix = '/v1/auth'

export interface AccountOperation<Body = unknown, Path = unknown, Query = unknown>
  extends Operation<ErrorCode, Path, Query, Body> {
  /** Without a permission, everybody is served, with any credential. */
  permission?: Permission
  aliases?: Aliases
  /** The result is JSON of the operation's schema, 204, a redirect (302) or a page for a browser. */
  handle(asked: OperationInput<Body, Path, Query>): Promise<Answer>
}

export interface OperationInput<Body = unknown, Path = unknown, Query = unknown> {
  body: Body
  path: Path
  query: Query
  /** Undefined for an operation that serves everybody. */
  principal: Principal | undefined
  client: Client
  /** Finds the principal for operations that do not require one. */
  identify(): Promise<Principal | undefined>
  /** Undefined if the cookie is missing or is sent twice. */
  cookie(name: string): string | undefined
  /** True if a page of another site sent the request. */
  isCrossSite: boolean
}

export type Answer =
  | { ok: true; value?: unknown; cookies?: readonly string[] }
  | { ok: true; location: string; cookies?: readonly string[] }
  | { ok: true; page: Page; cookies?: readonly string[] }
  | { ok: false; code: ErrorCode; retryAfterSeconds?: number }
  | { ok: false; code: 'FIELD_MISSING'; field: string }

/** A page for a browser. It may also report an error. */
export interface Page {
  status: 200 | 400
  html: string
  /** Sent in addition to the common headers. */
  headers: Record<string, string>
}

/** Keeps the types of one operation together. The code that runs operations does not know them. */
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
