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
  success: Success
  /** For the published contract, beside 422. */
  refusals: readonly ErrorCode[]
  handle(asked: Asked<Body, Path, Query>): Promise<Answer>
}

/** JSON of this schema, nothing (204), a redirect (302), or a page for a browser. */
export type Success =
  | { status: 200 | 201 | 204 | 302; description: string; schema?: z.ZodType }
  | { status: 200; description: string; isPage: true }

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
  declared: Operation<Body, Path, Query>,
): Operation {
  return declared as Operation
}
