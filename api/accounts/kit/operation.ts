/** One operation of this family, declared once: its route, its check and its page in the contract are made of it. */

import type { z } from 'zod'
import type { Client } from '../../../auth/accounts/account-parts.ts'
import type { Permission, Principal } from '../../../auth/policy.ts'
import type { ErrorCode } from './errors.ts'
import type { Aliases } from './validation.ts'

export type Method = 'GET' | 'POST' | 'PATCH' | 'DELETE'

export interface Operation<Body = unknown, Path = unknown, Query = unknown> {
  method: Method
  /** Below the prefix: `/users/:user_id`. */
  url: string
  /** The function's name in the published contract: `get_user_by_id`. */
  name: string
  summary: string
  /** Whom it serves; without one, everybody, whatever they send along. */
  permission?: Permission
  body?: z.ZodType<Body>
  aliases?: Aliases
  path?: z.ZodType<Path>
  query?: z.ZodType<Query>
  success: { status: 200 | 201 | 204; description: string; schema?: z.ZodType }
  /** For the published contract, beside 422. */
  refusals: readonly ErrorCode[]
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
  /** Whether a page of another site has sent it. */
  isCrossSite: boolean
}

export type Answer =
  | { ok: true; value?: unknown; cookies?: readonly string[] }
  | { ok: false; code: ErrorCode; retryAfterSeconds?: number }
  | { ok: false; code: 'FIELD_MISSING'; field: string }

/** Keeps the types of one operation together; those that carry it out need not know them. */
export function operation<Body = undefined, Path = undefined, Query = undefined>(
  declared: Operation<Body, Path, Query>,
): Operation {
  return declared as Operation
}
